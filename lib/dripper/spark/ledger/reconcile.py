"""Compares the tables with the ledger, to check that the rows counted in the ledger exist.

People drop tables, restore older versions, and delete rows with SQL. Therefore every run first
compares the number of rows in each batch of `extractions` with the ledger. The numbers come from
Delta's log. Spark reads data only to compare the keys of rewritten batches. A batch in progress can
have any number of rows, because it will be replaced as a whole. `dripper.spark.upkeep.repair`
repairs differences.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dripper.errors import DifferenceError
from dripper.spark.ledger import forgotten
from dripper.spark.ledger.forgetting import Pages, check_rules, drop_returned, go_on
from dripper.spark.ledger.forgotten import Rule, Rules
from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import UNFINISHED, LedgerEntry, batches_of
from dripper.spark.tables.books import Books
from dripper.spark.tables.counts import BatchCounts, FileRows, rows_by_batch
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import VERSION_PROPERTY, Tables
from dripper.spark.wording import SHOWN, say_count

logger = logging.getLogger(__name__)

TABLE = "extractions"
_VERSIONS_TRIED = 30
"""Maximum number of table versions to search for the cause of a difference. Each version takes two
Spark jobs."""
_KEEPS_ROWS = ("OPTIMIZE", "VACUUM", "ADD COLUMNS", "CHANGE COLUMN", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES")


@dataclass(frozen=True, slots=True)
class Difference:
    """A batch with rows that differ from the ledger's counts."""

    batch: int
    rows: int
    counted: int
    """Number of rows according to the ledger. If it equals `rows`, the rows belong to other
    pages."""


def bounds(ledger: Iterable[LedgerEntry]) -> dict[int, tuple[int, int | None]]:
    """Return the minimum and maximum number of rows that each batch in the ledger can have.

    The maximum is None if the batch is in progress or has rows that a batch in progress will
    replace. In these cases, a run may have been killed before or after its commit. A reading of a
    whole file also replaces the rows of selections.
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
    """Return the batches with fewer or more rows than the ledger counts, in order.

    Args:
        rows: Number of rows in each batch of the table.
        leaving: Number of rows that are about to be deleted, keyed by batch.
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


def compare(
    books: Books, ledger: Ledger, confirm: Callable[[], None], every: bool = False
) -> tuple[list[Difference], BatchCounts]:
    """Return the batches of `extractions` that differ from the ledger, and all batches' counts.

    If a batch has a data file newer than the last check, the keys of its pages are compared, too.
    Delta's log has the time of each data file, so nothing is scanned if nobody has written. After
    this call, new batches get higher numbers than all batches in the table.

    Args:
        confirm: Raises if another run has taken the lease. That run may have written between the
            reads of the two tables.
        every: Compare the keys of all batches.
    """
    counts, entries = books.count_batches(TABLE), ledger.entries()
    ledger.number_above(counts.rows)
    unequal = find_differences(entries, counts.rows)
    leaving = forgotten.on_their_way(books) if unequal or every else {}
    unequal = unequal and find_differences(entries, counts.rows, leaving)
    left_out, known = leaving.keys() | {each.batch for each in unequal}, {} if counts.lost else _known_keys(entries)
    checked = {
        n: of for n, of in known.items() if n not in left_out and (every or _is_rewritten(of, counts.written.get(n)))
    }
    if checked:
        found = books.count_files(TABLE, None if every else checked.keys())
        unequal += _compare_keys(checked, found)
        others = {each.batch for each in unequal}
        # The clock of the storage may be ahead of this machine's.
        now = max([datetime.now(UTC), *(counts.written[n] for n in checked if n in counts.written)])
        equal = {place: rows for place, rows in found.items() if place[0] in checked.keys() - others}
        if not every or any(entry.page_keys is None for entry in entries):
            confirm()
            ledger.note_checked(equal, now)
    if unequal:
        confirm()
    return sorted(unequal, key=lambda each: each.batch), counts


def _known_keys(entries: Sequence[LedgerEntry]) -> dict[int, list[LedgerEntry]]:
    """Return the files that must have exactly the rows that the ledger counts, keyed by batch
    number."""
    allowed = bounds(entries)
    by_batch: dict[int, list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        if entry.state not in UNFINISHED and entry.pages and allowed[entry.batch][0] == allowed[entry.batch][1]:
            by_batch[entry.batch].append(entry)
    return by_batch


def _is_rewritten(files: Sequence[LedgerEntry], written: datetime | None) -> bool:
    """Return whether a batch's newest data file is newer than its last check; False if unknown."""
    looks = [entry.checked_at for entry in files if entry.checked_at is not None]
    return written is not None and (not looks or written > max(looks))


def _compare_keys(
    files: Mapping[int, Sequence[LedgerEntry]], found: Mapping[tuple[int, str], FileRows]
) -> list[Difference]:
    """Return the batches in which a file's rows differ from its pages in number or keys."""
    rows_of: dict[int, dict[str, FileRows]] = defaultdict(dict)
    for (batch, name), rows in found.items():
        rows_of[batch][name] = rows
    unequal = []
    for batch, entries in files.items():
        readings: dict[str, list[LedgerEntry]] = {name: [] for name in rows_of[batch]}
        for entry in entries:
            readings.setdefault(entry.file.warc_file, []).append(entry)
        if not all(are_rows_of(of_file, rows_of[batch].get(name, FileRows())) for name, of_file in readings.items()):
            n_rows = sum(rows.rows for rows in rows_of[batch].values())
            unequal.append(Difference(batch, n_rows, sum(entry.pages for entry in entries)))
    return unequal


def are_rows_of(readings: Sequence[LedgerEntry], rows: FileRows) -> bool:
    """Return whether a file's rows in a batch match its pages, as far as the keys are known."""
    keys = [entry.page_keys for entry in readings if entry.pages]
    is_same = None in keys or rows.keys == sum(filter(None, keys))
    return rows.rows == sum(entry.pages for entry in readings) and is_same


def settle(
    books: Books, pages: Pages, ledger: Ledger, lease: Lease, adding: Collection[Rule] = (), every: bool = False
) -> tuple[list[Difference], BatchCounts, Rules]:
    """Delete pages that should be forgotten, and return the result of `compare` and the rules.

    A page should be forgotten if somebody brought it back, or if an earlier call began to forget
    it.

    Args:
        adding: Rules that are about to be recorded.
        every: As for `compare`.

    Raises:
        DifferenceError: If rules are missing.
    """
    rule_rows = books.read(forgotten.TABLE)
    of_adding = [{"kind": each.kind, "pattern": each.pattern} for each in adding]
    check_rules([*rule_rows, *of_adding], lease.rules_known, ledger, books.name(forgotten.TABLE))
    rules = forgotten.rules_of(rule_rows)
    # A restored version has old data files, so `compare` would not notice the restore by their
    # times.
    is_restored = bool(rules) and pages.are_restored()
    unequal, counts = compare(books, ledger, lease.confirm, every=every or is_restored)
    batches = {each.batch for each in unequal}
    if rules and (batches or is_restored) and not counts.lost:
        drop_returned(books, pages, lease.check, rule_rows, batches)
        rule_rows = books.read(forgotten.TABLE)
        unequal, counts = compare(books, ledger, lease.confirm)
    if not (unequal or counts.lost) and (n_pages := go_on(books, pages, ledger, lease.check, rule_rows)):
        logger.warning("%s forgotten, which a call before had begun", say_count(n_pages, "page", "is"))
        counts = books.count_batches(TABLE)
    lease.note_rules(len({(row["kind"], row["pattern"]) for row in [*rule_rows, *of_adding]}))
    return unequal, counts, rules


def reconcile(
    spark: SparkSession,
    tables: Tables,
    pages: Pages,
    ledger: Ledger,
    lease: Lease,
    adding: Collection[Rule] = (),
    every: bool = False,
) -> tuple[Rules, Mapping[int, int]]:
    """Check that the rows match the ledger. Return the rules that apply and the rows per batch.

    `settle` runs first, so that rows of forgotten pages do not count as differences.

    Raises:
        DifferenceError: If the rows of `extractions` differ from the ledger's counts, if data files
            are missing from storage, or if rules are missing.
    """
    unequal, counts, rules = settle(SparkBooks(spark, tables), pages, ledger, lease, adding, every)
    entries = ledger.entries()
    name, repair = tables.sql_name(TABLE), f"jobs/maintain.py --output {tables.output} --repair"
    if counts.lost:
        raise DifferenceError(
            f"data files of {name} are gone from storage, of {say_batches(counts.lost)}, though the table's log names them: "
            "something deletes beneath the table, such as a lifecycle rule of the bucket or a person. Nothing was done, as "
            f"reading these rows fails. Stop that, and bring the files back, or {repair} has the files of these batches read "
            "again by the next run"
        )
    if not unequal:
        return rules, counts.rows
    if not entries:
        raise DifferenceError(
            f"the ledger {tables.sql_name('warc_files')} was dropped or emptied by version "
            f"{_changed_by_people(spark, tables, 'warc_files')}, and {name} has {say_count(sum(counts.rows.values()), 'row')} "
            f"in {say_batches(counts.rows)}; nothing was done, as a run would write over them. Restore the ledger, or {repair} "
            "rebuilds it from the rows"
        )
    raise DifferenceError(
        f"{describe_differences(spark, tables, unequal)}. Nothing was done. Restore the table, "
        f"or {repair} has the files of these batches read again by the next run"
    )


def find_lost_rows(spark: SparkSession, tables: Tables, ledger: Ledger, confirm: Callable[[], None]) -> list[str]:
    """Return a sentence if `compare` finds a difference at the end of a run.

    In that case, somebody has changed one of the tables since `reconcile`. If the log is out of
    reach, the next run reports the difference.

    Args:
        confirm: As for `compare`.
    """
    repair = f"jobs/maintain.py --output {tables.output} --repair has these batches read again by the next run"
    newest = tables.log(TABLE).newest()
    # The property is missing if a write of the run has created the table again.
    is_removed = not tables.exists(TABLE) if newest is None else VERSION_PROPERTY not in newest.properties
    if is_removed:
        return [f"{tables.sql_name(TABLE)} was removed while the run was at work: move the rest away, then {repair}"]
    unequal = compare(SparkBooks(spark, tables), ledger, confirm)[0] if newest is not None else []
    changed = "Somebody changed them while the run was at work"
    return [f"{describe_differences(spark, tables, unequal)}. {changed}: {repair}"] if unequal else []


def describe_differences(spark: SparkSession, tables: Tables, unequal: Sequence[Difference]) -> str:
    """Describe how `extractions` differs from the ledger, and since which table versions."""
    since = find_changes(spark, tables, TABLE, unequal)
    of_ledger = ""
    if any(each.batch not in since and each.rows != each.counted for each in unequal):
        of_ledger = f"; the ledger was last changed by version {_changed_by_people(spark, tables, 'warc_files')}"
    return (
        f"{tables.sql_name(TABLE)} and the ledger differ: {'; '.join(_describe(each, since) for each in unequal[:SHOWN])}"
        f"{f'; and {len(unequal) - SHOWN} more' if len(unequal) > SHOWN else ''}{of_ledger}"
    )


def _describe(difference: Difference, since: Mapping[int, str]) -> str:
    when = since.get(difference.batch, "")
    since_when = f" since version {when}" if when else ""
    if difference.rows == difference.counted:
        return f"batch {difference.batch} has {say_count(difference.rows, 'row')}, but of other pages than were read"
    return f"batch {difference.batch} has {say_count(difference.rows, 'row')} of {difference.counted}{since_when}"


def say_batches(numbers: Iterable[int]) -> str:
    """Return a phrase with the number of these batches, and the numbers of the first and the last
    batch."""
    listed = sorted(numbers)
    return f"batch {listed[0]}" if len(listed) == 1 else f"{len(listed)} batches ({listed[0]} to {listed[-1]})"


def find_changes(spark: SparkSession, tables: Tables, table: str, unequal: Sequence[Difference]) -> dict[int, str]:
    """Describe the table version that caused each difference, with operation and time. The
    descriptions are keyed by batch.

    Batches without a known version are left out.
    """
    counts: dict[int, dict[int, int]] = {}

    def rows_at(version: int) -> dict[int, int]:
        if version not in counts:
            counts[version] = rows_by_batch(tables.read(table, version)) if version >= 0 else {}
        return counts[version]

    changes_by_batch: dict[int, str] = {}
    # A version cannot be read if its log or its data was removed.
    with suppress(PySparkException, Py4JError):
        history = _history(spark, tables, table)
        # Operations by people come before operations by jobs. In each group, the newest comes
        # first.
        changes = [row for row in history if not row["operation"].startswith(_KEEPS_ROWS)]
        changes.sort(key=lambda row: (row["operation"] == "WRITE", -row["version"]))
        for row in islice(changes, _VERSIONS_TRIED):
            unexplained = [each for each in unequal if each.batch not in changes_by_batch]
            if not unexplained:
                break
            before, after = rows_at(row["version"] - 1), rows_at(row["version"])
            for each in unexplained:
                # If the ledger counts no rows of the batch, a run wrote them and the ledger was
                # changed later.
                is_of_ledger = row["operation"] == "WRITE" and not each.counted
                if before.get(each.batch, 0) == each.counted != after.get(each.batch, 0) and not is_of_ledger:
                    changes_by_batch[each.batch] = _change(row)
        if history and history[-1]["version"] == 0:
            first_change = _change(history[-1])
            fewer = [each.batch for each in unequal if each.rows < each.counted]
            changes_by_batch = dict.fromkeys(fewer, first_change) | changes_by_batch
    return changes_by_batch


def _history(spark: SparkSession, tables: Tables, table: str) -> list[dict[str, Any]]:
    """Return the table's versions, newest first."""
    at = F.unix_seconds("timestamp").alias("at")
    rows = spark.sql(f"DESCRIBE HISTORY {tables.sql_name(table)}").select("version", at, "operation", "userName")
    return sorted((row.asDict() for row in rows.collect()), key=lambda row: -row["version"])


def _changed_by_people(spark: SparkSession, tables: Tables, table: str) -> str:
    """Describe the newest table version that was not created by a run. Runs only write and
    merge."""
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
