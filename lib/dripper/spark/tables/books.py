"""The storage interface for the small tables of an output, such as the lease and the ledger.

`SparkBooks` implements it on Delta with Spark. Tests use in-memory implementations that interleave
the operations of several drivers in every possible order.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dripper.spark.tables.counts import BatchCounts, FileRows
from dripper.spark.tables.fence import Fence
from dripper.spark.tables.sql import quoted

Row = dict[str, Any]

UNKNOWN = -1
"""Version of a commit if the storage does not report it."""


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on rows, as SQL and as a Python function."""

    sql: str
    holds: Callable[[Mapping[str, Any]], bool]

    def __and__(self, other: "Where") -> "Where":
        return Where(f"({self.sql}) AND ({other.sql})", lambda row: self.holds(row) and other.holds(row))

    def __or__(self, other: "Where") -> "Where":
        return Where(f"({self.sql}) OR ({other.sql})", lambda row: self.holds(row) or other.holds(row))


_MOST_LOOKS = 8
"""Maximum number of attempts of `amend`, if other drivers keep changing the rows."""

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
    """Return the condition that a column has at least this value."""
    return Where(f"{column} >= {least}", lambda row: row.get(column) is not None and row[column] >= least)


def is_set(column: str) -> Where:
    """Return the condition that a column is not null."""
    return Where(f"{column} IS NOT NULL", lambda row: row.get(column) is not None)


def amend(books: "Books", table: str, where: Where, change: Callable[[Row], Row]) -> list[Row] | None:
    """Replace each row for which `where` holds with the result of `change`.

    If another driver changes a row between the read and the commit, that change is kept, and
    `amend` reads the rows again.

    Args:
        change: Returns the new row, or an equal row if there is nothing to change. If `change` gets
            a row that it has already changed, it must return an equal row.

    Returns:
        The new rows that were written; None if others changed some rows meanwhile. In that case,
            read the table again to get the current rows.

    Raises:
        RuntimeError: If other drivers change the rows during every attempt.
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
    """Storage for versioned tables. Every commit raises the version of its table by one.

    A commit is atomic. It fails with a conflict (`dripper.spark.tables.fence`) if another commit
    has changed the same rows meanwhile. If there is a fence, each commit carries a number from it,
    and commits of a run that was shut out are skipped.
    """

    fence: Fence | None
    """The fence of the run that holds the lease; None if there is no run."""

    def read(self, table: str, where: Where = EVERY_ROW, columns: Sequence[str] = ()) -> list[Row]:
        """Return the rows for which `where` holds. Return no rows if the table does not exist.

        Args:
            columns: The columns to return, if the table has them. If empty, all columns are
                returned.
        """
        ...

    def append(self, table: str, rows: Sequence[Row], sequence: tuple[str, int] | None = None) -> int | None:
        """Add rows. Return the new version, UNKNOWN, or None if the commit was skipped.

        Args:
            sequence: A name and a number. The commit is skipped if the table has already seen this
                number or a higher one under that name. If None, use the next sequence of the run's
                fence. In that case, UNKNOWN is sometimes returned even if the commit was skipped.
        """
        ...

    def replace(self, table: str, rows: Sequence[Row], where: Where) -> int | None:
        """Replace the rows for which `where` holds. Returns the same as `append`.

        The condition must hold for the new rows, too.
        """
        ...

    def amend(self, table: str, amended: Sequence[tuple[Row, Row]], where: Where) -> bool:
        """Replace rows that have not changed since they were read. Return whether all were
        unchanged.

        Args:
            amended: Pairs of an old and a new row. The old row must be complete, as returned by
                `read`, and `where` must hold for it.
        """
        ...

    def version(self, table: str) -> int | None:
        """Return the number of the table's newest version; None if unknown."""
        ...

    def count_batches(self, table: str) -> BatchCounts:
        """Return the counts of each batch in the table."""
        ...

    def count_files(self, table: str, batches: Collection[int] | None) -> dict[tuple[int, str], FileRows]:
        """Return the counts of each archive file in these batches of a page table.

        None means all batches.
        """
        ...

    def shut_out(self, lanes: int) -> None:
        """Block all further commits of earlier runs in the first `lanes` lanes."""
        ...

    def name(self, table: str) -> str:
        """Return the table's name for messages."""
        ...
