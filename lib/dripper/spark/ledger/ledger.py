"""The ledger `warc_files`: which files are planned, done or failed, and what was counted in
each."""

import logging
import threading
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from dripper.errors import FileErrorKind
from dripper.spark.ledger.plan import (
    FINISHED,
    UNFINISHED,
    Batch,
    Key,
    LedgerEntry,
    Plan,
    PlannedFile,
    existing,
    fault_of,
)
from dripper.spark.tables.fence import SPARK_ERRORS
from dripper.spark.tables.schemas import WARC_FILES, nullable
from dripper.spark.tables.sql import first_line, quoted
from dripper.spark.tables.store import Tables, within
from dripper.warc.open.identity import reading_path
from dripper.warc.read.record import FORGOTTEN

logger = logging.getLogger(__name__)

TABLE = "warc_files"

CRASHED = "crashed"
"""The value of `error_kind` for a file that took its worker down, beside those of
`FileErrorKind`."""

_FILES_TO_COMPACT = 200
"""Every commit of a batch adds a data file, and reading 2,800 of them takes 7 s: so many are joined
into one."""

_ROWS_A_FILE = 2500
"""Neighbours by batch: what a commit of a batch rewrites."""

_ENTRY_COLUMNS = (
    *("warc_file", "path", "batch", "replaces", "state", "attempts", "size_bytes", "version", "pages", "selection"),
    *("records", "clipped", "n_problems", "error"),
)

Report = dict[str, Any]


class Ledger:
    """Reads and writes the ledger; every write is one commit. Its batches are this driver's alone
    (`dripper.spark.runs`)."""

    def __init__(
        self, spark: SparkSession, tables: Tables, run_id: str, max_attempts: int = 3, is_new: bool = False
    ) -> None:
        self._spark = spark
        self._tables = tables
        self._run_id = run_id
        self._max_attempts = max_attempts
        self._is_new = is_new
        self._last_batch = 0
        self._entries: list[LedgerEntry] | None = None
        # Two commits at once of one driver would be one conflict after the other: each rewrites
        # files of the plan.
        self._lock = threading.Lock()

    def entries(self) -> list[LedgerEntry]:
        """Return all entries; one small object a file (Common Crawl's 90,000 files are 20 MB on the
        driver)."""
        if self._entries is not None:
            return list(self._entries)
        if self._is_new:
            return []
        ledger = self._tables.read(TABLE)
        # One that no run of this release has opened yet may lack the youngest columns.
        names = [name for name in _ENTRY_COLUMNS if name in ledger.columns]
        # Of whole archives, which are most, the map is not wanted.
        skipped = F.when(F.col("n_problems") > 0, F.col("skipped")).alias("skipped")
        rows = ledger.select(*names, skipped).toArrow().to_pylist()
        self.number_above(row["batch"] for row in rows)
        self._entries = [_entry(row) for row in rows]
        return list(self._entries)

    @property
    def last_batch(self) -> int:
        """The highest number of a batch, of the entries and of `number_above`."""
        return self._last_batch

    def number_above(self, batches: Iterable[int]) -> None:
        """Give new batches numbers above these, which a table has rows of, whatever the ledger
        says."""
        self._last_batch = max([self._last_batch, *batches])

    def batches(self, state: str) -> list[Batch]:
        """Return the batches that are at this state, one of UNFINISHED, in order."""
        entries = self.entries()
        numbers = {entry.batch for entry in entries if entry.state in UNFINISHED}
        return [batch for batch in existing(entries, numbers) if batch.state == state]

    def record(self, plan: Plan) -> None:
        """Write the plan down before any work, so that a killed run is resumed with the same
        batches.

        Files that leave the batch of their last reading go first. Their old rows stay until the new
        ones are committed (`PlannedFile.replaces`), and so does what the ledger counted in them.
        """
        self._entries = None
        moved = {entry.file.key for entry in plan.moved}
        planned = [_planned_row(file, batch.number, self._run_id) for batch in plan.fresh for file in batch.files]
        self._last_batch = max([self._last_batch, *(batch.number for batch in plan.fresh)])
        if moved:
            self._move([row for row in planned if _key(row) in moved])
        unknown = [row for row in planned if _key(row) not in moved]
        if unknown:
            self._tables.append(TABLE, self._frame(unknown), maxRecordsPerFile=_ROWS_A_FILE)

    def _move(self, rows: Sequence[dict[str, Any]]) -> None:
        names = ("path", "batch", "replaces", "state", "attempts", "size_bytes", "version", "run_id")
        view = f"moved_{uuid.uuid4().hex}"
        self._frame(rows).createOrReplaceTempView(view)
        try:
            self._tables.change(
                TABLE,
                f"MERGE INTO {self._tables.sql_name(TABLE)} t USING {view} s ON t.warc_file = s.warc_file "
                "AND t.selection <=> s.selection "
                f"WHEN MATCHED THEN UPDATE SET {', '.join(f't.{name} = s.{name}' for name in names)}",
            )
        finally:
            self._spark.catalog.dropTempView(view)

    def finish(self, batch: Batch, reports: Sequence[Report], now: datetime, state: str | None = None) -> list[Report]:
        """Note what was counted in each file of `batch`, and return the rows. state: of all its
        files; None: of each, one of FINISHED, and what the ledger has of selections from a file
        that was read whole goes."""
        files = {file.warc_file: file for file in batch.files}
        any_read = any(report["error"] is None for report in reports)
        rows = [
            self._finished(report, files[report["warc_file"]], batch.number, now, state, any_read) for report in reports
        ]
        condition = f"batch = {batch.number}"
        if state is None and (whole := [quoted(file.warc_file) for file in batch.files if file.supersedes]):
            condition += f" OR (selection IS NOT NULL AND warc_file IN ({', '.join(whole)}))"
        self._entries = None
        with self._lock:
            self._tables.replace_where(TABLE, self._frame(rows), condition)
        return rows

    def _finished(
        self, report: Report, file: PlannedFile, batch: int, now: datetime, state: str | None, any_read: bool
    ) -> dict[str, Any]:
        row = report | {
            key: value for key, value in _planned_row(file, batch, self._run_id).items() if key not in _READ
        }
        row |= {"finished_at": now, "state": state or "done"}
        row |= {key: row[key] if row.get(key) is not None else getattr(file, key) for key in _READ}
        if state is not None:
            return row
        row["replaces"] = None
        if report["error"] is None:
            return row | {"attempts": 0}
        # Where nothing at all could be read, the network or somebody's credentials are at fault,
        # and no file.
        is_own_fault = report.get("error_kind") == FileErrorKind.GONE or any_read
        attempts = file.attempts + is_own_fault
        return row | {"attempts": attempts, "state": "set_aside" if attempts >= self._max_attempts else "failed"}

    def isolate(self, batch: Batch, suspects: Sequence[Collection[str]]) -> list[Batch]:
        """Give each group of suspected files of `batch` a batch of its own, a single one with an
        attempt more on its account; return the rest of the batch, if any is left, and the new ones.
        One commit."""
        self._entries = None
        with self._lock:
            group_of = {name: i for i, group in enumerate(suspects) for name in group}
            rest = tuple(file for file in batch.files if file.warc_file not in group_of)
            made = [replace(batch, files=rest)] if rest else []
            for i in range(len(suspects)):
                self._last_batch += 1
                mine = (file for file in batch.files if group_of.get(file.warc_file) == i)
                counted = tuple(_suspected(file, batch, len(suspects[i]) == 1) for file in mine)
                made.append(Batch(self._last_batch, counted))
            numbers = {batch.number, *(b.number for b in made)}
            rows = [_planned_row(file, b.number, self._run_id) for b in made for file in b.files]
            self._tables.replace_where(TABLE, self._frame(rows), within(numbers))
        return made

    def put_back(self, batch: Batch, state: str) -> None:
        """Note that the batch is at `state` again, one of UNFINISHED that lies before its own: what
        it had reached is there no more, or is not wanted."""
        self._entries = None
        if state == UNFINISHED[0]:
            rows = [_planned_row(file, batch.number, self._run_id) for file in batch.files]
        else:
            rows = [report | {"state": state} for report in self.reports(batch)]
        with self._lock:
            self._tables.replace_where(TABLE, self._frame(rows), f"batch = {batch.number}")

    def set_aside(self, batch: Batch, reason: str, now: datetime) -> None:
        """Note that the files of `batch` take their worker down, and are not to be tried again
        unasked."""
        crashed: dict[str, Any] = {"state": "set_aside", "replaces": None, "finished_at": now}
        crashed |= {"error": reason, "error_kind": CRASHED} | _NOTHING_READ
        rows = [_planned_row(file, batch.number, self._run_id) | crashed for file in batch.files]
        self._entries = None
        with self._lock:
            self._tables.replace_where(TABLE, self._frame(rows), f"batch = {batch.number}")

    def dismiss(self, names: Collection[str]) -> None:
        """Note that somebody knows of these files, which failed or are no whole archives, and does
        not want to hear of them any more. Rows that were read of them stay."""
        self._entries = None
        view = f"dismissed_{uuid.uuid4().hex}"
        self._frame([_planned_row(PlannedFile(name), 0, self._run_id) for name in names]).createOrReplaceTempView(view)
        try:
            self._tables.change(
                TABLE,
                f"MERGE INTO {self._tables.sql_name(TABLE)} t USING {view} s ON t.warc_file = s.warc_file "
                "AND (t.state IN ('failed', 'set_aside') OR (t.state = 'done' AND t.selection IS NULL AND t.n_problems > 0)) "
                "WHEN MATCHED THEN UPDATE SET t.state = 'dismissed'",
            )
        finally:
            self._spark.catalog.dropTempView(view)

    def forget(self, left: Sequence[tuple[LedgerEntry, int, int]]) -> None:
        """Note that of these files so many pages are left, and so many of them failed: the others
        are skipped as forgotten. One commit."""
        self._entries = None
        rows = [
            {"warc_file": e.file.warc_file, "selection": e.file.selection, "batch": e.batch}
            | {"pages": n_pages, "failed_pages": n_failed}
            for e, n_pages, n_failed in left
        ]
        view, reason = f"forgotten_{uuid.uuid4().hex}", quoted(FORGOTTEN)
        self._frame(rows).createOrReplaceTempView(view)
        skipped = "coalesce(t.skipped, cast(map() AS map<string, bigint>))"
        try:
            self._tables.change(
                TABLE,
                f"MERGE INTO {self._tables.sql_name(TABLE)} t USING {view} s ON t.warc_file = s.warc_file "
                "AND t.selection <=> s.selection AND t.batch = s.batch AND t.pages > s.pages "
                "WHEN MATCHED THEN UPDATE SET t.pages = s.pages, t.failed_pages = s.failed_pages, t.skipped = "
                f"map_concat(map_filter({skipped}, (reason, n) -> reason <> {reason}), map({reason}, "
                f"coalesce(try_element_at({skipped}, {reason}), 0L) + t.pages - s.pages))",
            )
        finally:
            self._spark.catalog.dropTempView(view)

    def rebuild(self, rows: Sequence[dict[str, Any]], now: datetime) -> None:
        """Note files that the ledger does not know, by what their rows in a table tell.

        rows: each with `warc_file`, `batch`, `pages`, `failed_pages`, `selection`.
        """
        self._entries = None
        of_rows = {"state": "done", "attempts": 0, "skipped": {}, "clipped": False, "finished_at": now}
        of_rows |= {"n_problems": 1, "problems": [_REBUILT], "run_id": self._run_id}
        frame = self._frame([of_rows | row | {"records": row["pages"]} for row in rows])
        self._tables.append(TABLE, frame, maxRecordsPerFile=_ROWS_A_FILE)

    def reports(self, batch: Batch) -> list[Report]:
        """Return what is noted of each file of `batch`."""
        rows = self._tables.read(TABLE).where(F.col("batch") == batch.number).orderBy("warc_file").collect()
        return [row.asDict(recursive=True) for row in rows]

    def counts(self) -> dict[str, int]:
        """Return, over the whole ledger: files by state, records, pages, skipped."""
        row = (
            self._tables.read(TABLE)
            .agg(
                *(F.count_if(F.col("state") == state).alias(state) for state in (*UNFINISHED, *FINISHED)),
                *(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in ("records", "pages", "failed_pages")),
                F.coalesce(F.sum(n_skipped()), F.lit(0)).alias("skipped"),
            )
            .head()
        )
        assert row is not None
        return {name: int(count) for name, count in row.asDict().items()}

    def compact(self) -> None:
        """Join the data files that the commits of many batches left."""
        # There is no data file without a commit of a batch, hence a number.
        if self._last_batch >= _FILES_TO_COMPACT and len(self._tables.read(TABLE).inputFiles()) >= _FILES_TO_COMPACT:
            try:
                self._spark.sql(f"OPTIMIZE {self._tables.sql_name(TABLE)}")
            except SPARK_ERRORS as error:
                # The rows are there all the same, and the next run tries again.
                logger.warning("the files of %s were not joined: %s", TABLE, first_line(error))

    def _frame(self, rows: Sequence[dict[str, Any]]) -> DataFrame:
        schema = to_arrow_schema(nullable(WARC_FILES.fields))
        columns = [
            pa.array([_storable(row.get(field.name), field.type) for row in rows], field.type) for field in schema
        ]
        frame = self._spark.createDataFrame(pa.Table.from_arrays(columns, schema=schema), nullable(WARC_FILES.fields))
        return frame.coalesce(1) if len(rows) <= _ROWS_A_FILE else frame


_READ = ("size_bytes", "version")
"""What the reading of a file tells better than its planning."""
_REBUILT = "the ledger was rebuilt from rows; whether the file was read to its end is not known: --redo reads it again"
_NOTHING_READ = {"records": 0, "pages": 0, "failed_pages": 0, "skipped": {}, "bytes_read": 0, "clipped": False}


def n_skipped() -> Column:
    """Return the sum of the column `skipped` over its reasons."""
    return F.aggregate(F.map_values("skipped"), F.lit(0).cast("long"), lambda total, count: total + count)


def _suspected(file: PlannedFile, batch: Batch, is_alone: bool) -> PlannedFile:
    """The batch may have been committed, and not noted in the ledger: then its rows are those of an
    earlier reading."""
    replaces = batch.number if file.replaces is None else file.replaces
    return replace(file, attempts=file.attempts + is_alone, replaces=replaces)


def _entry(row: dict[str, Any]) -> LedgerEntry:
    fault = fault_of(row) if row["state"] == "done" else None
    return LedgerEntry(_planned_file(row), row["batch"], row["state"], row["pages"] or 0, fault)


def _planned_file(row: dict[str, Any]) -> PlannedFile:
    return PlannedFile(
        row["warc_file"],
        row["size_bytes"],
        row["version"],
        row["path"],
        row["replaces"],
        row["attempts"] or 0,
        row.get("selection"),
    )


def _key(row: dict[str, Any]) -> Key:
    return row["warc_file"], row["selection"]


def _planned_row(file: PlannedFile, batch: int, run_id: str) -> dict[str, Any]:
    path = reading_path(file.path) if file.path else None
    return {
        "warc_file": file.warc_file,
        "path": None if path == file.warc_file else path,
        "batch": batch,
        "replaces": file.replaces,
        "state": "planned",
        "attempts": file.attempts,
        "size_bytes": file.size_bytes,
        "version": file.version,
        "run_id": run_id,
        "selection": file.selection,
    }


def _storable(value: Any, kind: pa.DataType) -> Any:
    """Arrow takes maps as pairs."""
    return list(value.items()) if isinstance(value, dict) and pa.types.is_map(kind) else value
