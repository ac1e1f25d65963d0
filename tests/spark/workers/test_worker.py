"""The code of a task, without Spark: Arrow batches in, rows and one report per file out."""

import json
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql.types import StringType, StructField, StructType

from dripper.errors import ErrorCode
from dripper.labels.config import load
from dripper.page import extraction
from dripper.page.extraction import Extractor
from dripper.settings import Settings
from dripper.spark.run.batch_checks import join_file_reports
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.batches import PlannedFile
from dripper.spark.tables.row_keys import page_key
from dripper.spark.tables.schemas import EXTRACTIONS
from dripper.spark.workers import parts
from dripper.spark.workers import read as worker
from dripper.spark.workers.parts import FilePart
from dripper.warc import FileReport, Record
from dripper.warc.open.identity import canonical_address
from dripper.warc.read.reader import RecordReader
from dripper.warc.read.record import cut
from support.warcs import pages, write_warc

SCHEMA = arrow_schema(
    StructType([*(StructField(f.name, f.dataType) for f in EXTRACTIONS), StructField(worker.REPORT, StringType())])
)


class Sink:
    """Adds up the reports of tasks."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, counts: dict[str, int]) -> None:
        for key, count in counts.items():
            self.counts[key] = self.counts.get(key, 0) + count


def work(
    tasks: list[list[str]], *ids: int, settings: Settings | None = None, sink: Sink | None = None
) -> list[dict[str, object]]:
    planned = [[FilePart(PlannedFile(canonical_address(file), path=file), 1) for file in task] for task in tasks]
    mapper = worker.files_mapper(planned, 4, settings or Settings(), SCHEMA, sink)
    batch = pa.RecordBatch.from_pydict({"id": pa.array(ids, pa.int64())})
    return [row for out in mapper([batch]) for row in out.to_pylist()]


def test_a_task_gives_its_files_rows_and_a_report_each(tmp_path: Path) -> None:
    files = [str(write_warc(tmp_path / f"{i}.warc.gz", pages(10 * i, 2))) for i in range(3)]
    sink = Sink()
    rows = work([files[:2], files[2:]], 0, sink=sink)
    assert [row["url"] for row in rows if row["page_id"]] == [f"http://example.org/{i}" for i in (0, 1, 10, 11)]
    reports = [json.loads(str(row["report"])) for row in rows if row["report"]]
    assert [(Path(r["warc_file"]).name, r["pages"]) for r in reports] == [("0.warc.gz", 2), ("1.warc.gz", 2)]
    assert reports[0]["page_keys"] == sum(page_key(str(row["page_id"])) for row in rows[:2])
    assert reports[0]["slowest_page"]["page_id"] in [row["page_id"] for row in rows[:2]]
    assert reports[0]["task_ms"] >= reports[0]["slowest_page"]["ms"] > 0
    assert all(row["batch"] == 4 for row in rows if row["page_id"])
    assert rows[0]["fetched_at"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert sink.counts == {"files": 2, "pages": 4, "failed": 0}


def test_parts_of_a_file_give_its_rows_and_a_report_each(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "a.warc", pages(0, 8))
    file = PlannedFile(str(path), path.stat().st_size)
    sink = Sink()
    parts = [[FilePart(file, 1, span)] for span in cut(file.weight, 3)]
    mapper = worker.files_mapper(parts, 4, Settings(), SCHEMA, sink)
    batch = pa.RecordBatch.from_pydict({"id": pa.array(range(3), pa.int64())})
    rows = [row for out in mapper([batch]) for row in out.to_pylist()]
    assert [row["url"] for row in rows if row["page_id"]] == [f"http://example.org/{i}" for i in range(8)]
    told = [json.loads(str(row["report"])) for row in rows if row["report"]]
    assert [report["span"][0] for report in told] == [0, file.weight // 3, file.weight * 2 // 3]
    assert all(report["pages"] for report in told)
    (whole,) = join_file_reports(file.warc_file, told)
    assert (whole["pages"], whole["bytes_read"]) == (8, file.weight)
    assert sink.counts == {"files": 1, "pages": 8, "failed": 0}


def test_no_file_no_row() -> None:
    assert work([[]], 0) == []


def test_a_page_over_its_limit_is_a_row_and_the_next_goes_on(tmp_path: Path) -> None:
    heavy = ("http://example.org/heavy", b"<p>one more paragraph</p>" * 1_000_000)
    file = str(write_warc(tmp_path / "a.warc", [heavy, *pages(1, 1)]))
    rows = work([[file]], 0, settings=load(assignments=["limits.page_cpu_seconds=1"]))
    assert [row["error_code"] in ("memory_limit", "time_limit") for row in rows[:2]] == [True, False]
    assert rows[1]["markdown"]
    assert json.loads(str(rows[2]["report"]))["pages"] == 2


def test_a_fault_of_the_reader_ends_the_file_not_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = str(write_warc(tmp_path / "a.warc", pages(1, 2)))
    read = parts.read_records

    class Faulty:
        """Gives one record, then an unexpected exception."""

        def __init__(self, file: str) -> None:
            self.report = FileReport(file)
            self.records = read(good)

        def __iter__(self) -> Iterator[Record]:
            yield next(self.records)
            raise RuntimeError("not foreseen")

        def close(self) -> None:
            self.records.close()

    monkeypatch.setattr(parts, "read_records", lambda file, *_, **__: Faulty(file) if "bad" in file else read(file))
    rows = work([["bad", good]], 0)
    reports = [json.loads(str(row["report"])) for row in rows if row["report"]]
    assert [report["error"] for report in reports] == ["internal: RuntimeError: not foreseen", None]
    assert sum(row["page_id"] is not None for row in rows) == 3


def test_a_task_that_ends_early_closes_what_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = PlannedFile(str(write_warc(tmp_path / "a.warc", pages(1, 80))))
    closed = []
    close = RecordReader.close
    monkeypatch.setattr(RecordReader, "close", lambda reader: closed.append(reader.report.pages) or close(reader))

    def fail(record: Record, result: None) -> dict[str, Any]:
        raise RuntimeError("not foreseen")

    step = worker.Step(lambda page: None, lambda **_: None, fail)
    mapper = worker.files_mapper([[FilePart(file, 1)]], 1, Settings(), SCHEMA, None, lambda *_: step)
    with pytest.raises(RuntimeError, match="not foreseen") as raised:
        list(mapper([pa.RecordBatch.from_pydict({"id": pa.array([0], pa.int64())})]))
    # While the exception is referenced, and with it all objects in the frames of its traceback.
    assert raised.value
    assert set(closed) == {1}


def test_columns_have_the_order_of_the_schema() -> None:
    """Spark's `mapInArrow` never looks at their names: it takes them by position, and silently
    drops surplus ones."""
    schema = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.int64())])
    (batch,) = worker.in_batches([{"surplus": 1, "b": "x", "a": 1}, {"c": 3, "a": 2}], schema)
    assert batch.schema == schema
    assert batch.to_pydict() == {"a": [1, 2], "b": ["x", None], "c": [None, 3]}


def test_batches_are_bounded_by_rows_and_by_bytes() -> None:
    mapper = worker.in_batches([{"page_id": "a", "markdown": "x" * 100} for _ in range(150)], SCHEMA)
    assert [len(batch) for batch in mapper] == [64, 64, 22]
    large = worker.in_batches([{"page_id": "a", "markdown": "x" * (5 << 20)} for _ in range(5)], SCHEMA)
    assert [len(batch) for batch in large] == [2, 2, 1]


@pytest.mark.parametrize("step", [worker.extracting, worker.preprocessing])
@pytest.mark.parametrize(
    ("html", "detail"),
    [
        ("<div>" * 30_000, "elements nested too deeply: 400006470 steps and more; the limit is 400000000"),
        (f"<p {' '.join(f'a{i}' for i in range(31_000))}>", "a tag with about 31000 attributes; the limit is 30000"),
    ],
)
def test_a_page_above_a_limit_of_the_parser_is_an_error_that_names_it(
    step: Callable[[Settings, int], worker.Step[Any]], html: str, detail: str
) -> None:
    result = step(Settings(), 1).work((html + "<p>some text", None, None))
    assert (result.error_code, result.error_detail) == (ErrorCode.PARSE_FAILED, detail)


def test_a_worker_loads_its_labeler_once_for_all_tasks_that_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    monkeypatch.setattr(extraction, "_extractors", {})
    monkeypatch.setattr(extraction, "Extractor", lambda settings: loaded.append(settings) or Extractor(settings))
    part = FilePart(PlannedFile(str(write_warc(tmp_path / "a.warc.gz", pages(0, 1)))), 1)
    for batch in (1, 2):
        sent = cloudpickle.dumps(worker.files_mapper([[part], [part]], batch, Settings(), SCHEMA, None))
        for task in (0, 1):
            ids = pa.RecordBatch.from_pydict({"id": pa.array([task], pa.int64())})
            assert sum(out.num_rows for out in pickle.loads(sent)([ids])) == 2
    assert len(loaded) == 1
