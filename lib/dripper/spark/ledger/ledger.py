"""The ledger `warc_files`: the planned, done and failed files, with counts for each file."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from dripper.errors import LASTING, DifferenceError
from dripper.spark.ledger.plan import FINISHED, UNFINISHED, LedgerEntry, Plan, fault_of, list_batches
from dripper.spark.tables.batches import Batch, Key, PlannedFile
from dripper.spark.tables.books import EVERY_ROW, Books, Row, Where, amend, among, is_set
from dripper.spark.tables.counts import FileRows
from dripper.spark.tables.sql import quoted
from dripper.spark.wording import say_count
from dripper.warc.open.identity import reading_path
from dripper.warc.read.record import FORGOTTEN

logger = logging.getLogger(__name__)

TABLE = "warc_files"

CRASHED = "crashed"
"""Value of `error_kind` for a file that crashed its worker. The other values are in
`FileErrorKind`."""

_ENTRY_COLUMNS = (
    *("warc_file", "path", "batch", "replaces", "state", "attempts", "size_bytes", "version", "pages", "selection"),
    *("records", "failed_pages", "skipped", "clipped", "n_problems", "error", "page_keys", "finished_at", "checked_at"),
)

Report = dict[str, Any]

MAX_ATTEMPTS = 3
"""Maximum number of attempts at a file that does not exist or crashes its worker. After that, the
file is set aside until --redo names it."""


class Ledger:
    """Reads and writes the ledger. Each write is a single commit.

    Only this driver may write to the ledger (`dripper.spark.ledger.lease`), so the ledger is read
    once and cached in memory.
    """

    def __init__(self, books: Books, run_id: str, is_new: bool = False) -> None:
        self._books = books
        self._run_id = run_id
        self._last_batch = 0
        self._cached_entries: dict[Key, LedgerEntry] | None = {} if is_new else None
        # Two simultaneous commits from one driver would conflict repeatedly, because each of them
        # rewrites data files of the ledger.
        self._lock = threading.RLock()

    def entries(self) -> list[LedgerEntry]:
        """Return all entries, one small object per file.

        The 90,000 files of a Common Crawl release take 20 MB on the driver.
        """
        with self._lock:
            return list(self._entries().values())

    def _entries(self) -> dict[Key, LedgerEntry]:
        if self._cached_entries is None:
            # The table may lack the newest columns if no run of this release has opened it yet.
            rows = self._books.read(TABLE, EVERY_ROW, _ENTRY_COLUMNS)
            self._refuse_unknown_states(rows)
            self.number_above(row["batch"] for row in rows)
            self._cached_entries = {_key(row): _entry(row) for row in rows}
        return self._cached_entries

    def _refuse_unknown_states(self, rows: Sequence[Row]) -> None:
        """Raise DifferenceError if a file has a state that this release does not know."""
        states = Counter(str(row["state"]) for row in rows if row["state"] not in (*UNFINISHED, *FINISHED))
        if states:
            name, (state, n_files) = self._books.name(TABLE), next(iter(states.items()))
            raise DifferenceError(
                f"{name} has {say_count(n_files, 'file')} at the state {state!r}, which this release does not know; nothing was "
                f"done. Restore the table, or UPDATE {name} SET state = 'failed' WHERE state = {quoted(state)} has the next "
                "run read them again"
            )

    def _replace(self, rows: Sequence[Row], where: Where) -> None:
        """Replace rows in the table and in the cached entries."""
        with self._lock:
            # Drop the cache first, because a failed commit may have written its rows nevertheless.
            entries, self._cached_entries = self._cached_entries, None
            self._books.replace(TABLE, rows, where)
            if entries is not None:
                stays = {key: entry for key, entry in entries.items() if not where.holds(_place(entry))}
                self._cached_entries = stays | {_key(row): _entry(row) for row in rows}

    def _append(self, rows: Sequence[Row]) -> None:
        with self._lock:
            entries, self._cached_entries = self._cached_entries, None
            self.number_above(row["batch"] for row in rows)
            self._books.append(TABLE, rows)
            if entries is not None:
                self._cached_entries = entries | {_key(row): _entry(row) for row in rows}

    def _change(self, batches: Collection[int], change: Callable[[Row], Row]) -> None:
        """Replace each row of these batches with the result of `change`, as `amend` does."""
        if not batches:
            return
        with self._lock:
            entries, self._cached_entries = self._cached_entries, None
            changed = amend(self._books, TABLE, among("batch", batches), change)
            if entries is not None and changed is not None:
                self._cached_entries = entries | {_key(row): _entry(row) for row in changed}

    @property
    def last_batch(self) -> int:
        """The highest batch number in the ledger or passed to `number_above`."""
        return self._last_batch

    def number_above(self, batches: Iterable[int]) -> None:
        """Give new batches higher numbers than these.

        Use it for batch numbers that occur in a table but perhaps not in the ledger.
        """
        self._last_batch = max([self._last_batch, *batches])

    def batches(self, state: str) -> list[Batch]:
        """Return the batches in this state, which is one of UNFINISHED, in order."""
        entries = self.entries()
        numbers = {entry.batch for entry in entries if entry.state in UNFINISHED}
        return [batch for batch in list_batches(entries, numbers) if batch.state == state]

    def record(self, plan: Plan) -> None:
        """Record the plan before any work, so that a killed run resumes with the same batches.

        Files to read again are moved out of the batch that last read them. Their old rows, and the
        ledger's counts of these rows, are kept until the new rows are committed
        (`PlannedFile.replaces`).
        """
        batch_of_moved = {entry.file.key: entry.batch for entry in plan.moved}
        planned = [_planned_row(file, batch.number, self._run_id) for batch in plan.fresh for file in batch.files]
        self.number_above(batch.number for batch in plan.fresh)
        if batch_of_moved:
            moved_values = {
                _key(row): {name: row[name] for name in _MOVED} for row in planned if _key(row) in batch_of_moved
            }
            self._change(set(batch_of_moved.values()), lambda row: row | moved_values.get(_key(row), {}))
        unknown = [row for row in planned if _key(row) not in batch_of_moved]
        if unknown:
            self._append(unknown)

    def finish(
        self, results: Sequence[tuple[Batch, Sequence[Report], datetime]], state: str | None = None
    ) -> list[Report]:
        """Record the counts of the batches' files in one commit. Return the ledger's new rows.

        Args:
            results: Batches, each with the counts of its files and the time of its last commit.
            state: The state for all files. If None, each file gets one of FINISHED. The ledger's
                rows for selections of a file are then removed if the whole file was read.
        """
        rows: list[Report] = []
        for batch, reports, now in results:
            files = {file.warc_file: file for file in batch.files}
            any_read = any(report["error"] is None for report in reports)
            rows += [
                self._finish_row(report, files[report["warc_file"]], batch.number, now, state, any_read)
                for report in reports
            ]
        where = among("batch", [batch.number for batch, *_ in results])
        whole_files = [file.warc_file for batch, *_ in results for file in batch.files if file.supersedes]
        if state is None and whole_files:
            where |= is_set("selection") & among("warc_file", whole_files)
        self._replace(rows, where)
        return rows

    def _finish_row(
        self, report: Report, file: PlannedFile, batch: int, now: datetime, state: str | None, any_read: bool
    ) -> dict[str, Any]:
        row = report | {
            key: value for key, value in _planned_row(file, batch, self._run_id).items() if key not in _READ
        }
        row |= {"finished_at": now, "checked_at": None, "state": state or "done"}
        row |= {key: row[key] if row.get(key) is not None else getattr(file, key) for key in _READ}
        if state is not None:
            return row
        row["replaces"] = None
        if report["error"] is None:
            return row | {"attempts": 0}
        # If no file could be read, the network or the credentials are at fault, not the files.
        is_own_fault = report.get("error_kind") in LASTING or any_read
        attempts = file.attempts + is_own_fault
        return row | {"attempts": attempts, "state": "set_aside" if attempts >= MAX_ATTEMPTS else "failed"}

    def isolate(self, batch: Batch, suspects: Sequence[Collection[str]]) -> list[Batch]:
        """Move each group of suspected files from `batch` to a batch of its own, in one commit.

        For a file that is alone in its group, one more attempt is counted. Return the rest of
        `batch`, if any files are left, and the new batches.
        """
        with self._lock:
            self._entries()
            group_of = {name: i for i, group in enumerate(suspects) for name in group}
            rest = tuple(file for file in batch.files if file.warc_file not in group_of)
            batches = [replace(batch, files=rest)] if rest else []
            for i in range(len(suspects)):
                self._last_batch += 1
                members = (file for file in batch.files if group_of.get(file.warc_file) == i)
                suspected_files = tuple(_make_suspect(file, batch, len(suspects[i]) == 1) for file in members)
                batches.append(Batch(self._last_batch, suspected_files))
            numbers = {batch.number, *(b.number for b in batches)}
            rows = [_planned_row(file, b.number, self._run_id) for b in batches for file in b.files]
            self._replace(rows, among("batch", numbers))
        return batches

    def put_back(self, batch: Batch, state: str) -> None:
        """Set the batch back to `state`, an earlier state in UNFINISHED.

        Use this if results of later stages are lost or no longer wanted.
        """
        if state == UNFINISHED[0]:
            rows = [_planned_row(file, batch.number, self._run_id) for file in batch.files]
            self._replace(rows, among("batch", [batch.number]))
        else:
            self._change([batch.number], lambda row: row | {"state": state})

    def set_aside(self, batch: Batch, reason: str, now: datetime) -> None:
        """Set aside the files of `batch`, which crash their worker."""
        crashed: dict[str, Any] = {"state": "set_aside", "replaces": None, "finished_at": now}
        crashed |= {"error": reason, "error_kind": CRASHED} | _NOTHING_READ
        rows = [_planned_row(file, batch.number, self._run_id) | crashed for file in batch.files]
        self._replace(rows, among("batch", [batch.number]))

    def dismiss(self, names: Collection[str]) -> None:
        """Record that these files need no more attempts or reports. They failed or are not whole
        archives.

        Rows from these files are kept.
        """
        warc_files = set(names)

        def dismissed(row: Row) -> Row:
            is_faulty = row["state"] == "done" and row["selection"] is None and (row["n_problems"] or 0) > 0
            is_bad = row["state"] in ("failed", "set_aside") or is_faulty
            return row | {"state": "dismissed"} if row["warc_file"] in warc_files and is_bad else row

        self._change({entry.batch for entry in self.entries() if entry.file.warc_file in warc_files}, dismissed)

    def forget(self, remaining: Sequence[tuple[LedgerEntry, FileRows]], now: datetime) -> None:
        """Record in one commit how many rows of these files remain after forgetting.

        The other pages are forgotten, and are counted as skipped.
        """
        left_of = {(entry.file.key, entry.batch): rows for entry, rows in remaining}

        def forgotten(row: Row) -> Row:
            left = left_of.get((_key(row), row["batch"]))
            if left is None or row["pages"] is None or row["pages"] <= left.rows:
                return row
            skipped = dict(row["skipped"] or {})
            skipped[FORGOTTEN] = skipped.get(FORGOTTEN, 0) + row["pages"] - left.rows
            counted = {"pages": left.rows, "failed_pages": left.failed, "page_keys": left.keys}
            return row | counted | {"skipped": skipped, "checked_at": now}

        self._change({entry.batch for entry, _ in remaining}, forgotten)

    def note_checked(self, rows: Mapping[tuple[int, str], FileRows], now: datetime) -> None:
        """Record in one commit that the rows of these batches and files match their pages."""

        def checked(row: Row) -> Row:
            found = rows.get((row["batch"], row["warc_file"]))
            if found is None or row["pages"] != found.rows or row["state"] in UNFINISHED:
                return row
            return row | {
                "checked_at": now,
                "page_keys": found.keys if row.get("page_keys") is None else row["page_keys"],
            }

        self._change({batch for batch, _ in rows}, checked)

    def rebuild(self, rows: Sequence[dict[str, Any]], now: datetime) -> None:
        """Add files that the ledger lacks, with values from their rows in a table.

        Args:
            rows: Dictionaries with `warc_file`, `batch`, `pages`, `failed_pages`, `page_keys` and
                `selection`.
        """
        of_rows = {"state": "done", "attempts": 0, "skipped": {}, "clipped": False, "finished_at": now}
        of_rows |= {"n_problems": 1, "problems": [_REBUILT], "run_id": self._run_id}
        self._append([of_rows | row | {"records": row["pages"]} for row in rows])

    def reports(self, batch: Batch) -> list[Report]:
        """Return the ledger's row for each file of `batch`."""
        rows = self._books.read(TABLE, among("batch", [batch.number]))
        return sorted(rows, key=lambda row: row["warc_file"])

    def counts(self) -> dict[str, int]:
        """Return the totals: files by state, records, pages, failed pages and skipped records."""
        entries = self.entries()
        states = Counter(entry.state for entry in entries)
        sums = {
            name: sum(getattr(entry, name) for entry in entries)
            for name in ("records", "pages", "failed_pages", "skipped")
        }
        return {state: states[state] for state in (*UNFINISHED, *FINISHED)} | sums


_MOVED = ("path", "batch", "replaces", "state", "attempts", "size_bytes", "version", "run_id")
"""Columns that change when a file moves to a new batch."""
_READ = ("size_bytes", "version")
"""Columns for which reading a file may give better values than planning."""
_REBUILT = "the ledger was rebuilt from rows; whether the file was read to its end is not known: --redo reads it again"
_NOTHING_READ = {"records": 0, "pages": 0, "failed_pages": 0, "skipped": {}, "bytes_read": 0, "clipped": False}


def _make_suspect(file: PlannedFile, batch: Batch, is_alone: bool) -> PlannedFile:
    """Return a suspected file for its new batch.

    The old batch may have been committed but not recorded in the ledger. Its rows therefore count
    as an earlier reading.
    """
    replaces = batch.number if file.replaces is None else file.replaces
    return replace(file, attempts=file.attempts + is_alone, replaces=replaces)


def _entry(row: dict[str, Any]) -> LedgerEntry:
    fault = fault_of(row) if row["state"] == "done" else None
    counts = {name: row.get(name) or 0 for name in ("records", "failed_pages")}
    skipped = row.get("skipped") or {}
    return LedgerEntry(
        _planned_file(row),
        row["batch"],
        row["state"],
        row.get("pages") or 0,
        fault,
        **counts,
        skipped=sum(skipped.values()),
        forgotten=skipped.get(FORGOTTEN, 0),
        page_keys=row.get("page_keys"),
        checked_at=row.get("checked_at") or row.get("finished_at"),
    )


def _planned_file(row: dict[str, Any]) -> PlannedFile:
    return PlannedFile(
        row["warc_file"],
        row.get("size_bytes"),
        row.get("version"),
        row.get("path"),
        row.get("replaces"),
        row.get("attempts") or 0,
        row.get("selection"),
    )


def _place(entry: LedgerEntry) -> Row:
    return {"warc_file": entry.file.warc_file, "selection": entry.file.selection, "batch": entry.batch}


def _key(row: dict[str, Any]) -> Key:
    return row["warc_file"], row.get("selection")


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
