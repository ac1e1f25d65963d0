"""Drivers of runs over tables in memory, which take turns under a test's control: each pauses
before and after every commit, and there it may be killed, or left for an hour.

They run the real code: lease, reconciliation, plan, ledger, isolation, the checks of batches. Only
the pages are made up: a file has some, named after its version.
"""

import threading
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.errors import PySparkException

from dripper.errors import BusyError
from dripper.spark.ledger.forgetting import begin, go_on
from dripper.spark.ledger.forgotten import NO_RULES, Rule, Rules, rules_of
from dripper.spark.ledger.inputs import Input
from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger, Report
from dripper.spark.ledger.plan import BatchSize, make_plan
from dripper.spark.ledger.reconcile import settle
from dripper.spark.ledger.relocated import (
    Move,
    check_not_moved,
    find_place,
    locate,
    note_move,
    read_moves,
    rename_to_first_names,
)
from dripper.spark.run.batch_checks import write_until_whole
from dripper.spark.run.isolation import Isolation
from dripper.spark.run.notes import Notes
from dripper.spark.tables.batches import Batch, PlannedFile, of_selections_apart, replaced_rows
from dripper.spark.tables.books import Row, among
from dripper.spark.tables.row_keys import WrongRowsError
from dripper.spark.workers.parts import FilePart, Tasks
from support.memory_books import MemoryBooks, Storage, memory_key
from support.memory_pages import MemoryPages, rule_of

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SILENCE_SECONDS = 150.0
TURN_SECONDS = 0.3


class Killed(BaseException):
    """The driver is gone, without any clean-up."""


@dataclass
class Archive:
    """A file that drivers read."""

    pages: int
    version: int = 1
    is_poison: bool = False
    """Whether it takes its worker down."""
    is_gone: bool = False
    size: int = 5

    def rows(self, name: str, batch: int) -> list[Row]:
        """Return its pages as rows of `extractions`."""
        return [{"page_id": f"{name} {self.version} {i}", "batch": batch, "warc_file": name} for i in range(self.pages)]


@dataclass(frozen=True)
class Given:
    """The orders of a driver."""

    names: frozenset[str]
    redo: frozenset[str]
    limit: int | None
    forget: frozenset[Rule]
    """Pages to forget; then it reads no files."""
    move: Move | None
    """The move to record; then it reads no files."""


@dataclass
class World:
    """The state that drivers share: tables, archives, and a clock that none of them sees."""

    archives: dict[str, Archive]
    """By their names: the address at which they were read first, with a number if others were there
    before."""
    moves: list[Move] = field(default_factory=list)
    """Their current addresses."""
    batch_files: int = 2
    storage: Storage = field(default_factory=Storage)
    seconds: float = 0.0
    drivers: list["Driver"] = field(default_factory=list)

    def driver(
        self,
        skew_seconds: float = 0.0,
        names: Collection[str] | None = None,
        redo: Collection[str] = (),
        limit: int | None = None,
        forget: Collection[str] = (),
        move: Move | None = None,
    ) -> "Driver":
        """Return a driver on its own machine, not yet started, with a clock error. names: its
        files; None: all. redo, limit: as in a run. forget: ids of pages; then it is a call of
        jobs/forget.py. move: then it is a call of jobs/relocate.py."""
        rules = frozenset(Rule("page_id", page_id) for page_id in forget)
        given = Given(frozenset(self.archives if names is None else names), frozenset(redo), limit, rules, move)
        made = Driver(self, f"machine-{len(self.drivers)} boot/1 {len(self.drivers)} 1", skew_seconds, given)
        self.drivers.append(made)
        return made

    def at(self, path: str) -> Archive:
        """Return the archive that is at an address now; one that is gone: there is none."""
        found = [each for name, each in self.archives.items() if find_place(name, self.moves) == path]
        assert len(found) < 2
        return found[0] if found else Archive(0, is_gone=True)

    def rows(self) -> list[Row]:
        """Return the rows of `extractions`."""
        return self.storage.table("extractions").rows()

    def ledger(self) -> dict[str, Row]:
        """Return the rows of the ledger by file; each file has one row."""
        rows = self.storage.table("warc_files").rows()
        by_file = {row["warc_file"]: row for row in rows}
        assert len(by_file) == len(rows), f"a file twice: {rows}"
        return by_file

    def assert_whole(self) -> None:
        """Every page of the newest version of every file is one row, except forgotten pages; there
        are no other rows, and the ledger agrees."""
        ledger = self.ledger()
        told = self.storage.table("forgotten").rows()
        assert {row["state"] for row in told} <= {"done"}
        rules = rules_of(told)
        expected = [
            row
            for name, archive in self.archives.items()
            if not (archive.is_poison or archive.is_gone)
            for row in archive.rows(name, ledger[name]["batch"])
            if not rule_of(rules, row)
        ]
        order = lambda row: row["page_id"]  # noqa: E731
        assert sorted(self.rows(), key=order) == sorted(expected, key=order)
        for name, archive in self.archives.items():
            if archive.is_poison:
                assert ledger[name]["state"] in ("planned", "set_aside")
            elif archive.is_gone:
                assert ledger[name]["state"] in ("failed", "set_aside")
            else:
                n_rows = sum(row["warc_file"] == name for row in expected)
                skipped = {"forgotten": archive.pages - n_rows} if n_rows < archive.pages else {}
                row = ledger[name]
                assert (row["state"], row["pages"], row["records"]) == ("done", n_rows, archive.pages)
                assert row["skipped"] == skipped


class Driver:
    """One run in a thread that continues only on command."""

    def __init__(self, world: World, holder: str, skew_seconds: float, given: Given) -> None:
        self.world = world
        self._given = given
        self.at = ""
        """The place of its pause: `begin append runs`, `commit …`, `after …`, `read …`, `sleep`."""
        self.wakes = 0.0
        self.outcome: BaseException | None = None
        """The exception that ended it; None: it finished."""
        self.failed: dict[int, str] = {}
        """Batches that it left, and why."""
        self._skew = timedelta(seconds=skew_seconds)
        self._go, self._stood = threading.Semaphore(0), threading.Semaphore(0)
        self._order: BaseException | None = None
        self._is_killed = False
        self._beat_at = 0.0
        self._new: set[int] = set()
        self._rules = NO_RULES
        self._is_beating = False
        self.books = MemoryBooks(world.storage, self._pause, self._sleep)
        self.lease = Lease(
            self.books,
            patience_seconds=SILENCE_SECONDS,
            sleep=self._sleep,
            clock=self._seconds,
            awake=self._seconds,
            now=lambda: EPOCH + self._skew + timedelta(seconds=world.seconds),
            holder=holder,
            writers=1,
        )
        self._thread = threading.Thread(target=self._live, daemon=True)
        self.has_begun = False

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or was killed."""
        return self.has_begun and not self._thread.is_alive()

    def turn(self, order: BaseException | None = None) -> str:
        """Let it continue to its next pause, and return the place; "": it is over. order: an
        exception to raise there instead."""
        if not self.has_begun:
            self.has_begun = True
            self._thread.start()
        else:
            self._order = order
            self._go.release()
        self._stood.acquire()
        self.world.seconds += TURN_SECONDS
        if self.at == "":
            self._thread.join()
        return self.at

    def kill(self) -> None:
        """End it at its pause."""
        self._is_killed = True
        self.lease._stop.set()
        if self.has_begun and not self.is_over:
            self.turn(Killed())

    def go_until(self, place: str, times: int = 1) -> None:
        """Let it continue until it pauses at a place for the given time."""
        while times:
            assert self.turn(), f"it ended before it came to {place}: {self.outcome!r}"
            times -= self.at == place

    def finish(self) -> None:
        """Let it go on to its end, asleep or not."""
        while not self.is_over:
            self.world.seconds = max(self.world.seconds, self.wakes)
            self.turn()

    def _live(self) -> None:
        self.at = "begin"
        try:
            self._work()
        except BaseException as error:
            self.outcome = error
        self.at = ""
        self._stood.release()

    def _pause(self, place: str) -> None:
        if self._is_killed:
            raise Killed
        self.at = place
        self._stood.release()
        self._go.acquire()
        order, self._order = self._order, None
        if order is not None:
            raise order
        self._beat_if_due()

    def _beat_if_due(self) -> None:
        """Do the work of the lease's own thread every half a minute, if no other beat is in
        progress."""
        is_held = bool(self.books.fence) and not self.lease._stop.is_set()
        if not is_held or self._is_beating or self.lease._lock.locked() or self._seconds() < self._beat_at:
            return
        self._is_beating, self._beat_at = True, self._seconds() + 30
        try:
            self.lease._beat()
        except (BusyError, PySparkException):
            pass  # It learns of it before the next commit.
        finally:
            self._is_beating = False

    def _seconds(self) -> float:
        return self.world.seconds

    def _sleep(self, seconds: float) -> None:
        self.wakes = self._seconds() + seconds
        self._pause("sleep")

    def _work(self) -> None:
        is_new = not self.world.storage.table("runs").commits
        self._pause("opened")
        self.lease.take(is_new=is_new, job="run")
        ending: dict[str, Any] = {"state": "interrupted", "exit_code": 3}
        try:
            ledger, pages = Ledger(self.books, self.lease.run_id), MemoryPages(self.books)
            found, _, self._rules = settle(self.books, pages, ledger, self.lease, self._given.forget)
            assert not found, f"rows are not as counted: {found}"
            if self._given.move:
                note_move(self.books, self._given.move, EPOCH + timedelta(seconds=self._seconds()))
            elif self._given.forget:
                self._forget(ledger, pages)
            else:
                self._read(ledger)
            self.lease.confirm_commits()
            counts = Ledger(self.books, "").counts()
            self.lease.confirm()  # Otherwise they may belong to another by now.
            assert ledger.counts() == counts, "what the ledger knows is what the table has"
            ending = {"state": "ended", "exit_code": 3 if self.failed else 0}
        finally:
            if not self._is_killed:
                self.lease.end(**ending)

    def _forget(self, ledger: Ledger, pages: MemoryPages) -> None:
        counted = pages.count(Rules(self._given.forget))
        self.lease.check()
        begin(self.books, counted, self._given.forget, {"request": self.lease.run_id})
        go_on(self.books, pages, ledger, self.lease.check, self.books.read("forgotten"))

    def _read(self, ledger: Ledger) -> None:
        named = {name: each for name, each in self.world.archives.items() if name in self._given.names}
        files = [
            PlannedFile(find_place(name, self.world.moves), each.size, f"etag:{each.version}")
            for name, each in named.items()
        ]
        entries, moves = ledger.entries(), read_moves(self.books)
        files = list(rename_to_first_names(Input(tuple(files)), moves, entries).files)
        entries = locate(entries, moves)
        check_not_moved(files, entries)
        size = BatchSize(self.world.batch_files, 1 << 40)
        redo, last = self._given.redo, ledger.last_batch
        plan = make_plan(files, entries, size, self._given.limit, redo=redo, last=last)
        ledger.record(plan)
        self._new = {batch.number for batch in plan.fresh}
        self._notes = Notes(ledger, self.lease.check, lambda _: None, self._seconds)
        isolation = Isolation(ledger, lambda: False)
        for batch in [*plan.resumed, *plan.fresh]:
            try:
                isolation.work_off(batch, _tasks, lambda part, _: self._attempt(part, ledger), self._give_up)
            except (PySparkException, RuntimeError) as error:
                self.failed[batch.number] = str(error)
        self.failed |= self._notes.finish()

    def _attempt(self, batch: Batch, ledger: Ledger) -> None:
        write_until_whole(lambda: self._write(batch, ledger), batch, lambda: False, self.lease.confirm)

    def _write(self, batch: Batch, ledger: Ledger) -> None:
        read = {file.warc_file: self.world.at(file.open_path) for file in batch.files}
        if any(each.is_poison for each in read.values()):
            raise RuntimeError("Python worker exited unexpectedly")
        read = {name: replace(each, pages=0 if each.is_gone else each.pages) for name, each in read.items()}
        self.lease.check()
        rows = [row for name, each in read.items() for row in each.rows(name, batch.number)]
        rows = [row for row in rows if not rule_of(self._rules, row)]
        is_first = batch.number in self._new
        self._new.discard(batch.number)
        is_told = False
        if is_first and not any(file.has_earlier_rows for file in batch.files):
            is_told = self.books.append("extractions", rows) is not None
        else:
            self.books.replace("extractions", rows, replaced_rows(batch))
        there = len(rows) if is_told else len(self.books.read("extractions", among("batch", [batch.number])))
        if there != len(rows):
            self.lease.confirm()
            raise WrongRowsError(f"{len(rows)} pages, {there} rows")
        n_rows = Counter(row["warc_file"] for row in rows)
        self._notes.add(batch, [_report(name, each, n_rows[name], self._rules) for name, each in read.items()])

    def _give_up(self, batch: Batch, why: str) -> None:
        if any(file.replaces is not None for file in batch.files):
            self.books.delete("extractions", replaced_rows(of_selections_apart(batch)))


def _tasks(batch: Batch) -> Tasks:
    return [[FilePart(file, 1)] for file in batch.files]


def _report(name: str, archive: Archive, n_rows: int, rules: Rules) -> Report:
    n_forgotten = archive.pages - n_rows
    counted: dict[str, Any] = {"records": archive.pages, "pages": n_rows, "failed_pages": 0, "n_problems": 0}
    kept = [row["page_id"] for row in archive.rows(name, 0) if not rule_of(rules, row)] if n_rows else []
    counted["page_keys"] = sum(map(memory_key, kept))
    counted["skipped"] = {"forgotten": n_forgotten} if n_forgotten else {}
    error = {"error": "it is gone", "error_kind": "gone"} if archive.is_gone else {"error": None, "error_kind": None}
    whole = {"clipped": False, "problems": [], "size_bytes": archive.size, "version": f"etag:{archive.version}"}
    return counted | whole | error | {"warc_file": name}
