"""The small tables of an output as rows: what the lease, the ledger and the like need of a storage.

Six operations: read, append, replace, amend, delete, version. `SparkBooks` does them on Delta with
Spark; tests have others in memory, where drivers meet in every order there is.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dripper.spark.tables.counts import BatchCounts, FileRows
from dripper.spark.tables.fence import Fence
from dripper.spark.tables.sql import quoted

Row = dict[str, Any]

UNKNOWN = -1
"""The version of a commit where the storage does not tell it."""


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on rows: as SQL, and in Python."""

    sql: str
    holds: Callable[[Mapping[str, Any]], bool]

    def __and__(self, other: "Where") -> "Where":
        return Where(f"({self.sql}) AND ({other.sql})", lambda row: self.holds(row) and other.holds(row))

    def __or__(self, other: "Where") -> "Where":
        return Where(f"({self.sql}) OR ({other.sql})", lambda row: self.holds(row) or other.holds(row))


_MOST_LOOKS = 8
"""Most looks at rows that others change meanwhile."""

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
    """Return the condition that a column has this value, or a higher one."""
    return Where(f"{column} >= {least}", lambda row: row.get(column) is not None and row[column] >= least)


def is_set(column: str) -> Where:
    """Return the condition that a column has a value."""
    return Where(f"{column} IS NOT NULL", lambda row: row.get(column) is not None)


def amend(books: "Books", table: str, where: Where, change: Callable[[Row], Row]) -> list[Row] | None:
    """Put in the place of each row for which `where` holds what `change` makes of it.

    What another writes between the look at a row and the commit stays: the row is looked at again.

    Args:
        change: Returns a row that needs no change as it is, so also one that it has made.

    Returns:
        The rows that were changed, as they are now; None: others changed some meanwhile, so that it
        takes another look to know.

    Raises:
        RuntimeError: If others are faster each time.
        BusyError: If the lease has gone to another.
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
    """A storage of tables, each of which has versions that rise by one with every commit.

    A commit happens as a whole or not at all. One whose rows were changed by another meanwhile
    fails as a conflict (`dripper.spark.tables.fence`). While there is a fence, commits bear its
    numbers, and those of a run that was shut out are left out.
    """

    fence: Fence | None
    """Fence of the run that holds the lease; None: there is no run."""

    def read(self, table: str, where: Where = EVERY_ROW, columns: Sequence[str] = ()) -> list[Row]:
        """Return the rows for which `where` holds.

        Args:
            columns: Those of them that the table has; none: all. There are none where there is
                no table.
        """
        ...

    def append(self, table: str, rows: Sequence[Row], sequence: tuple[str, int] | None = None) -> int | None:
        """Add rows. Return the version that this makes, UNKNOWN, or None where the commit was left
        out.

        Args:
            sequence: A name and a number; nothing is added where the table has seen this number
                or a higher one of that name. None: those of the run's fence, where what is left out
                may be told as UNKNOWN.
        """
        ...

    def replace(self, table: str, rows: Sequence[Row], where: Where) -> int | None:
        """Put rows in the place of those for which `where` holds, as it does for them. Returns as
        `append`."""
        ...

    def amend(self, table: str, amended: Sequence[tuple[Row, Row]], where: Where) -> bool:
        """Put the second row of each pair in the place of the first, where that one is still as it
        was read; return whether all were.

        Args:
            amended: Whole rows, as `read` has them, for which `where` held; and what they become.
        """
        ...

    def delete(self, table: str, where: Where) -> int | None:
        """Delete the rows for which `where` holds. Returns as `append`."""
        ...

    def version(self, table: str) -> int | None:
        """Return the number of the newest version; None where the storage does not tell it."""
        ...

    def count_batches(self, table: str) -> BatchCounts:
        """Return what the table has of each batch."""
        ...

    def count_files(self, table: str, batches: Collection[int] | None) -> dict[tuple[int, str], FileRows]:
        """Return what these batches of a table of pages have of each archive file; None: what all
        have."""
        ...

    def shut_out(self, lanes: int) -> None:
        """Let no commit of an earlier run come through any more, in so many lanes."""
        ...

    def name(self, table: str) -> str:
        """Return what people call the table."""
        ...
