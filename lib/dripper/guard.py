"""Runs work in a child process with limits. A page that hangs, exhausts memory or crashes the
process therefore causes one error instead of a failed task.

The child is forked once and reused, and the kernel enforces its limits. Signals would not be
enough, because they cannot interrupt lxml: a one-second SIGALRM fired after 30 s inside an XPath.
Spark's own idle limit kills the worker, but the next worker hangs on the same page.

CPU time is the main limit. Limits on wall time misfire on busy machines, so the wall limit is
generous, and a page that exceeds it gets a second try.
"""

import contextlib
import faulthandler
import gc
import logging
import math
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Generic, TypeVar

from dripper.errors import ErrorCode, PageError, UsageError
from dripper.settings import LimitSettings

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

_STATM = Path("/proc/self/statm")
_LOOK_SECONDS = 15
"""Maximum seconds between two checks by a watchdog. A hung process therefore ends soon after its
time limit."""
_STDERR = 2
_OOM_SCORE = Path("/proc/self/oom_score_adj")


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """The limits for one item: CPU seconds, wall seconds, and the number of bytes by which the
    child's address space is allowed to grow beyond its initial size."""

    cpu_seconds: int
    wall_seconds: float
    memory_bytes: int

    @classmethod
    def of(cls, limits: LimitSettings) -> "GuardLimits":
        """Return the limits for one page from the settings."""
        return cls(limits.page_cpu_seconds, limits.page_wall_seconds, limits.page_memory_bytes)


class Again(Enum):
    """The value that `Guard.result` returns while an item is being tried a second time."""

    AGAIN = "again"


class Guard(Generic[Item, Result]):
    """Calls `work` on one item at a time in a forked child. The child starts on the first call and
    is reused.

    `work` is inherited by fork, not pickled, so load models before the first call. Items and
    results are pickled. Linux enforces all limits; macOS cannot limit the address space. Use the
    guard as a context manager, or call `close`.
    """

    def __init__(self, work: Callable[[Item], Result], limits: GuardLimits) -> None:
        _say_if_too_low(limits)
        self._work = work
        self._limits = limits
        self._child: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._in_hand: list[Item] = []
        self._tries = 0
        self._deadline = 0.0

    def __enter__(self) -> "Guard[Item, Result]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, item: Item) -> Result:
        """Return `work(item)`.

        Raises PageError with TIME_LIMIT, MEMORY_LIMIT, CRASHED (two children died while processing
        the item) or INTERNAL (an unexpected exception in `work`). A PageError or UsageError that
        `work` raises propagates.
        """
        self.start(item)
        while (result := self.result()) is Again.AGAIN:
            pass
        return result

    def start(self, item: Item) -> None:
        """Send `item` to the child and return immediately. Call `result` before the next
        `start`."""
        self._in_hand, self._tries = [item], 0
        self._send()

    def result(self) -> Result | Again:
        """Wait for the child, then return the item's result, or AGAIN if the child died and a new
        child is now processing the item. Raises the same errors as `call`."""
        try:
            outcome = self._receive()
        except _DiedError as died:
            if died.is_final or self._tries > 1:
                raise PageError(died.code, died.detail) from None
            logger.info("the page process ended (%s); trying the page once more", died.detail)
            self._send()
            return Again.AGAIN
        self._in_hand = []
        if isinstance(outcome, PageError | UsageError):
            raise outcome
        return outcome

    def ready_at(self) -> tuple[Connection, float]:
        """Return the pipe to wait on before calling `result`, and the deadline (in `time.monotonic`
        time)."""
        assert self._pipe is not None
        return self._pipe, self._deadline

    def close(self) -> None:
        """End the child, if there is one."""
        child, pipe, self._child, self._pipe = self._child, self._pipe, None, None
        if pipe is not None:
            pipe.close()
        if child is not None:
            child.kill()
            child.join()
            child.close()

    def _send(self) -> None:
        self._tries += 1
        self._deadline = time.monotonic() + self._limits.wall_seconds
        # If the child is dead, `_receive` will notice.
        with contextlib.suppress(ConnectionError):
            self._start_child().send(self._in_hand[0])

    def _receive(self) -> Result | PageError | UsageError:
        pipe = self._pipe
        assert pipe is not None
        try:
            if not pipe.poll(max(0.0, self._deadline - time.monotonic())):
                self.close()
                raise _DiedError(
                    ErrorCode.TIME_LIMIT, f"no answer within {self._limits.wall_seconds:g} s of wall time", False
                )
            outcome, recycle = pipe.recv()
        except (EOFError, ConnectionError):
            raise self._explain_death() from None
        if recycle:
            self.close()
        return outcome  # type: ignore[no-any-return]

    def _start_child(self) -> Connection:
        if self._pipe is None:
            context = multiprocessing.get_context("fork")
            self._pipe, child_end = context.Pipe()
            self._child = context.Process(
                target=_serve, args=(child_end, self._pipe, self._work, self._limits), daemon=True
            )
            self._child.start()
            child_end.close()
        return self._pipe

    def _explain_death(self) -> "_DiedError":
        child = self._child
        assert child is not None
        child.join(timeout=10)
        code = child.exitcode
        self.close()
        if code == -signal.SIGXCPU:
            return _DiedError(ErrorCode.TIME_LIMIT, f"more than {self._limits.cpu_seconds} s of CPU time", True)
        if code == -signal.SIGKILL:
            return _DiedError(
                ErrorCode.MEMORY_LIMIT, "the system killed the page process, most likely for memory", False
            )
        name = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
        return _DiedError(ErrorCode.CRASHED, f"the page process ended with {name}", False)


class Watchdog:
    """Ends this process if its work hangs, so that the parent process tries again. A `Guard` covers
    the work on a page; a watchdog covers the work between pages.

    Spark does not notice a worker that waits forever, for example for an engine.
    (`spark.python.worker.idleTimeoutSeconds` only logs before Spark 4.1, which added
    `killOnIdleTimeout`.) A thread watches the clock. If this thread cannot run because other code
    blocks the interpreter, `faulthandler` ends the process.
    """

    def __init__(self, seconds: float, doing: str) -> None:
        """End the process after `seconds` without progress. `doing` names the activity in the error
        message."""
        self._seconds = seconds
        self._doing = doing
        self._since: float | None = None
        self._pulse: Callable[[], object] = lambda: None
        self._stop = threading.Event()

    def watch(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items. The clock runs while an item is being computed, but not while the caller
        uses it. Call this method only once."""
        threading.Thread(target=self._look, name="watchdog", daemon=True).start()
        making = iter(items)
        try:
            while True:
                self.beat()
                try:
                    item = next(making)
                except StopIteration:
                    return
                self._since = None
                yield item
        finally:
            if isinstance(making, Generator):
                making.close()
            self._stop.set()
            faulthandler.cancel_dump_traceback_later()

    def rest(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items from other code. The time that this code takes to compute an item does not
        count."""
        making = iter(items)
        while True:
            before, self._since = self._since, None
            try:
                item = next(making)
            except StopIteration:
                return
            finally:
                if before is not None:
                    self.beat()
            yield item

    def beat(self) -> None:
        """Report progress."""
        self._since = time.monotonic()

    def follow(self, pulse: Callable[[], object]) -> None:
        """Count every change in the value of `pulse()` as progress, in addition to `beat`."""
        self._pulse = pulse

    def _look(self) -> None:
        last: object = None
        while not self._stop.is_set():
            faulthandler.dump_traceback_later(2 * self._seconds, exit=True, file=_STDERR)
            now = self._pulse()
            if self._since is not None and now != last:
                self.beat()
            last = now
            since = self._since
            if since is not None and time.monotonic() - since > self._seconds:
                self._end()
            self._stop.wait(min(self._seconds / 4, _LOOK_SECONDS))
        faulthandler.cancel_dump_traceback_later()

    def _end(self) -> None:
        words = (
            f"dripper: no progress for {self._seconds:g} s while {self._doing}: this worker process ends itself, so that Spark "
            "tries its task again"
        )
        sys.stderr.write(words + "\n")
        sys.stderr.flush()
        faulthandler.dump_traceback(file=_STDERR)
        if folder := os.environ.get("PYTHON_FAULTHANDLER_DIR"):
            # If a worker dies, Spark sends the text in this file to the driver as the reason.
            with contextlib.suppress(OSError):
                Path(folder, str(os.getpid())).write_text(words)
        for child in multiprocessing.active_children():
            child.kill()
        os._exit(1)


class _DiedError(PageError):
    """The child died. `is_final` means that a second try would end the same way."""

    def __init__(self, code: ErrorCode, detail: str, is_final: bool) -> None:
        super().__init__(code, detail)
        self.is_final = is_final


def _serve(pipe: Connection, parents_end: Connection, work: Callable[[Item], Result], limits: GuardLimits) -> None:
    """Run the child's loop until the parent's end of the pipe closes, which also happens if the
    parent is killed."""
    parents_end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An inherited signal handler, such as an event loop's, would keep this process alive after
    # SIGTERM, and the parent would wait for it.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        _OOM_SCORE.write_text("1000")
    start = _read_address_space()
    if start and sys.platform == "linux":
        _limit(resource.RLIMIT_AS, start + limits.memory_bytes)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The parent's 100,000 objects are permanent, so full garbage collections can skip them. This
    # saves 4 % of a page's time.
    gc.freeze()
    while True:
        try:
            item = pipe.recv()
        except (EOFError, ConnectionError):
            os._exit(0)
        _allow_cpu(limits.cpu_seconds)
        outcome = run_item(work, item)
        del item
        # Memory that a page leaks or fragments counts towards the limit of the next page.
        # Therefore, a new child starts once half the limit is used.
        recycle = _read_address_space() - start > limits.memory_bytes // 2 or _is_memory_error(outcome)
        recycle |= _is_short_of_cpu(limits.cpu_seconds)
        pipe.send((outcome, recycle))


def _allow_cpu(seconds: int) -> None:
    _limit(resource.RLIMIT_CPU, math.ceil(time.process_time()) + seconds)


def _limit(kind: int, soft: int) -> None:
    """Set a soft limit. A hard limit set by a batch scheduler or a shell is kept, because only root
    may raise it."""
    hard = _read_hard_limit(kind)
    if hard is None:
        resource.setrlimit(kind, (soft, resource.RLIM_INFINITY))
    else:  # stay below a hard CPU limit, at which the kernel kills the process without giving a reason
        resource.setrlimit(kind, (min(soft, max(1, hard - (kind == resource.RLIMIT_CPU))), hard))


def _read_hard_limit(kind: int) -> int | None:
    hard = resource.getrlimit(kind)[1]
    return None if hard == resource.RLIM_INFINITY else hard


def _is_short_of_cpu(seconds: int) -> bool:
    """Return whether the hard limit leaves this process less CPU time than a page is allowed to
    use. The CPU time of a new process starts at zero."""
    hard = _read_hard_limit(resource.RLIMIT_CPU)
    return hard is not None and hard > seconds + 1 and time.process_time() + seconds + 1 > hard


@lru_cache
def _say_if_too_low(limits: GuardLimits) -> None:
    """Warn once per process if a hard limit gives pages less than the settings allow."""
    cpu, space = _read_hard_limit(resource.RLIMIT_CPU), _read_hard_limit(resource.RLIMIT_AS)
    if cpu is not None and cpu <= limits.cpu_seconds:
        logger.warning(
            "pages get less than limits.page_cpu_seconds=%d: the hard limit of CPU time is %d s (ulimit -H -t); "
            "raise it, or lower the setting",
            limits.cpu_seconds,
            cpu,
        )
    if space is not None and space < (needed := _read_address_space() + limits.memory_bytes):
        logger.warning(
            "pages get less than limits.page_memory_bytes=%d: with what this process has, that takes %d KiB of address "
            "space, and the hard limit is %d KiB (ulimit -H -v); raise it, or lower the setting",
            limits.memory_bytes,
            needed >> 10,
            space >> 10,
        )


def run_item(work: Callable[[Item], Result], item: Item) -> Result | PageError | UsageError:
    """Return `work(item)`. If it raises an error, return the error instead. An unexpected exception
    becomes a PageError with INTERNAL."""
    try:
        return work(item)
    except (PageError, UsageError) as error:
        return error
    except MemoryError:
        return PageError(ErrorCode.MEMORY_LIMIT, "out of memory")
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        return PageError(ErrorCode.INTERNAL, detail[:500])


def _is_memory_error(outcome: object) -> bool:
    return isinstance(outcome, PageError) and outcome.code is ErrorCode.MEMORY_LIMIT


def _read_address_space() -> int:
    """Return this process's address space in bytes, or 0 if the system does not report it."""
    try:
        return int(_STATM.read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
