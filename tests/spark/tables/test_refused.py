"""Properties of tables that runs cannot work with, and the SQL that undoes them."""

import pytest
from pyspark.sql.types import StructType

from dripper.spark.tables.refused import undo_refused, undo_required

DECLARED = StructType().add("page_id", "string", nullable=False).add("title", "string")


@pytest.mark.parametrize(
    ("properties", "undo"),
    [
        ({}, None),
        ({"delta.appendOnly": "false", "delta.enableDeletionVectors": "true"}, None),
        ({"delta.appendOnly": "TRUE"}, "ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'false')"),
        ({"delta.constraints.few": "batch < 9"}, "ALTER TABLE t DROP CONSTRAINT `few`"),
    ],
)
def test_what_does_not_allow_the_rows_of_a_run(properties: dict[str, str], undo: str | None) -> None:
    sentence = undo_refused("t", properties)
    assert sentence is None if undo is None else str(sentence).endswith(undo)


@pytest.mark.parametrize(("column", "is_refused"), [("PAGE_ID", False), ("title", True), ("mine", True)])
def test_columns_that_must_have_values(column: str, is_refused: bool) -> None:
    sentence = undo_required("t", DECLARED, StructType().add("page_id", "string").add(column, "string", nullable=False))
    undo = f"ALTER TABLE t ALTER COLUMN `{column}` DROP NOT NULL"
    assert str(sentence).endswith(undo) if is_refused else sentence is None
