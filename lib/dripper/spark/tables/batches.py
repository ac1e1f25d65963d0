"""Batches: groups of files that are committed as a unit, and the rows that such a commit
replaces."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dripper.spark.tables.books import Where
from dripper.spark.tables.sql import quoted, within
from dripper.warc.index.select import Place

UNKNOWN_SIZE_BYTES = 1 << 30
"""Size to assume for a file of unknown size, such as a file named in an @list. A Common Crawl WARC
has about 1 GiB."""

REQUEST_BYTES = 1 << 18
"""Bytes to add for each single record: a new request takes about as long as reading another 256 KiB
from an open request."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """An archive file to read."""

    warc_file: str
    """The file's canonical address."""
    size_bytes: int | None = None
    """Size of the file in storage; None if unknown."""
    version: str | None = None
    """The file's ETag or modification time (`dripper.warc.open.base.Source`); None if unknown."""
    path: str | None = None
    """Path to open the file; None if the path is the canonical address."""
    replaces: int | None = None
    """The batch that has rows from an earlier reading of the file; None if there are no such rows.
    The next reading replaces them."""
    attempts: int = 0
    """Number of readings that failed because of the file itself."""
    selection: str | None = None
    """Identity of a selection (`dripper.warc.index.select`) if only its records are read; None if
    all records are read."""
    places: tuple[Place, ...] = ()
    """The records of the selection to read. They are not stored in the ledger, because the index
    has them."""
    n_before: int = 0
    """Number of records of the selection that are left out of `places`, because another reading of
    the file already wrote rows for them."""
    supersedes: tuple[int, ...] = ()
    """Batches with rows from selections of this file. A reading of the whole file replaces these
    rows."""

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
        """Number of bytes to assume for planning."""
        if self.selection is not None:
            return sum(place.length + REQUEST_BYTES for place in self.places)
        return UNKNOWN_SIZE_BYTES if self.size_bytes is None else self.size_bytes

    @property
    def open_path(self) -> str:
        """The path to open."""
        return self.path or self.warc_file


Key = tuple[str, str | None]
"""Key of a row in the ledger: a file's address, and the identity of a selection or None."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A group of files that a run processes together and commits as a unit."""

    number: int
    files: tuple[PlannedFile, ...]
    state: str = "planned"
    """The last state that the batch reached, one of `dripper.spark.ledger.plan.UNFINISHED`."""


def of_selections_apart(batch: Batch) -> Batch:
    """Return a copy of the batch that does not replace the rows of selections."""
    return replace(batch, files=tuple(replace(file, supersedes=()) for file in batch.files))


def replaced_rows(batch: Batch) -> Where:
    """Return the condition for the rows that a commit of `batch` replaces.

    These are the rows with the batch's number, and the rows that earlier readings of its files
    wrote under other numbers. The condition begins with a condition on `batch` alone, because Delta
    needs one to prune partitions.
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
