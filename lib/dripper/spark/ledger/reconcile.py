"""The tables against the ledger: whether the rows are there that the ledger counts, and what mends
it where they are not.

People drop tables, restore older versions of them, delete rows by SQL. So every run compares,
before it works, the rows of each batch of `extractions` with what the ledger counts in it. The
numbers are in Delta's log; no data is read. A batch that is on its way may have any number of rows:
it is replaced as a whole.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dripper.errors import DifferenceError, InputError
from dripper.spark.ledger import forgotten
from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import UNFINISHED, LedgerEntry, Plan, batches_of
from dripper.spark.tables.batches import Batch, within
from dripper.spark.tables.books import Books
from dripper.spark.tables.counts import BatchCounts, rows_by_batch
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.sql import quoted
from dripper.spark.tables.store import Tables
from dripper.spark.wording import SHOWN, list_names, say_count

logger = logging.getLogger(__name__)

TABLE = "extractions"
"""Batches or files that a sentence names."""
_VERSIONS_TRIED = 30
"""Versions of a table that are looked at for the one that made a difference: two jobs each."""
_KEEPS_ROWS = ("OPTIMIZE", "VACUUM", "ADD COLUMNS", "CHANGE COLUMN", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES")


@dataclass(frozen=True, slots=True)
class Difference:
    """A batch whose rows are not those that the ledger counts."""

    batch: int
    rows: int
    counted: int
    """By the ledger."""


def bounds(ledger: Iterable[LedgerEntry]) -> dict[int, tuple[int, int | None]]:
    """Return, for each batch of the ledger, the fewest and the most rows that it may have.

    The most is None where a batch is on its way, or has rows that one on its way will replace: a
    kill may have come before or after its commit. Whole readings replace those of selections, too.
    """
    entries = list(ledger)
    on_their_way = [entry for entry in entries if entry.state in UNFINISHED]
    replacing = {entry.file.warc_file for entry in on_their_way if entry.file.selection is None}
    open_batches = {entry.batch for entry in on_their_way}
    touched = {n for entry in on_their_way for n in batches_of(entry)}
    fewest, most = Counter(dict.fromkeys(touched, 0)), Counter(dict.fromkeys(touched, 0))
    for entry in entries:
        if entry.state in UNFINISHED:
            continue
        may_be_gone = entry.file.selection is not None and entry.file.warc_file in replacing
        fewest[entry.batch] += 0 if may_be_gone or entry.batch in open_batches else entry.pages
        most[entry.batch] += entry.pages
    return {batch: (fewest[batch], None if batch in touched else most[batch]) for batch in most}


def find_differences(
    entries: Iterable[LedgerEntry], rows: Mapping[int, int], leaving: Mapping[int, int] | None = None
) -> list[Difference]:
    """Return the batches in which the table has not as many rows as the ledger counts, in order.

    Args:
        rows: Of each batch of the table.
        leaving: Of each batch, rows that are on their way out.
    """
    allowed, unequal = bounds(entries), []
    for batch in sorted(allowed.keys() | rows.keys()):
        fewest, most = allowed.get(batch, (0, 0))
        n_rows = rows.get(batch, 0)
        if n_rows < fewest - (leaving or {}).get(batch, 0):
            unequal.append(Difference(batch, n_rows, fewest))
        elif most is not None and n_rows > most:
            unequal.append(Difference(batch, n_rows, most))
    return unequal


def compare(books: Books, ledger: Ledger, confirm: Callable[[], None]) -> tuple[list[Difference], BatchCounts]:
    """Return where `extractions` has not the rows that the ledger counts, and what it has of each
    batch. Batches of the ledger are numbered above all that are in the table from then on.

    Args:
        confirm: Raises where the lease has gone to another, which may have written between the
            look at the one table and at the other.
    """
    counts, entries = books.count_batches(TABLE), ledger.entries()
    ledger.number_above(counts.rows)
    unequal = find_differences(entries, counts.rows)
    if unequal:
        unequal = find_differences(entries, counts.rows, forgotten.on_their_way(books))
        confirm()
    return unequal, counts


def reconcile(spark: SparkSession, tables: Tables, ledger: Ledger, confirm: Callable[[], None]) -> None:
    """Raise DifferenceError where `extractions` has not the rows that the ledger counts, or storage
    lacks its data files; what was removed on purpose is no difference. See `compare`."""
    unequal, counts = compare(SparkBooks(spark, tables), ledger, confirm)
    entries = ledger.entries()
    name, repair = tables.sql_name(TABLE), f"jobs/maintain.py --output {tables.output} --repair"
    if counts.lost:
        raise DifferenceError(
            f"data files of {name} are gone from storage, of {_batches(counts.lost)}, though the table's log names them: "
            "something deletes beneath the table, such as a lifecycle rule of the bucket or a person. Nothing was done, as "
            f"reading these rows fails. Stop that, and bring the files back, or {repair} has the files of these batches read "
            "again by the next run"
        )
    if not unequal:
        return
    if not entries:
        raise DifferenceError(
            f"the ledger {tables.sql_name('warc_files')} was dropped or emptied by version "
            f"{_changed_by_people(spark, tables, 'warc_files')}, and {name} has {say_count(sum(counts.rows.values()), 'row')} "
            f"in {_batches(counts.rows)}; nothing was done, as a run would write over them. Restore the ledger, or {repair} "
            "rebuilds it from the rows"
        )
    since = find_changes(spark, tables, TABLE, unequal)
    of_ledger = ""
    if any(each.batch not in since for each in unequal):
        of_ledger = f"; the ledger was last changed by version {_changed_by_people(spark, tables, 'warc_files')}"
    raise DifferenceError(
        f"{name} and the ledger differ: {'; '.join(_describe(each, since) for each in unequal[:SHOWN])}"
        f"{f'; and {len(unequal) - SHOWN} more' if len(unequal) > SHOWN else ''}{of_ledger}. Nothing was done. Restore the table, "
        f"or {repair} has the files of these batches read again by the next run"
    )


def _describe(difference: Difference, since: Mapping[int, str]) -> str:
    when = since.get(difference.batch, "")
    since_when = f" since version {when}" if when else ""
    return f"batch {difference.batch} has {say_count(difference.rows, 'row')} of {difference.counted}{since_when}"


def _batches(numbers: Iterable[int]) -> str:
    listed = sorted(numbers)
    return f"batch {listed[0]}" if len(listed) == 1 else f"{len(listed)} batches ({listed[0]} to {listed[-1]})"


def find_changes(spark: SparkSession, tables: Tables, table: str, unequal: Sequence[Difference]) -> dict[int, str]:
    """Return, by batch, the version of the table that made the difference, with its operation and
    time; a batch whose version is not found is left out."""
    counts: dict[int, dict[int, int]] = {}

    def rows_at(version: int) -> dict[int, int]:
        if version not in counts:
            counts[version] = rows_by_batch(tables.read(table, version)) if version >= 0 else {}
        return counts[version]

    changes_by_batch: dict[int, str] = {}
    # Versions whose log or data was cleared are not told.
    with suppress(PySparkException, Py4JError):
        history = _history(spark, tables, table)
        # What people do first, then what jobs do; the newest first.
        changes = [row for row in history if not row["operation"].startswith(_KEEPS_ROWS)]
        changes.sort(key=lambda row: (row["operation"] == "WRITE", -row["version"]))
        for row in islice(changes, _VERSIONS_TRIED):
            unexplained = [each for each in unequal if each.batch not in changes_by_batch]
            if not unexplained:
                break
            before, after = rows_at(row["version"] - 1), rows_at(row["version"])
            for each in unexplained:
                # Rows of which none are counted are a run's: it is the ledger that has changed.
                is_of_ledger = row["operation"] == "WRITE" and not each.counted
                if before.get(each.batch, 0) == each.counted != after.get(each.batch, 0) and not is_of_ledger:
                    changes_by_batch[each.batch] = _change(row)
        if history and history[-1]["version"] == 0:
            first_change = _change(history[-1])
            fewer = [each.batch for each in unequal if each.rows < each.counted]
            changes_by_batch = dict.fromkeys(fewer, first_change) | changes_by_batch
    return changes_by_batch


def _history(spark: SparkSession, tables: Tables, table: str) -> list[dict[str, Any]]:
    """Return the table's versions, the newest first."""
    at = F.unix_seconds("timestamp").alias("at")
    rows = spark.sql(f"DESCRIBE HISTORY {tables.sql_name(table)}").select("version", at, "operation", "userName")
    return sorted((row.asDict() for row in rows.collect()), key=lambda row: -row["version"])


def _changed_by_people(spark: SparkSession, tables: Tables, table: str) -> str:
    """Return the newest version of the table that no run makes: runs write and merge."""
    history: list[dict[str, Any]] = []
    with suppress(PySparkException, Py4JError):
        history = [
            row
            for row in _history(spark, tables, table)
            if not row["operation"].startswith((*_KEEPS_ROWS, "WRITE", "MERGE"))
        ]
    return _change(history[0]) if history else "unknown"


def _change(row: Mapping[str, Any]) -> str:
    by = f" by {row['userName']}" if row["userName"] else ""
    return f"{row['version']} ({row['operation']}{by}, {datetime.fromtimestamp(row['at'], UTC):%Y-%m-%d %H:%M} UTC)"


def repair(spark: SparkSession, output: str) -> Iterator[str]:
    """Bring the ledger and `extractions` together again; yield what was done, in sentences.

    Files whose rows are not as counted are planned again. Rows of a reading that another has taken
    the place of are deleted. Rows of files that the ledger does not know are noted in it. Raises
    BusyError where a run is at work, InputError where there is no table.
    """
    tables = Tables(spark, output)
    if tables.version(TABLE) is None and tables.version("warc_files") is None:
        raise InputError(f"--output {output}: there is no table {TABLE} to repair, nor its ledger warc_files")
    for table in (TABLE, "warc_files", "runs"):
        tables.create(table)
    books = SparkBooks(spark, tables)
    lease = Lease(books)
    lease.take(job="repair")
    ending: dict[str, Any] = {"state": "interrupted", "exit_code": 3}
    try:
        yield from _repair(tables, books, Ledger(books, lease.run_id), lease)
        lease.confirm_commits()
        ending = {"state": "ended", "exit_code": 0}
    finally:
        try:
            lease.end(**ending)
        except Exception:
            logger.warning("the end of the repair could not be noted in %s", tables.sql_name("runs"), exc_info=True)


def _repair(tables: Tables, books: Books, ledger: Ledger, lease: Lease) -> Iterator[str]:
    unequal, counts = compare(books, ledger, lease.confirm)
    if counts.lost:
        # By a condition on the partition alone: Delta looks at no data file for it.
        tables.delete(TABLE, within(counts.lost))
        yield f"{_batches(counts.lost)} of {tables.sql_name(TABLE)}, of which data files are gone from storage, cleared"
        unequal, _ = compare(books, ledger, lease.confirm)
    entries = ledger.entries()
    if not unequal:
        yield f"{tables.sql_name(TABLE)}: every batch has the rows that the ledger counts, nothing to repair"
        return
    mended = _choose_repairs(
        entries, {each.batch for each in unequal}, _files_in(tables, [each.batch for each in unequal])
    )
    lease.check()
    if mended.outdated:
        batches = defaultdict(list)
        for batch, name in mended.outdated:
            batches[batch].append(quoted(name))
        which = " OR ".join(f"({within([n])} AND warc_file IN ({', '.join(names)}))" for n, names in batches.items())
        tables.delete(TABLE, which)
        yield f"rows of earlier readings of {say_count(len(mended.outdated), 'file')} deleted"
    if mended.unknown:
        ledger.rebuild(mended.unknown, datetime.now(UTC))
        names = list_names({row["warc_file"] for row in mended.unknown})
        yield (
            f"the ledger is rebuilt for {say_count(len(mended.unknown), 'file')}, {names}, with what their rows tell: whether they "
            "were read to their ends it cannot know (--redo FILES reads them again, and so must those of --select)"
        )
    if mended.again:
        batches_again = _split_by_batch(mended.again, ledger)
        ledger.record(Plan(fresh=tuple(batches_again), moved=tuple(mended.again)))
        names = list_names({entry.file.warc_file for entry in mended.again})
        yield (f"{say_count(len(mended.again), 'file', 'is')} planned again, {names}: give them to the next run")


@dataclass(frozen=True, slots=True)
class _Repairs:
    """The rows that a repair writes."""

    again: list[LedgerEntry]
    """Files to be read again, each with the batch whose rows its next reading replaces."""
    unknown: list[dict[str, Any]]
    """Rows for the ledger."""
    outdated: list[tuple[int, str]]
    """Batches and files whose rows go."""


def _files_in(tables: Tables, batches: Sequence[int]) -> dict[tuple[int, str], tuple[int, int]]:
    """Return, by batch and file, the rows there are, and the error rows among them."""
    row_counts = (
        tables.read(TABLE)
        .where(F.col("batch").isin(list(batches)))
        .groupBy("batch", "warc_file")
        .agg(F.count("*").alias("rows"), F.count("error_code").alias("failed"))
    )
    return {(row["batch"], row["warc_file"]): (row["rows"], row["failed"]) for row in row_counts.collect()}


def _choose_repairs(
    entries: Sequence[LedgerEntry], batches: set[int], row_counts: Mapping[tuple[int, str], tuple[int, int]]
) -> _Repairs:
    """Return what brings these batches in order. row_counts: the rows and error rows of each file
    in them."""
    at: dict[tuple[int, str], list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        at[entry.batch, entry.file.warc_file].append(entry)
    # What is on its way replaces these rows by itself.
    on_their_way = [entry for entry in entries if entry.state in UNFINISHED]
    left_alone = {(n, entry.file.warc_file) for entry in on_their_way for n in batches_of(entry)}
    replacing = {entry.file.warc_file for entry in on_their_way if entry.file.selection is None}
    again, outdated = [], []
    for (batch, name), readings in sorted(at.items()):
        counted, n_rows = sum(entry.pages for entry in readings), row_counts.get((batch, name), (0, 0))[0]
        if batch not in batches or counted == n_rows or name in replacing or (batch, name) in left_alone:
            continue
        again += [replace(entry, file=replace(entry.file, replaces=batch)) for entry in readings if entry.pages]
        outdated += [(batch, name)] if not counted else []
    ledger_names = {entry.file.warc_file for entry in entries}
    strangers = sorted(place for place in row_counts if place not in at and place not in left_alone)
    outdated += [place for place in strangers if place[1] in ledger_names]
    for i, entry in enumerate(again):
        # The rows of another reading stay until the next one, where those of the last are gone.
        instead = [place for place in outdated if place[1] == entry.file.warc_file]
        if instead and (entry.batch, entry.file.warc_file) not in row_counts:
            again[i] = replace(entry, file=replace(entry.file, replaces=instead[-1][0]))
            outdated.remove(instead[-1])
    return _Repairs(
        again, _rebuild_rows([place for place in strangers if place[1] not in ledger_names], row_counts), outdated
    )


def _rebuild_rows(
    places: Sequence[tuple[int, str]], row_counts: Mapping[tuple[int, str], tuple[int, int]]
) -> list[dict[str, Any]]:
    """Return rows for the ledger. A file with rows in several batches was read in selections: a
    whole reading takes their place."""
    times = Counter(name for _, name in places)
    return [
        {
            "warc_file": name,
            "batch": batch,
            "pages": row_counts[batch, name][0],
            "failed_pages": row_counts[batch, name][1],
            "selection": f"rebuilt {batch}" if times[name] > 1 else None,
        }
        for batch, name in places
    ]


def _split_by_batch(entries: Sequence[LedgerEntry], ledger: Ledger) -> list[Batch]:
    """Return new batches for the files, one for each that they come from."""
    by_batch: dict[int, list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        by_batch[entry.batch].append(entry)
    first = ledger.last_batch + 1
    return [
        Batch(first + i, tuple(replace(entry.file, attempts=0) for entry in group))
        for i, (_, group) in enumerate(sorted(by_batch.items()))
    ]
