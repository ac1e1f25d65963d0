"""The stage `label` without Spark: rows of blocks in, rows of labels out."""

import math
import os
import subprocess
import sys
from collections.abc import Callable

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.types import StructField, StructType

from dripper.labels import SimplifiedPage
from dripper.labels.config import load
from dripper.labels.engine import EngineError
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.schemas import LABELS
from dripper.spark.workers.label import label_function, labels_mapper
from support.stage_labelers import load_dead, load_hash, load_poisoned

SCHEMA = arrow_schema(StructType([StructField(field.name, field.dataType) for field in LABELS]))


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


def test_rows_keep_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.labels.engine.BATCH_PAGES", 2)
    made = mapped(labels_mapper(load_hash, load(), SCHEMA, None), rows(9, 7, 7, 1, 1))
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


HANGS = """
from dripper.spark.workers import label
from spark.workers.test_label_worker import SCHEMA, load, mapped, rows
from support.stage_labelers import load_hanging
label.STALL_SECONDS = 0.5
mapped(label.labels_mapper(load_hanging, load(), SCHEMA, None), rows(1))
"""


def test_an_engine_that_hangs_ends_its_worker_and_says_so() -> None:
    """Spark sees a crash, and tries again on a cluster; otherwise it would wait for ever."""
    ended = subprocess.run(
        [sys.executable, "-c", HANGS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no progress for 0.5 s while the labeler cpu labels: this worker process ends itself" in ended.stderr


def test_a_udf_makes_its_own_batches_and_keeps_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of batches as Spark cuts them; rows without blocks among them."""
    given = [rows(9, 7, 7, 1, 1), rows(2)]
    batches = [
        (pd.Series([row["simplified_html"] for row in part] + [None]), pd.Series([1.0] * len(part) + [math.nan]))
        for part in given
    ]
    monkeypatch.setattr("dripper.labels.engine.BATCH_PAGES", 3)
    frames = list(label_function(load_hash, load())(iter(batches)))
    assert [len(frame) for frame in frames] == [3, 3, 2]
    labelled = mapped(labels_mapper(load_hash, load(), SCHEMA, None), [*given[0], *given[1]])
    told = [row for frame in frames for row in frame.to_dict("records")]
    assert [told[at]["error_code"] for at in (5, 7)] == ["empty_page"] * 2
    assert [row["main"] for row in told if row["error_code"] is None] == [row["main"] for row in labelled]


def test_an_engine_of_a_udf_takes_the_cores_of_its_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    pages = (pd.Series([simplified("a page").simplified_html]), pd.Series([1]))
    list(label_function(load_hash, load())(iter([pages])))
    assert os.environ["OMP_NUM_THREADS"] == "3"


def test_a_udf_says_why_there_are_no_labels() -> None:
    page = simplified("poison")
    (frame,) = label_function(load_poisoned, load())(iter([(pd.Series([page.simplified_html]), pd.Series([1]))]))
    (row,) = frame.to_dict("records")
    assert (row["error_code"], row["error_detail"]) == ("labeler_failed", "RuntimeError: cannot read this")
