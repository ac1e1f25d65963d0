"""The stage `label` without Spark: rows of blocks in, rows of labels out."""

from collections.abc import Callable

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from dripper.config import load
from dripper.labels import SimplifiedPage
from dripper.labels.engine import EngineError
from dripper.spark.tables.schemas import LABELS
from dripper.spark.workers.label import labels_mapper
from support.stage_labelers import load_dead, load_hash

SCHEMA = to_arrow_schema(StructType([StructField(field.name, field.dataType) for field in LABELS]))


def simplified(text: str) -> SimplifiedPage:
    return SimplifiedPage(f'<html><body><p _item_id="1">{text}</p></body></html>', 1)


def rows(*tokens: int) -> list[dict[str, object]]:
    return [
        {
            "page_id": str(i),
            "batch": 1,
            "n_blocks": 1,
            "profile": "dripper",
            "first_labels": None,
            "tokens": n,
            "simplified_html": simplified(str(n)).simplified_html,
        }
        for i, n in enumerate(tokens)
    ]


def mapped(mapper: Callable[[list[pa.RecordBatch]], object], given: list[dict[str, object]]) -> list[dict[str, object]]:
    batch = pa.RecordBatch.from_pylist(given)
    return [row for out in mapper([batch]) for row in out.to_pylist()]  # type: ignore[attr-defined]


def test_rows_keep_their_keys() -> None:
    made = mapped(
        labels_mapper(load_hash, load(assignments=["stages.batch_pages=2"]), SCHEMA, None), rows(9, 7, 7, 1, 1)
    )
    assert [row["page_id"] for row in made] == ["0", "1", "2", "3", "4"]
    assert {(row["labeler"], row["labeler_version"], row["batch"], row["passes"]) for row in made} == {
        ("hash", "1", 1, 3)
    }
    assert all(isinstance(row["main"], list) and len(row["main"]) == 1 for row in made)


def test_a_task_that_failed_leaves_no_engine_behind() -> None:
    mapper = labels_mapper(load_dead, load(), SCHEMA, None)
    for _ in range(2):
        with pytest.raises(EngineError):
            mapped(mapper, rows(1))
    assert len(mapped(labels_mapper(load_hash, load(), SCHEMA, None), rows(1))) == 1


def test_a_task_without_rows_starts_no_engine() -> None:
    """There may be more engines than pages."""
    empty = pa.RecordBatch.from_pylist(rows(1)).slice(0, 0)
    assert list(labels_mapper(load_dead, load(), SCHEMA, None)([])) == []
    assert list(labels_mapper(load_dead, load(), SCHEMA, None)([empty])) == []
