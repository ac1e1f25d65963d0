"""Batches, the units of commit: their files, and the conditions for the rows that a batch's commit
replaces."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dripper.spark.tables.books import Where
from dripper.spark.tables.sql import quoted, within
from dripper.warc.index.select import Place

UNKNOWN_SIZE_BYTES = 1 << 30
"""Bytes counted for a file of unknown size, such as a file in a list: a Common Crawl WARC has about
1 GiB."""

REQUEST_BYTES = 1 << 18
"""Bytes counted for each single record, in addition to the record's own: a new request takes about
as long as reading another 256 KiB from an open one."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One archive file to read."""

    warc_file: str
    """The file's canonical address."""
    size_bytes: int | None = None
    """Stored size in bytes; None: not known."""
    version: str | None = None
    """The file's ETag or modification time (`dripper.warc.open.base.Source`); None: not known."""
    path: str | None = None
    """Path for opening the file; None: its canonical address."""
    replaces: int | None = None
    """The batch with the rows of an earlier reading, which the next reading replaces; None: there
    are no such rows."""
    attempts: int = 0
    """Readings that failed because of the file itself."""
    selection: str | None = None
    """Identity of a selection (`dripper.warc.index.select`) if only its records are read; None: all
    records are read."""
    places: tuple[Place, ...] = ()
    """The selection's records to read. The ledger does not store them, because they can be found
    again in the index."""
    n_before: int = 0
    """Number of the selection's records that are not in `places`, because another reading of the
    file left rows for them."""
    supersedes: tuple[int, ...] = ()
    """Batches with rows of selections from the file. The rows of a whole reading replace the rows
    of selections."""

    @property
    def key(self) -> "Key":
        """The key of the file's row in the ledger."""
        return self.warc_file, self.selection

    @property
    def has_earlier_rows(self) -> bool:
        """Whether the next reading replaces rows in other batches."""
        return self.replaces is not None or bool(self.supersedes)

    @property
    def weight(self) -> int:
        """Number of bytes that planning counts for the file."""
        if self.selection is not None:
            return sum(place.length + REQUEST_BYTES for place in self.places)
        return UNKNOWN_SIZE_BYTES if self.size_bytes is None else self.size_bytes

    @property
    def open_path(self) -> str:
        """The path to open."""
        return self.path or self.warc_file


Key = tuple[str, str | None]
"""A file's address, and the selection of its records (`PlannedFile.selection`)."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The unit of commit."""

    number: int
    files: tuple[PlannedFile, ...]
    state: str = "planned"
    """State that the batch has reached, one of `dripper.spark.ledger.plan.UNFINISHED`."""


def of_selections_apart(batch: Batch) -> Batch:
    """Return a copy of the batch that replaces no rows of selections."""
    return replace(batch, files=tuple(replace(file, supersedes=()) for file in batch.files))


def replaced_rows(batch: Batch) -> Where:
    """Return the condition for the rows that a commit of `batch` replaces.

    These are the rows with the batch's number, and the rows that earlier readings of its files left
    under other numbers. The first part of the condition makes Delta prune partitions, which it does
    only for a condition on `batch` alone.
    """
    again = {file.warc_file for file in batch.files if file.has_earlier_rows}
    touched, sql = touched_batches(batch), f"batch = {batch.number}"
    if again:
        sql = f"{within(touched)} AND ({sql} OR warc_file IN ({', '.join(map(quoted, sorted(again)))}))"

    def holds(row: Mapping[str, Any]) -> bool:
        return row["batch"] in touched and (row["batch"] == batch.number or row["warc_file"] in again)

    return Where(sql, holds)


def touched_batches(batch: Batch) -> set[int]:
    """Return the numbers of the batches in which a commit of `batch` adds or replaces rows."""
    replaced = {file.replaces for file in batch.files if file.replaces is not None}
    return {batch.number, *replaced, *(number for file in batch.files for number in file.supersedes)}
