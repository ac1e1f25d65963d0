"""Texts on their way into SQL and out of exceptions."""


def quoted(text: str) -> str:
    """Return `text` as a SQL string literal: backslashes and quotes escaped."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message (Spark's go on for pages), or its type where it has none.

    Of an exception of the JVM that py4j wraps, its own: py4j's first line is "An error occurred while calling o44.sql".

    >>> first_line(ValueError("one\\ntwo")), first_line(KeyError())
    ('one', 'KeyError')
    """
    error = getattr(error, "java_exception", error)
    return (str(error).strip() or type(error).__name__).splitlines()[0]
