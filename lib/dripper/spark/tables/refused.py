"""Properties of a Delta table that do not allow the writes of a run."""

from collections.abc import Mapping

from pyspark.sql.types import StructType

_CONSTRAINT = "delta.constraints."
"""The prefix of the property of each CHECK constraint."""


def undo_refused(name: str, properties: Mapping[str, str]) -> str | None:
    """Return the property of a table that does not allow the writes of a run, with the SQL that
    undoes it; None if all allow them.

    Args:
        name: How SQL addresses the table.
        properties: The table's properties, as `ALTER TABLE … SET TBLPROPERTIES` takes them.

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
    """Return the column of a table that must not be null although rows of a run may have no value
    there, with the SQL that undoes it; None if there is no such column.

    Args:
        declared: Columns as this release makes them.
        stored: Columns of the table.
    """
    allowed = {field.name.lower() for field in declared if not field.nullable}
    if not allowed <= {field.name.lower() for field in stored}:
        # One of them was renamed; this is reported when columns are added.
        return None
    for field in stored:
        if not field.nullable and field.name.lower() not in allowed:
            return (
                f"requires values in the column {field.name}, but rows of a run may have none: "
                f"ALTER TABLE {name} ALTER COLUMN `{field.name}` DROP NOT NULL"
            )
    return None
