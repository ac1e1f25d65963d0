"""Formats SQL conditions and columns, and extracts messages from exceptions."""

import re
from collections.abc import Collection

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_READ_ONLY = re.compile(r"Read-only file system")
_CAUSE = re.compile(r"^\s*Caused by: (?:[\w$]+\.)*([\w$]+(?:: \S.*)?)", re.MULTILINE)
"""Matches the "Caused by" lines of a JVM trace, and captures the cause without package names."""
_RAISED = re.compile(r"^(?:\w+\.)*(\w*(?:Error|Exception|Interrupt)\b.*)$", re.MULTILINE)
"""Matches the last line of a Python traceback, and captures it without module names. Lines of a JVM
trace that follow are indented and do not match."""


def quoted(text: str) -> str:
    """Return `text` as a SQL string literal. Backslashes and quotes are escaped."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def within(numbers: Collection[int]) -> str:
    """Return the SQL condition for the rows of these batches.

    >>> within([]), within([2, 1])
    ('FALSE', 'batch IN (1, 2)')
    """
    return f"batch IN ({', '.join(map(str, sorted(numbers)))})" if numbers else "FALSE"


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message, or its type if it has no message.

    Spark's messages can be pages long. If py4j wraps a JVM exception, the JVM's message is used,
    because py4j's own begins with "An error occurred while calling o44.sql".

    >>> first_line(ValueError("one\\ntwo")), first_line(KeyError())
    ('one', 'KeyError')
    """
    if is_full(error):
        return "no space is left on the disk (No space left on device)"
    if _READ_ONLY.search(_trace(error)):
        return "the disk has become read-only (Read-only file system)"
    error = getattr(error, "java_exception", error)
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def is_full(error: BaseException) -> bool:
    """Return whether a full disk or an exhausted quota caused the error.

    Spark mentions this only at the end of a trace.

    >>> is_full(OSError(28, "No space left on device")), is_full(ValueError("no space left"))
    (True, False)
    """
    return bool(_FULL.search(_trace(error)))


def _trace(error: BaseException) -> str:
    """Return the message of an exception, with the stack trace and causes if it comes from the
    JVM."""
    return f"{error}\n{getattr(error, '_stackTrace', '')}"


def reason(error: BaseException) -> str:
    """Return the reason for a failure in one line.

    For an exception in a Python worker, this is that exception without its traceback. For an
    exception in the JVM, the innermost cause is added.

    >>> reason(ValueError("one\\ntwo"))
    'ValueError: one'
    >>> reason(RuntimeError("Aborted.\\nCaused by: java.io.IOException: no route\\n\\tat a.B.c"))
    'RuntimeError: Aborted: IOException: no route'
    """
    trace, words = _trace(error), first_line(error)
    if _FULL.search(trace) or _READ_ONLY.search(trace):
        return words
    raised: list[str] = _RAISED.findall(str(error)) if "Traceback (most recent call last)" in str(error) else []
    if raised:
        return raised[-1]
    causes = [cause for cause in _CAUSE.findall(trace) if cause.partition(": ")[2] not in words]
    return f"{type(error).__name__}: {words.rstrip('.') + f': {causes[-1]}' if causes else words}"


def missing_fields(declared: DataType, stored: DataType, path: str = "") -> dict[str, StructField]:
    """Return the fields of `declared` that `stored` lacks at any depth, keyed by their SQL paths.

    >>> old, new = StructType().add("b", "long"), StructType().add("b", "long").add("c", "long")
    >>> list(missing_fields(StructType().add("a", new), StructType().add("a", old)))
    ['a.c']
    """
    if isinstance(declared, ArrayType) and isinstance(stored, ArrayType):
        return missing_fields(declared.elementType, stored.elementType, f"{path}.element")
    if isinstance(declared, MapType) and isinstance(stored, MapType):
        return missing_fields(declared.keyType, stored.keyType, f"{path}.key") | missing_fields(
            declared.valueType, stored.valueType, f"{path}.value"
        )
    if not (isinstance(declared, StructType) and isinstance(stored, StructType)):
        return {}
    fields = {field.name.lower(): field for field in stored}
    missing: dict[str, StructField] = {}
    for field in declared:
        inner = f"{path}.{field.name}" if path else field.name
        existing = fields.get(field.name.lower())
        missing |= {inner: field} if existing is None else missing_fields(field.dataType, existing.dataType, inner)
    return missing


def column_ddl(field: StructField, path: str = "") -> str:
    """Return the SQL declaration of a column, or of the field at `path` inside a column."""
    required = "" if field.nullable else " NOT NULL"
    comment = field.metadata.get("comment")
    name = ".".join(f"`{part}`" for part in (path or field.name).split("."))
    return f"{name} {field.dataType.simpleString()}{required}" + (f" COMMENT {quoted(comment)}" if comment else "")
