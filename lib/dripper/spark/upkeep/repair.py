"""Repairs `extractions` and the ledger after people have changed one of them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from dripper.spark.ledger.lease import Lease, hold_lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import UNFINISHED, LedgerEntry, Plan, batches_of
from dripper.spark.ledger.reconcile import TABLE, are_rows_of, say_batches, settle
from dripper.spark.tables.batches import Batch
from dripper.spark.tables.books import Books
from dripper.spark.tables.counts import FileRows
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.sql import quoted, within
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep.forget import SparkPages
from dripper.spark.wording import list_names, say_count


def repair(spark: SparkSession, output: str) -> Iterator[str]:
    """Repair differences between the ledger and `extractions`. Yield sentences about the result.

    A file is planned again if its rows do not match the ledger. Rows of outdated readings are
    deleted. A file that the ledger does not know is added to the ledger, with counts from the
    file's rows.

    Raises:
        BusyError: If a run is active.
        InputError: If there is no table.
    """
    tables = Tables(spark, output)
    tables.require(TABLE, "warc_files")
    for table in (TABLE, "warc_files", "runs"):
        tables.create(table)
    books = SparkBooks(spark, tables)
    with hold_lease(books, job="repair") as lease:
        yield from _repair(tables, books, Ledger(books, lease.run_id), lease)


def _repair(tables: Tables, books: Books, ledger: Ledger, lease: Lease) -> Iterator[str]:
    pages = SparkPages(tables)
    unequal, counts, _ = settle(books, pages, ledger, lease)
    if counts.lost:
        # The condition is only on the partition, so Delta reads no data files.
        tables.delete(TABLE, within(counts.lost))
        name = tables.sql_name(TABLE)
        yield f"{say_batches(counts.lost)} of {name}, of which data files are gone from storage, cleared"
        unequal, counts, _ = settle(books, pages, ledger, lease)
    entries = ledger.entries()
    if not unequal:
        yield f"{tables.sql_name(TABLE)}: every batch has the rows that the ledger counts, nothing to repair"
        return
    mended = choose_repairs(
        entries, {each.batch for each in unequal}, books.count_files(TABLE, {each.batch for each in unequal})
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
        them = "it" if len(mended.again) == 1 else "them"
        yield f"{say_count(len(mended.again), 'file', 'is')} planned again, {names}: give {them} to the next run"


@dataclass(frozen=True, slots=True)
class _Repairs:
    """The changes that a repair makes."""

    again: list[LedgerEntry]
    """Files to read again. `replaces` is the batch with the rows that the next reading replaces."""
    unknown: list[dict[str, Any]]
    """New rows for the ledger."""
    outdated: list[tuple[int, str]]
    """The (batch, file) pairs with rows to delete."""


def choose_repairs(
    entries: Sequence[LedgerEntry], batches: set[int], row_counts: Mapping[tuple[int, str], FileRows]
) -> _Repairs:
    """Return the changes that repair these batches.

    `row_counts` are the counts of each file's rows in these batches.
    """
    at: dict[tuple[int, str], list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        at[entry.batch, entry.file.warc_file].append(entry)
    # Do not repair files in progress. A run will replace their rows anyway.
    on_their_way = [entry for entry in entries if entry.state in UNFINISHED]
    left_alone = {(n, entry.file.warc_file) for entry in on_their_way for n in batches_of(entry)}
    replacing = {entry.file.warc_file for entry in on_their_way if entry.file.selection is None}
    again, outdated = [], []
    for (batch, name), readings in sorted(at.items()):
        is_whole = are_rows_of(readings, row_counts.get((batch, name), FileRows()))
        if batch not in batches or is_whole or name in replacing or (batch, name) in left_alone:
            continue
        again += [replace(entry, file=replace(entry.file, replaces=batch)) for entry in readings if entry.pages]
        outdated += [(batch, name)] if not any(entry.pages for entry in readings) else []
    ledger_names = {entry.file.warc_file for entry in entries}
    strangers = sorted(place for place in row_counts if place not in at and place not in left_alone)
    outdated += [place for place in strangers if place[1] in ledger_names]
    for i, entry in enumerate(again):
        # If the rows of the file's last reading are gone, keep rows of an older reading until the
        # next run replaces them.
        instead = [place for place in outdated if place[1] == entry.file.warc_file]
        if instead and (entry.batch, entry.file.warc_file) not in row_counts:
            again[i] = replace(entry, file=replace(entry.file, replaces=instead[-1][0]))
            outdated.remove(instead[-1])
    return _Repairs(
        again, _rebuild_rows([place for place in strangers if place[1] not in ledger_names], row_counts), outdated
    )


def _rebuild_rows(
    places: Sequence[tuple[int, str]], row_counts: Mapping[tuple[int, str], FileRows]
) -> list[dict[str, Any]]:
    """Return ledger rows for files that the ledger does not know.

    A file with rows in several batches was read by selections. Reading the whole file replaces
    these selections.
    """
    times = Counter(name for _, name in places)
    return [
        {
            "warc_file": name,
            "batch": batch,
            "pages": row_counts[batch, name].rows,
            "failed_pages": row_counts[batch, name].failed,
            "page_keys": row_counts[batch, name].keys,
            "selection": f"rebuilt {batch}" if times[name] > 1 else None,
        }
        for batch, name in places
    ]


def _split_by_batch(entries: Sequence[LedgerEntry], ledger: Ledger) -> list[Batch]:
    """Return new batches for the files, one for each old batch."""
    by_batch: dict[int, list[LedgerEntry]] = defaultdict(list)
    for entry in entries:
        by_batch[entry.batch].append(entry)
    first = ledger.last_batch + 1
    return [
        Batch(first + i, tuple(replace(entry.file, attempts=0) for entry in group))
        for i, (_, group) in enumerate(sorted(by_batch.items()))
    ]
