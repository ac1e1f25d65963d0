"""Writes the conditions for the rows of a table that a commit of a batch replaces."""

from collections.abc import Collection, Mapping
from typing import Any

from dripper.spark.ledger.plan import Batch
from dripper.spark.tables.books import Where
from dripper.spark.tables.sql import quoted


def replaced_rows(batch: Batch) -> str:
    """Return the SQL condition for the rows that a commit of `batch` replaces.

    Those of its number; and those that an earlier reading of its files left under other numbers.
    The first part prunes partitions, which Delta does for a condition on `batch` alone.
    """
    again = [file for file in batch.files if file.has_earlier_rows]
    if not again:
        return f"batch = {batch.number}"
    names = [file.warc_file for file in again]
    of_files = f"warc_file IN ({', '.join(map(quoted, names))})"
    return f"{within(touched_batches(batch))} AND (batch = {batch.number} OR {of_files})"


def replaced(batch: Batch) -> Where:
    """Return the condition of `replaced_rows`, which can be asked of a row, too."""
    again = {file.warc_file for file in batch.files if file.has_earlier_rows}
    touched = touched_batches(batch)

    def holds(row: Mapping[str, Any]) -> bool:
        return row["batch"] in touched and (row["batch"] == batch.number or row["warc_file"] in again)

    return Where(replaced_rows(batch), holds)


def touched_batches(batch: Batch) -> set[int]:
    """Return the numbers of the batches in which a commit of `batch` puts or replaces rows."""
    replaced = {file.replaces for file in batch.files if file.replaces is not None}
    return {batch.number, *replaced, *(number for file in batch.files for number in file.supersedes)}


def within(numbers: Collection[int]) -> str:
    """Return the SQL condition for the rows of these batches.

    >>> within([]), within([2, 1])
    ('FALSE', 'batch IN (1, 2)')
    """
    return f"batch IN ({', '.join(map(str, sorted(numbers)))})" if numbers else "FALSE"
