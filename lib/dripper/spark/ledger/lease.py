"""The lease of an output: only one driver at a time may write. It is stored in the `runs` table.

To begin, a run adds its row under the next number (`epoch`). If two drivers try this, Delta lets
only one of them succeed. From then on, the run regularly writes a heartbeat to its row.

A second driver watches the first driver's row until it knows whether the first driver is alive. It
looks only for changes of the row, and never relies on another machine's clock. If the first driver
is alive, the second driver fails with an error message. If a driver takes over from a run that did
not end well, it first shuts out that run's commits (`dripper.spark.tables.fence`).
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
from dripper.spark.tables.fence import RUNS, SPARK_ERRORS, Fence, find_conflict
from dripper.spark.tables.sql import first_line, is_full, reason

logger = logging.getLogger(__name__)

TABLE = RUNS
BEAT_SECONDS = 30.0
"""Seconds between a run's heartbeats. Each heartbeat is a commit that takes 0.2 s."""
SILENCE_SECONDS = 150.0
"""Seconds without a heartbeat after which another run is considered lost. This is the time of five
heartbeats, longer than any garbage collector pause."""
_SEQUENCE = "dripper.runs"
_ENDED_WELL = (0, 4)
"""Exit codes of runs that cannot have commits in progress."""
_at_work: set[str] = set()
"""The runs of this process that have not ended. A process may outlive its run, so a living process
does not prove that the run is active."""


def _awake_or_not() -> float:
    """Return seconds from a monotonic clock that keeps running while the machine sleeps.

    A sleeping run sends no heartbeats, so this time must count.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Lease:
    """The right to write to an output.

    Call `take` before the first commit, and `end` in every case, even after an error.
    """

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
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        awake: Callable[[], float] = _awake_or_not,
    ) -> None:
        """writers: maximum number of concurrent commits of the run. clock: returns seconds, for
        waiting. now: returns the time on this machine's clock. awake: see `_awake_or_not`."""
        self.run_id = uuid.uuid4().hex
        self._books = books
        self._patience = patience_seconds
        self._beat_seconds = beat_seconds
        self._sleep = sleep
        self._clock = clock
        self._writers = writers + 1  # One more, for heartbeats.
        self._holder = holder or this_process()
        self._now = now
        self._awake = awake
        self._row: dict[str, Any] = {}
        self.rules_known = 0
        """The largest number of rules in `forgotten` that an earlier run saw."""
        self._heard = 0.0
        self._newest_at: int | None = None
        """The version of `runs` in which this run was last known to be the newest; None if
        unknown."""
        self._is_lost = False
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._beat_now_and_then, name="lease", daemon=True)

    def take(self, *, is_new: bool = False, **columns: Any) -> None:
        """Begin the run.

        Args:
            is_new: Whether this driver created the table, so that no other run can have begun
                before.
            columns: More values for the run's row.

        Raises:
            BusyError: If another run holds the lease.
        """
        runs: list[dict[str, Any]] = [] if is_new else self._wait_for_others()
        try:
            self._begin(runs, columns)
        except BusyError:
            if not is_new:
                raise
            # Another run began in the meantime, and may already have ended.
            runs = self._wait_for_others()
            self._begin(runs, columns)
        self._heard = self._awake()
        _at_work.add(self.run_id)
        self._thread.start()
        try:
            self._take_over(runs)
        except BaseException as error:
            # Record this run as one that could commit, so that the next run still shuts out the
            # earlier runs.
            complaints = [f"{type(error).__name__}: {error}"[:1000]]
            self.end("ended", exit_code=3, complaints=complaints, writers=self._writers)
            raise

    def _begin(self, runs: Sequence[Mapping[str, Any]], columns: dict[str, Any]) -> None:
        """Add the run's row under the next number, with a later start time than every earlier
        run."""
        self.rules_known = max((run["rules"] or 0 for run in runs), default=0)
        starts = [_milliseconds(run["started_at"]) for run in runs if run["started_at"]]
        started = max([_milliseconds(self._now()), *(one + 1 for one in starts)])
        now = datetime.fromtimestamp(started / 1000, UTC)
        row = {"run_id": self.run_id, "state": "running", "holder": self._holder, "writers": self._writers}
        self._row = row | {"started_at": now, "heard_at": now, "rules": self.rules_known} | columns
        last = max((run["epoch"] for run in runs), default=0)
        # If rows were deleted or the table was restored, Delta still knows the higher numbers of
        # earlier runs, and skips a row with a lower number. The second attempt therefore uses the
        # Unix time in seconds, which is higher than any number of runs.
        for epoch in (last + 1, max(last + 1, int(self._now().timestamp()))):
            self._row["epoch"] = epoch
            try:
                version = self._books.append(TABLE, [self._row], (_SEQUENCE, epoch))
            except SPARK_ERRORS as error:
                if find_conflict(error):
                    raise BusyError(_TAKEN) from error
                kind = StorageError if is_full(error) else InputError
                raise kind(f"cannot write to {self._books.name(TABLE)}: {first_line(error)}") from error
            # If the row was committed, no other run has the same number.
            if version is not None or self._is_newest():
                self._newest_at = None if version == UNKNOWN else version
                break
            if self._runs(at_least("epoch", epoch)):
                raise BusyError(_TAKEN)
        else:
            raise InputError(
                f"{self._books.name(TABLE)} cannot be written to: drop it, and the next run creates it again "
                "without the history of runs"
            )
        self._books.fence = Fence(started, self._writers, self.confirm)

    def _take_over(self, runs: Sequence[Mapping[str, Any]]) -> None:
        """Shut out earlier runs that may have commits in progress, and then mark dead runs as lost.

        The order matters, because the next run relies on the mark.
        """
        if lanes := lanes_to_shut(runs):
            logger.info("commits of an earlier run, which did not end well, are shut out from now on")
            self._books.shut_out(lanes)
        if dead_runs := [run["run_id"] for run in runs if run["state"] == "running"]:
            # Hold the lock, because this commit would conflict with a heartbeat.
            with self._lock:
                self._newest_at = None
                amend(self._books, TABLE, among("run_id", dead_runs), _mark_lost)

    @property
    def is_first(self) -> bool:
        """Whether no run has held this lease before, and thus nobody has written to the output."""
        return bool(self._row) and self._row["epoch"] == 1

    def check(self) -> None:
        """Raise BusyError if another run has taken the lease, for example while this machine slept.

        The table is read only if this run has sent no heartbeat for a while.
        """
        if self._is_lost or self._awake() - self._heard > 2 * self._beat_seconds:
            self._beat()

    def confirm(self) -> None:
        """Raise BusyError unless this run is still allowed to write.

        If no error is raised, none of the run's commits was skipped. The `runs` table is read only
        if it has changed.
        """
        if self._is_lost or not self._is_newest():
            self._is_lost = True
            raise BusyError(
                "another run has taken this output over, as this one was not heard of for too long; what this one had not "
                "committed is left to that one, so wait for its end, then run the same command again"
            )

    def note_rules(self, number: int) -> None:
        """Write the number of rules in `forgotten` to the run's row with the next heartbeat."""
        self._row["rules"] = max(number, self.rules_known)

    def confirm_commits(self) -> None:
        """Call `confirm` if this run has committed anything.

        Call this before the run reports its commits as written.
        """
        if self._books.fence and self._books.fence.is_used:
            self.confirm()

    def end(self, state: str, **columns: Any) -> None:
        """Record how the run ended.

        Raises nothing. If the JVM or the storage is gone, the run cannot write, and the next run
        will detect this.

        Args:
            columns: More values for the run's row.
        """
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.run_id not in _at_work:
            return
        now = self._now()
        try:
            with self._lock:
                # If the fence was not used, no commit can arrive late.
                writers = self._writers if self._books.fence and self._books.fence.is_used else 0
                self._row |= {"state": state, "heard_at": now, "ended_at": now, "writers": writers} | columns
                if self._is_lost:
                    logger.warning("how the run ended is not noted, as another one has taken its output over")
                else:
                    self._write()
        except Exception as error:
            logger.warning("the run could not note how it ended, so the next one calls it lost: %s", reason(error))
        finally:
            _at_work.discard(self.run_id)

    def _wait_for_others(self) -> list[dict[str, Any]]:
        """Wait until no other run can be active, and return all runs.

        Raises BusyError if another run is active.
        """
        watched: dict[str, tuple[Any, float]] = {}
        while True:
            # Measure the silence from the end of the first read to the start of the last read. A
            # pause of this driver during a read must not count.
            now = self._clock()
            runs = self._runs(EVERY_ROW)
            unknown = []
            for other in runs:
                if other["state"] != "running" or self._is_over(other):
                    continue
                last_beat, since = watched.setdefault(other["run_id"], (other["heard_at"], self._clock()))
                if other["heard_at"] != last_beat or is_alive(other["holder"], self._holder):
                    raise BusyError(_at_work_words(other))
                if now - since < self._patience:
                    unknown.append(other)
            if not unknown:
                return runs
            logger.info("waiting to see whether another run is alive: %s", _who(unknown[0]))
            self._sleep(min(5.0, self._patience / 4))

    def _is_over(self, other: Mapping[str, Any]) -> bool:
        """Return whether another run has certainly ended, although it did not record its end."""
        if other["holder"] == self._holder == this_process():
            return other["run_id"] not in _at_work
        return is_alive(other["holder"], self._holder) is False

    def _runs(self, where: Where) -> list[dict[str, Any]]:
        columns = ("run_id", "epoch", "state", "holder", "started_at", "heard_at", "exit_code", "writers", "rules")
        return self._books.read(TABLE, where, columns)

    def _is_newest(self) -> bool:
        """Return whether this run is allowed to write: no other run has the same or a higher
        number.

        The table is read only if it has changed since this last returned True.
        """
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
        # If this version directly follows the last one, nobody else has committed in between.
        is_next = self._newest_at is not None and version == self._newest_at + 1
        self._newest_at = version if is_next else None


@contextmanager
def hold_lease(books: Books, job: str) -> Iterator[Lease]:
    """Hold the lease for a job that is not a run, and record in the `runs` table how it ended.

    Raises BusyError if another run holds the lease.
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
    """Return a string that identifies this driver, as far as the system allows.

    It consists of the host name, the boot ID, the process ID and the process's start time.
    """
    return f"{socket.gethostname()} {_boot()} {os.getpid()} {_read_start_ticks(os.getpid())}"


def is_alive(holder: str, itself: str) -> bool | None:
    """Return whether the process of the driver `holder` exists; None if unknown.

    The result is None, for example, if `holder` and `itself` are on different machines.
    """
    words = holder.split(" ")
    if len(words) != 4 or words[:2] != itself.split(" ")[:2] or words[1] == "-":
        return None
    return _read_start_ticks(int(words[2])) == words[3]


def _boot() -> str:
    """Return the machine's boot ID and the process's PID namespace; "-" if they are unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return "-"


def _read_start_ticks(process: int) -> str:
    """Return the start time of a process in clock ticks since boot; "" if there is no such
    process."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def lanes_to_shut(runs: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of lanes (`dripper.spark.tables.fence`) in which earlier runs could still
    commit.

    A run that ended well, or that committed nothing, has no commits in progress, and has shut out
    the runs before it.

    >>> ended = {"epoch": 1, "state": "ended", "exit_code": 0, "writers": 3}
    >>> lost = {"epoch": 2, "state": "lost", "exit_code": None, "writers": 2}
    >>> idle = {"epoch": 3, "state": "ended", "exit_code": 3, "writers": 0}
    >>> lanes_to_shut([ended]), lanes_to_shut([ended, lost]), lanes_to_shut([ended, lost, idle])
    (0, 2, 0)
    """
    lanes = 0
    for run in sorted(runs, key=lambda run: -run["epoch"]):
        if run["writers"] == 0 or (run["state"] == "ended" and run["exit_code"] in _ENDED_WELL):
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
