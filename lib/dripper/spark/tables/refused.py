"""Detects properties of a Delta table that block a run's writes."""

from collections.abc import Mapping

from pyspark.sql.types import StructType

_CONSTRAINT = "delta.constraints."
"""Prefix of the properties that define CHECK constraints."""


def undo_refused(name: str, properties: Mapping[str, str]) -> str | None:
    """Return a message about a property that blocks a run's writes, with the SQL to undo it.

    Return None if no property does.

    Args:
        name: The table's name in SQL.
        properties: The table's properties, in the form of `ALTER TABLE … SET TBLPROPERTIES`.

    >>> undo_refused("t", {"delta.constraints.c": "a > 0"})
    'has the constraint c, which rows of a run may violate: ALTER TABLE t DROP CONSTRAINT `c`'
    """
    if properties.get("delta.appendOnly", "").lower() == "true":
        undo = "SET TBLPROPERTIES ('delta.appendOnly' = 'false')"
        return f"is append-only, but runs replace rows: ALTER TABLE {name} {undo}"
    for key in sorted(properties):
        if key.startswith(_CONSTRAINT):
            constraint = key.removeprefix(_CONSTRAINT)
            return (
                f"has the constraint {constraint}, which rows of a run may violate: "
                f"ALTER TABLE {name} DROP CONSTRAINT `{constraint}`"
            )
    return None


def undo_required(name: str, declared: StructType, stored: StructType) -> str | None:
    """Return a message about a NOT NULL column to which a run could write null. The message
    contains the SQL statement that allows null.

    Return None if there is no such column.

    Args:
        declared: The columns that this release declares.
        stored: The table's columns.
    """
    allowed = {field.name.lower() for field in declared if not field.nullable}
    if not allowed <= {field.name.lower() for field in stored}:
        # A column was renamed. This is reported when columns are added.
        return None
    for field in stored:
        if not field.nullable and field.name.lower() not in allowed:
            return (
                f"requires values in the column {field.name}, but rows of a run may have none: "
                f"ALTER TABLE {name} ALTER COLUMN `{field.name}` DROP NOT NULL"
            )
    return None
