"""One driver at a time: the table `runs` says who may write into an output.

A run begins by adding its row under the next number (`epoch`), which Delta lets only one driver do,
and from then on says now and then that it is alive. A second driver waits until it knows whether
the first one is; if so, it ends with a sentence. It goes by whether the first one's row changes
while it waits, and never by what a clock of another machine says. Where it takes over from a run
that did not end well, it first shuts out that one's commits (`dripper.spark.tables.fence`).
"""

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dripper.errors import BusyError, InputError, StorageError
from dripper.spark.tables.books import EVERY_ROW, UNKNOWN, Books, Row, Where, amend, among, at_least
from dripper.spark.tables.fence import RUNS, SPARK_ERRORS, Fence, is_conflict
from dripper.spark.tables.sql import first_line, is_full, reason

logger = logging.getLogger(__name__)

TABLE = RUNS
BEAT_SECONDS = 30.0
"""Seconds between the signs of life of a run: each is a commit of .2 s, and a run with nothing to
say may wait longer."""
SILENCE_SECONDS = 150.0
"""A run that is not heard of for so long, while another one waits for it, is lost: five beats,
which no pause of a garbage collector takes."""
_SEQUENCE = "dripper.runs"
_ENDED_WELL = (0, 4)
"""Exit codes of runs of which nothing can be under way any more."""
_at_work: set[str] = set()
"""The runs of this process, which are not dead as long as it lives, but over when they say so."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _awake_or_not() -> float:
    """Return seconds on this machine's clock that nobody sets, and that goes on while the machine
    sleeps: a run that slept was not heard of meanwhile."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Lease:
    """The right to write into one output: `take` it before the first commit, and `end` it however
    the run ended."""

    def __init__(
        self,
        books: Books,
        *,
        patience_seconds: float = SILENCE_SECONDS,
        beat_seconds: float = BEAT_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        holder: str | None = None,
        writers: int = 1,
        now: Callable[[], datetime] = _utc_now,
        awake: Callable[[], float] = _awake_or_not,
    ) -> None:
        """writers: commits of the run that may be under way at once. clock: seconds, for waiting.
        now: what this machine takes for the time. awake: see `_awake_or_not`."""
        self.run_id = uuid.uuid4().hex
        self._books = books
        self._patience = patience_seconds
        self._beat_seconds = beat_seconds
        self._sleep = sleep
        self._clock = clock
        self._writers = writers + 1  # The last one says that the run is alive.
        self._holder = holder or this_process()
        self._now = now
        self._awake = awake
        self._row: dict[str, Any] = {}
        self.rules_known = 0
        """The most rules of `forgotten` that a run before this one knew."""
        self._heard = 0.0
        self._newest_at: int | None = None
        """The version of `runs` at which this run was the newest; None: not known."""
        self._is_lost = False
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._beat_now_and_then, name="lease", daemon=True)

    def take(self, *, is_new: bool = False, **columns: Any) -> None:
        """Begin the run.

        Args:
            is_new: Whether this driver has made the table, so that nobody can have begun before
                it did.
            columns: More values of its row.

        Raises:
            BusyError: If another run holds the lease.
        """
        runs: list[dict[str, Any]] = [] if is_new else self._wait_for_others()
        try:
            self._begin(runs, columns)
        except BusyError:
            if not is_new:
                raise
            # Somebody came between, and may be through already.
            runs = self._wait_for_others()
            self._begin(runs, columns)
        self._heard = self._awake()
        _at_work.add(self.run_id)
        self._thread.start()
        try:
            self._take_over(runs)
        except BaseException as error:
            self.end("ended", exit_code=3, complaints=[f"{type(error).__name__}: {error}"[:1000]])
            raise

    def _begin(self, runs: Sequence[Mapping[str, Any]], columns: dict[str, Any]) -> None:
        """Add the run's row under the next number, later than any other run by its time of
        beginning."""
        self.rules_known = max((run["rules"] or 0 for run in runs), default=0)
        starts = [_milliseconds(run["started_at"]) for run in runs if run["started_at"]]
        started = max([_milliseconds(self._now()), *(one + 1 for one in starts)])
        now = datetime.fromtimestamp(started / 1000, UTC)
        row = {"run_id": self.run_id, "state": "running", "holder": self._holder, "writers": self._writers}
        self._row = row | {"started_at": now, "heard_at": now, "rules": self.rules_known} | columns
        last = max((run["epoch"] for run in runs), default=0)
        # Where rows were deleted, or the table restored, Delta still knows the higher numbers that
        # there were, and leaves out the row of a lower one. No counting has come as far as seconds.
        for epoch in (last + 1, max(last + 1, int(self._now().timestamp()))):
            self._row["epoch"] = epoch
            try:
                version = self._books.append(TABLE, [self._row], (_SEQUENCE, epoch))
            except SPARK_ERRORS as error:
                if is_conflict(error):
                    raise BusyError(_TAKEN) from error
                kind = StorageError if is_full(error) else InputError
                raise kind(f"cannot write to {self._books.name(TABLE)}: {first_line(error)}") from error
            # What was committed nobody else has the number of.
            if version is not None or self._is_newest():
                self._newest_at = None if version == UNKNOWN else version
                break
            if self._runs(at_least("epoch", epoch)):
                raise BusyError(_TAKEN)
        else:
            raise InputError(f"{self._books.name(TABLE)} takes no row: drop the table, and the run makes it anew")
        self._books.fence = Fence(started, self._writers, self.confirm)

    def _take_over(self, runs: Sequence[Mapping[str, Any]]) -> None:
        """Shut out earlier runs of which something may be under way, and note which of them are
        lost: in this order, as who comes next goes by the note."""
        if lanes := lanes_to_shut(runs):
            logger.info("commits of an earlier run, which did not end well, are shut out from now on")
            self._books.shut_out(lanes)
        if dead_runs := [run["run_id"] for run in runs if run["state"] == "running"]:
            self._newest_at = None
            amend(self._books, TABLE, among("run_id", dead_runs), _mark_lost)

    @property
    def is_first(self) -> bool:
        """Whether no run ever held this lease before, so that nobody has written into the
        output."""
        return bool(self._row) and self._row["epoch"] == 1

    def check(self) -> None:
        """Raise BusyError where the lease may have gone to another while this driver stood
        still."""
        if self._is_lost or self._awake() - self._heard > 2 * self._beat_seconds:
            self._beat()

    def confirm(self) -> None:
        """Raise BusyError unless this run may still write, which means that none of its commits was
        left out. Reads the table `runs`."""
        if self._is_lost or not self._is_newest():
            self._is_lost = True
            raise BusyError(
                "another run has taken this output over, as this one was not heard of for too long; what this one had not "
                "committed is left to that one, so wait for its end, then run the same command again"
            )

    def note_rules(self, number: int) -> None:
        """Note how many rules the table `forgotten` has, with the next sign of life."""
        self._row["rules"] = max(number, self.rules_known)

    def confirm_commits(self) -> None:
        """Confirm, if this run has committed anything: before it says that all of that is there."""
        if self._books.fence and self._books.fence.is_used:
            self.confirm()

    def end(self, state: str, **columns: Any) -> None:
        """Note how the run ended.

        Raises nothing: after the loss of the JVM or of the storage there is nothing to write with,
        and the next run finds that out.

        Args:
            columns: More values of its row.
        """
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.run_id not in _at_work:
            return
        now = self._now()
        try:
            with self._lock:
                self._row |= {"state": state, "heard_at": now, "ended_at": now} | columns
                if not (self._books.fence and self._books.fence.is_used):
                    self._row["writers"] = 0  # There is nothing that may come through late.
                if self._is_lost:
                    logger.warning("how the run ended is not noted, as another one has taken its output over")
                else:
                    self._write()
        except Exception as error:
            logger.warning("the run could not note how it ended, so the next one calls it lost: %s", reason(error))
        finally:
            _at_work.discard(self.run_id)

    def _wait_for_others(self) -> list[dict[str, Any]]:
        """Return all runs when none of them is at work any more; wait as long as it takes to
        know."""
        watched: dict[str, tuple[Any, float]] = {}
        while True:
            # Before the look: who stood still between the two has waited less than it seems, not
            # more.
            now = self._clock()
            runs = self._runs(EVERY_ROW)
            unknown = []
            for other in runs:
                if other["state"] != "running" or self._is_over(other):
                    continue
                last_beat, since = watched.setdefault(other["run_id"], (other["heard_at"], now))
                if other["heard_at"] != last_beat or is_alive(other["holder"], self._holder):
                    raise BusyError(_at_work_words(other))
                if now - since < self._patience:
                    unknown.append(other)
            if not unknown:
                return runs
            logger.info("waiting to see whether another run is alive: %s", _who(unknown[0]))
            self._sleep(min(5.0, self._patience / 4))

    def _is_over(self, other: Mapping[str, Any]) -> bool:
        """Whether a run that did not say that it ended is known to have done so."""
        if other["holder"] == self._holder == this_process():
            return other["run_id"] not in _at_work
        return is_dead(other["holder"], self._holder)

    def _runs(self, where: Where) -> list[dict[str, Any]]:
        columns = ("run_id", "epoch", "state", "holder", "started_at", "heard_at", "exit_code", "writers", "rules")
        return self._books.read(TABLE, where, columns)

    def _is_newest(self) -> bool:
        """Whether this run is the one that may write: under its number and all higher ones there is
        no other. The table is read only where it has changed since that was so."""
        version = self._books.version(TABLE)
        if version is not None and version == self._newest_at:
            return True
        runs = self._runs(at_least("epoch", self._row["epoch"]))
        is_newest = [(run["run_id"], run["state"]) for run in runs] == [(self.run_id, "running")]
        self._newest_at = version if is_newest else None
        return is_newest

    def _beat_now_and_then(self) -> None:
        while not self._stop.wait(self._beat_seconds):
            try:
                self._beat()
            except BusyError:
                logger.exception("the run stops before its next commit")
                return
            except Exception as error:
                logger.warning("the run could not say that it is alive: %s", first_line(error))

    def _beat(self) -> None:
        with self._lock:
            if self._stop.is_set():
                return
            awake_at = self._awake()
            self.confirm()
            self._row["heard_at"] = self._now()
            self._write()
            self._heard = awake_at

    def _write(self) -> None:
        version = self._books.replace(TABLE, [self._row], among("run_id", [self.run_id]))
        # By the version after the last, nobody else's commit came between.
        is_next = self._newest_at is not None and version == self._newest_at + 1
        self._newest_at = version if is_next else None


@contextmanager
def hold_lease(books: Books, job: str) -> Iterator[Lease]:
    """Hold the lease for a job that is no run, and note in the table `runs` how it ended.

    Raises BusyError where another run holds it.
    """
    lease = Lease(books)
    lease.take(job=job)
    ending: dict[str, Any] = {"state": "interrupted", "exit_code": 3}
    try:
        yield lease
        lease.confirm_commits()
        ending = {"state": "ended", "exit_code": 0}
    finally:
        lease.end(**ending)


def this_process() -> str:
    """Return who this driver is: machine, process, and when they were started, as far as they can
    be told apart."""
    return f"{socket.gethostname()} {_boot()} {os.getpid()} {_read_start_ticks(os.getpid())}"


def is_dead(holder: str, itself: str) -> bool:
    """Whether the driver `holder` is known to have ended: it ran on the machine of `itself`, and
    its process is not there."""
    return _same_machine(holder, itself) and not _is_there(holder)


def is_alive(holder: str, itself: str) -> bool:
    """Whether the driver `holder` is known to be at work, as its process is there, on the machine
    of `itself`."""
    return _same_machine(holder, itself) and _is_there(holder)


def _same_machine(holder: str, other: str) -> bool:
    return holder.split(" ")[:2] == other.split(" ")[:2] and "-" not in holder.split(" ")[1:2]


def _is_there(holder: str) -> bool:
    process, started = holder.split(" ")[2:4]
    return _read_start_ticks(int(process)) == started


def _boot() -> str:
    """Return which start of which machine and which space of process numbers this is; "-" where
    that is not told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return "-"


def _read_start_ticks(process: int) -> str:
    """Return when a process was started, in ticks of its machine's clock; "" where there is no such
    process."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def lanes_to_shut(runs: Sequence[Mapping[str, Any]]) -> int:
    """Return how many lanes earlier runs may still commit in: those that ended as they should have
    ended all their commits, and have shut out those before them.

    >>> ended = {"epoch": 1, "state": "ended", "exit_code": 0, "writers": 3}
    >>> lost = {"epoch": 2, "state": "lost", "exit_code": None, "writers": 2}
    >>> idle = {"epoch": 3, "state": "ended", "exit_code": 3, "writers": 0}
    >>> lanes_to_shut([ended]), lanes_to_shut([ended, lost]), lanes_to_shut([ended, idle])
    (0, 2, 0)
    """
    lanes = 0
    for run in sorted(runs, key=lambda run: -run["epoch"]):
        if run["state"] == "ended" and run["exit_code"] in _ENDED_WELL:
            break
        lanes = max(lanes, _lanes_of(run))
    return max([lanes, *(_lanes_of(run) for run in runs if run["state"] == "running")])


def _lanes_of(run: Mapping[str, Any]) -> int:
    return 1 if run["writers"] is None else int(run["writers"])


def _mark_lost(run: Row) -> Row:
    return run | {"state": "lost"} if run["state"] == "running" else run


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _who(other: Mapping[str, Any]) -> str:
    machine, _, process, _ = other["holder"].split(" ")
    return f"run {other['run_id']} (process {process} on {machine}, since {other['started_at']:%Y-%m-%d %H:%M} UTC)"


def _at_work_words(other: Mapping[str, Any]) -> str:
    return (
        f"another run is at work on this output: {_who(other)}; an output has one writer at a time, so wait for its end or "
        "stop it, then run the same command again"
    )


_TAKEN = "another run began on this output at the same moment; run the same command again when it has ended"
