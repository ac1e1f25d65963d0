"""The small tables of an output as rows: the storage interface for the lease, the ledger and
similar code.

The main operations are read, append, replace, amend and version. `SparkBooks` implements them on
Delta with Spark. Tests use in-memory implementations, in which the operations of several drivers
interleave in every possible order.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dripper.spark.tables.counts import BatchCounts, FileRows
from dripper.spark.tables.fence import Fence
from dripper.spark.tables.sql import quoted

Row = dict[str, Any]

UNKNOWN = -1
"""The version of a commit if the storage does not report it."""


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on rows, in SQL and in Python."""

    sql: str
    holds: Callable[[Mapping[str, Any]], bool]

    def __and__(self, other: "Where") -> "Where":
        return Where(f"({self.sql}) AND ({other.sql})", lambda row: self.holds(row) and other.holds(row))

    def __or__(self, other: "Where") -> "Where":
        return Where(f"({self.sql}) OR ({other.sql})", lambda row: self.holds(row) or other.holds(row))


_MOST_LOOKS = 8
"""Maximum number of times that rows are read if others keep changing them."""

EVERY_ROW = Where("TRUE", lambda row: True)


def among(column: str, values: Collection[str] | Collection[int]) -> Where:
    """Return the condition that a column has one of these values.

    >>> among("batch", [2, 1]).sql, among("batch", []).sql
    ('batch IN (1, 2)', 'FALSE')
    >>> among("run_id", ["a"]).holds({"run_id": "a"})
    True
    """
    allowed = frozenset(values)
    numbers = sorted(value for value in allowed if isinstance(value, int))
    texts = sorted(value for value in allowed if isinstance(value, str))
    listed = ", ".join([*map(str, numbers), *map(quoted, texts)])
    return Where(f"{column} IN ({listed})" if allowed else "FALSE", lambda row: row.get(column) in allowed)


def at_least(column: str, least: int) -> Where:
    """Return the condition that a column has this value or a higher one."""
    return Where(f"{column} >= {least}", lambda row: row.get(column) is not None and row[column] >= least)


def is_set(column: str) -> Where:
    """Return the condition that a column has a value."""
    return Where(f"{column} IS NOT NULL", lambda row: row.get(column) is not None)


def amend(books: "Books", table: str, where: Where, change: Callable[[Row], Row]) -> list[Row] | None:
    """Replace each row for which `where` holds with the result of `change`.

    If another driver writes a row between the read and the commit, that driver's write is kept, and
    the rows are read again.

    Args:
        change: Returns a row unmodified if the row needs no change, which includes rows already
            changed.

    Returns:
        The changed rows in their new form; None if others changed some rows meanwhile, so that only
        another read shows the current rows.

    Raises:
        RuntimeError: If others write first every time.
        BusyError: If another run has taken the lease.
    """
    for look in range(_MOST_LOOKS):
        rows = books.read(table, where)
        amended = [(row, new) for row in rows if (new := change(row)) != row]
        if not amended or books.amend(table, amended, where):
            return None if look else [new for _, new in amended]
        if books.fence is not None:
            books.fence.confirm()
    raise RuntimeError(f"{books.name(table)}: others change the same rows all the time; run the same command again")


class Books(Protocol):
    """A storage for versioned tables: every commit raises the version of its table by one.

    A commit is atomic. If another commit has changed the same rows meanwhile, the commit fails with
    a conflict (`dripper.spark.tables.fence`). While there is a fence, commits carry its numbers,
    and commits of a run that was shut out are skipped.
    """

    fence: Fence | None
    """The fence of the run that holds the lease; None: there is no run."""

    def read(self, table: str, where: Where = EVERY_ROW, columns: Sequence[str] = ()) -> list[Row]:
        """Return the rows for which `where` holds; no rows if there is no table.

        Args:
            columns: The columns to return, if the table has them; all columns if empty.
        """
        ...

    def append(self, table: str, rows: Sequence[Row], sequence: tuple[str, int] | None = None) -> int | None:
        """Add rows. Return the new version, UNKNOWN, or None if the commit was skipped.

        Args:
            sequence: A name and a number. Nothing is added if the table has seen this number or a
                higher one under that name. None: the next sequence of the run's fence, in which
                case UNKNOWN may be returned for a skipped commit.
        """
        ...

    def replace(self, table: str, rows: Sequence[Row], where: Where) -> int | None:
        """Replace the rows for which `where` holds. The condition must hold for the new rows, too.
        Returns the same as `append`."""
        ...

    def amend(self, table: str, amended: Sequence[tuple[Row, Row]], where: Where) -> bool:
        """Replace the first row of each pair with the second, if the first is unchanged since it
        was read. Return whether all of them were unchanged.

        Args:
            amended: Pairs of an old and a new row. The old row is a whole row that `read` returned
                and for which `where` held.
        """
        ...

    def version(self, table: str) -> int | None:
        """Return the number of the table's newest version; None if the storage does not report
        it."""
        ...

    def count_batches(self, table: str) -> BatchCounts:
        """Return the counts of each batch of the table."""
        ...

    def count_files(self, table: str, batches: Collection[int] | None) -> dict[tuple[int, str], FileRows]:
        """Return the counts of each archive file in these batches of a page table; None means all
        batches."""
        ...

    def shut_out(self, lanes: int) -> None:
        """Shut out all further commits by earlier runs in the first `lanes` lanes."""
        ...

    def name(self, table: str) -> str:
        """Return the table's name for messages."""
        ...
