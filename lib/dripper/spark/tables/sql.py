"""Texts on their way into SQL and out of exceptions."""

import re

_RAISED = re.compile(r"^(?:\w+\.)*(\w*(?:Error|Exception|Interrupt)\b.*)$", re.MULTILINE)
"""The last line of a Python trace; modules are left out. A JVM trace behind it has its lines
indented."""


def quoted(text: str) -> str:
    """Return `text` as a SQL string literal: backslashes and quotes escaped."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message (Spark's go on for pages), or its type where
    it has none.

    Of an exception of the JVM that py4j wraps, its own: py4j's first line is "An error occurred
    while calling o44.sql".

    >>> first_line(ValueError("one\\ntwo")), first_line(KeyError())
    ('one', 'KeyError')
    """
    error = getattr(error, "java_exception", error)
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def reason(error: BaseException) -> str:
    """Return why something failed, in one line: of an exception in a Python worker that exception,
    without its trace.

    >>> reason(ValueError("one\\ntwo"))
    'ValueError: one'
    """
    raised = _RAISED.findall(str(error)) if "Traceback (most recent call last)" in str(error) else []
    return raised[-1] if raised else f"{type(error).__name__}: {first_line(error)}"
