"""Tables in memory that behave as Delta's do when drivers meet: snapshots, conflicts, numbers of
transactions that were seen.

It is no part of the package: nothing but tests can use a storage that ends with its process.
"""

import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from pyspark.errors import PySparkException

from dripper.spark.tables.books import EVERY_ROW, Row, Where
from dripper.spark.tables.counts import BatchCounts, FileRows
from dripper.spark.tables.fence import Fence, persistently
from dripper.spark.tables.schemas import PARTITIONED
from dripper.spark.tables.store import BOOKS


def memory_key(page_id: str) -> int:
    """Return the number that is summed over the pages of a file; they have no hexadecimal ids
    here."""
    return zlib.crc32(page_id.encode())


Sequence_ = tuple[str, int] | None
Pause = Callable[[str], None]


@dataclass(frozen=True)
class Commit:
    """The changes of a commit to the data files of a table."""

    added: dict[int, tuple[Row, ...]]
    removed: frozenset[int]
    is_blind: bool
    """Whether it only appends, without reading rows."""
    sequence: Sequence_

    def hinders(self, earlier: "Commit", table: str) -> str | None:
        """Return how Delta calls it that `earlier` was first; None: the two get on."""
        if self.sequence and earlier.sequence and self.sequence[0] == earlier.sequence[0]:
            return "ConcurrentTransactionException"
        if self.removed & earlier.removed:
            return "ConcurrentDeleteDeleteException"
        if self.is_blind or earlier.is_blind:
            return None
        mine, others = (
            {row["batch"] if table in PARTITIONED else None for rows in commit.added.values() for row in rows}
            for commit in (self, earlier)
        )
        return "ConcurrentAppendException" if mine & others else None


@dataclass
class MemoryTable:
    """One table: its data files, and the commits that made them."""

    files: dict[int, tuple[Row, ...]] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    """By name, the highest number of a transaction."""

    def rows(self) -> list[Row]:
        """Return all rows, as copies."""
        return [dict(row) for rows in self.files.values() for row in rows]


class Storage:
    """The tables of an output, which several drivers share."""

    def __init__(self) -> None:
        self.tables: dict[str, MemoryTable] = {}
        self._last_file = 0

    def table(self, name: str) -> MemoryTable:
        """Return a table, which is there, empty, from the first look on."""
        return self.tables.setdefault(name, MemoryTable())

    def new_files(self, table: str, rows: Sequence[Row]) -> dict[int, tuple[Row, ...]]:
        """Return rows as data files: one, or one for each batch of a table that is partitioned."""
        groups: dict[object, list[Row]] = {}
        for row in rows:
            groups.setdefault(row["batch"] if table in PARTITIONED else None, []).append(dict(row))
        made = {}
        for group in groups.values():
            self._last_file += 1
            made[self._last_file] = tuple(group)
        return made


class MemoryBooks:
    """One driver's view of a storage; see `dripper.spark.tables.books.Books`.

    pause: called at points at which others can act in Delta: before the snapshot, between snapshot
    and commit, and after the commit, before the driver hears of it. It may raise.
    """

    def __init__(self, storage: Storage, pause: Pause, sleep: Callable[[float], None]) -> None:
        self._storage = storage
        self._pause = pause
        self._sleep = sleep
        self.fence: Fence | None = None

    def read(self, table: str, where: Where = EVERY_ROW, columns: Sequence[str] = ()) -> list[Row]:
        self._pause(f"read {table}")
        found = [row for row in self._storage.table(table).rows() if where.holds(row)]
        return [{name: row.get(name) for name in columns} for row in found] if columns else found

    def append(self, table: str, rows: Sequence[Row], sequence: Sequence_ = None) -> int | None:
        def change(_: MemoryTable) -> Commit:
            return Commit(self._storage.new_files(table, rows), frozenset(), True, None)

        return self._commit("append", table, change, sequence)

    def replace(self, table: str, rows: Sequence[Row], where: Where) -> int | None:
        for row in rows:
            assert where.holds(row), f"{row} is none of those that it replaces: {where.sql}"
        return self._commit("replace", table, lambda found: self._replaced(table, found, rows, where))

    def amend(self, table: str, amended: Sequence[tuple[Row, Row]], where: Where) -> bool:
        for old, _ in amended:
            assert where.holds(old), f"{old} is none of those that were read: {where.sql}"
        n_found: list[int] = []

        def change(found: MemoryTable) -> Commit:
            def new(row: Row) -> Row:
                return next((new for old, new in amended if old == row), row)

            touched = {number: file for number, file in found.files.items() if any(new(row) != row for row in file)}
            n_found.append(sum(new(row) != row for file in touched.values() for row in file))
            rows = [new(row) for file in touched.values() for row in file]
            return Commit(self._storage.new_files(table, rows), frozenset(touched), False, None)

        made = self._commit("amend", table, change)
        return made is not None and n_found[-1] == len(amended)

    def delete(self, table: str, where: Where) -> int | None:
        return self._commit("delete", table, lambda found: self._replaced(table, found, (), where))

    def version(self, table: str) -> int | None:
        return len(self._storage.table(table).commits)

    def count_batches(self, table: str) -> BatchCounts:
        counts: dict[int, int] = {}
        for row in self.read(table):
            counts[row["batch"]] = counts.get(row["batch"], 0) + 1
        return BatchCounts(counts)

    def count_files(self, table: str, batches: Collection[int] | None) -> dict[tuple[int, str], FileRows]:
        found: dict[tuple[int, str], FileRows] = {}
        for row in self.read(table):
            if batches is None or row["batch"] in batches:
                place = row["batch"], row["warc_file"]
                before = found.get(place, FileRows())
                found[place] = FileRows(before.rows + 1, 0, before.keys + memory_key(row["page_id"]))
        return found

    def shut_out(self, lanes: int) -> None:
        assert self.fence is not None
        for table in ("extractions", "forgotten", "relocated", "runs", "warc_files"):
            for lane in range(lanes):
                sequence = self.fence.sequence(lane)
                persistently(lambda: self._shut(table, sequence), self.fence.confirm, self._sleep)  # noqa: B023

    def name(self, table: str) -> str:
        return table

    def _shut(self, table: str, sequence: tuple[str, int]) -> None:
        self.append(table, (), sequence)

    def _replaced(self, table: str, found: MemoryTable, rows: Sequence[Row], where: Where) -> Commit:
        removed = {number for number, file in found.files.items() if any(map(where.holds, file))}
        stays = [row for number in removed for row in found.files[number] if not where.holds(row)]
        return Commit(self._storage.new_files(table, [*stays, *rows]), frozenset(removed), False, None)

    def _commit(
        self, what: str, table: str, change: Callable[[MemoryTable], Commit], sequence: Sequence_ = None
    ) -> int | None:
        if sequence is not None or self.fence is None:
            return self._attempt(what, table, change, sequence)
        made: list[int | None] = []
        with self.fence.lane(table) as lane:

            def attempt() -> None:
                made.append(self._attempt(what, table, change, lane))

            if table in BOOKS:
                persistently(attempt, self.fence.confirm, self._sleep)
            else:
                attempt()
        return made[-1]

    def _attempt(
        self, what: str, table: str, change: Callable[[MemoryTable], Commit], sequence: Sequence_
    ) -> int | None:
        self._pause(f"begin {what} {table}")
        found = self._storage.table(table)
        if sequence is not None and found.seen.get(sequence[0], -1) >= sequence[1]:
            return None
        at = len(found.commits)
        mine = replace(change(found), sequence=sequence)
        self._pause(f"commit {what} {table}")
        if what == "amend" and sequence is None and not mine.removed:
            return at  # Delta commits no MERGE that finds nothing, unless it has a number.
        for earlier in found.commits[at:]:
            if conflict := mine.hinders(earlier, table):
                raise PySparkException(f"{conflict}: another commit of {table} was first")
        for number in mine.removed:
            del found.files[number]
        found.files |= mine.added
        found.commits.append(mine)
        if sequence is not None:
            found.seen[sequence[0]] = sequence[1]
        # As of now, whatever others commit before this driver continues.
        version = len(found.commits)
        self._pause(f"after {what} {table}")
        return version
