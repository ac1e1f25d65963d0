"""Reads remote files sequentially. If a connection breaks, reading resumes at the same byte.

All processes on a machine share one request rate per server, which is kept in a small file in the
temporary folder. If a server asks one worker to slow down (503 SlowDown, 429), all workers on the
machine must slow down. If only one worker waits while sixteen others continue, the server remains
overloaded.
"""

import fcntl
import os
import random
import re
import struct
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache, partial
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from dripper.addresses import loggable, loggable_text
from dripper.errors import FileError, FileErrorKind
from dripper.warc.open.base import Readable, parse_whole_number

BUSY_STATUSES = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
"""Status codes with which servers ask clients to send fewer requests."""

_FIRST_GAP = 0.05
_LONGEST_GAP = 2.0
"""Maximum seconds between two requests from one machine. With a thousand machines, this gives 500
requests per second, a tenth of the rate that one S3 prefix accepts."""

_FASTER = 0.8
_NO_GAP = 0.01
_SLOWER_EVERY = 1.0
"""Refusals within this many seconds count as one. Sixteen refused requests that were in progress
together are a single reason to slow down."""

_STATE = struct.Struct("<ddd")


class _State(NamedTuple):
    """The state of a `Pace`.

    gap: Seconds between requests; 0 means no limit.

    next_at: The time from which the next request is allowed to start.

    slowed_at: The time of the last refusal that lowered the rate.
    """

    gap: float = 0.0
    next_at: float = 0.0
    slowed_at: float = 0.0


class Pace:
    """The request rate for one server, shared by the processes on this machine. If the state file
    cannot be opened, each process has its own rate."""

    def __init__(self, server: str, folder: Path | None = None) -> None:
        self._state = _State()
        name = sha256(server.encode()).hexdigest()[:16]
        try:
            folder = folder or Path(tempfile.gettempdir()) / f"dripper-pace-{os.getuid()}"
            folder.mkdir(mode=0o700, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file: int | None = os.open(folder / name, flags, 0o600)
        except OSError:
            self._file = None

    def wait(self) -> None:
        """Wait until this process is allowed to send a request; return immediately if the rate is
        not limited."""
        now = time.time()

        def reserve(state: _State) -> _State:
            if not state.gap:
                return state
            # If the clock was set back, do not wait for hours.
            start = min(max(now, state.next_at), now + 64 * _LONGEST_GAP)
            return state._replace(next_at=start + state.gap * random.uniform(0.5, 1.5))

        before, after = self._change(reserve)
        if after is not before:
            time.sleep(max(0.0, min(before.next_at, now + 64 * _LONGEST_GAP) - now))

    def learn_from(self, status: int) -> None:
        """Adapt the rate to a response's status: slow down after a refusal, otherwise speed up
        slightly."""
        now = time.time()

        def learn(state: _State) -> _State:
            if status not in BUSY_STATUSES:
                gap = state.gap * _FASTER
                return state if not state.gap else state._replace(gap=gap if gap > _NO_GAP else 0.0)
            if 0 <= now - state.slowed_at < _SLOWER_EVERY:
                return state
            return state._replace(gap=min(_LONGEST_GAP, max(_FIRST_GAP, 2 * state.gap)), slowed_at=now)

        self._change(learn)

    @property
    def gap(self) -> float:
        """Seconds between two requests, on average."""
        return self._change(lambda state: state)[0].gap

    def _change(self, change: Callable[[_State], _State]) -> tuple[_State, _State]:
        """Apply `change` to the state under a lock. Return the states before and after."""
        if self._file is None:
            before = self._state
            self._state = after = change(before)
            return before, after
        # POSIX locks (lockf) belong to one process; a forked child would share flock's locks.
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            stored = os.pread(self._file, _STATE.size, 0)
            before = _State(*_STATE.unpack(stored)) if len(stored) == _STATE.size else _State()
            after = change(before)
            if after is not before:
                os.pwrite(self._file, _STATE.pack(*after), 0)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
        return before, after


@lru_cache(maxsize=64)
def get_pace(server: str) -> Pace:
    """Return the `Pace` for `server`. There is one object per process and server."""
    return Pace(server)


_MAX_PAUSE_SECONDS = 20.0
_CONTENT_RANGE = re.compile(r"bytes (?P<start>\d+)-\d+/(?P<size>\d+|\*)")

Answer = TypeVar("Answer")


def format_etag_version(etag: str | None) -> str | None:
    """Convert an ETag to a `Source.version`. Weak and strong ETags give the same version.

    >>> format_etag_version('W/"abc"'), format_etag_version(None)
    ('etag:abc', None)
    """
    bare = (etag or "").removeprefix("W/").strip('"')
    return f"etag:{bare}" if bare else None


def check_range(content_range: str | None, offset: int, size: int | None) -> None:
    """Check a `Content-Range` header. A missing header means that the response starts at byte 0.

    Raises:
        ConnectionError: The range does not start at `offset`, or its file size is not `size`.

    >>> check_range("bytes 5-9/10", 5, 10)
    """
    if content_range is None:
        if offset:
            raise ConnectionError(f"the answer is the whole file, not the bytes from {offset} on")
        return
    match = _CONTENT_RANGE.fullmatch(content_range.strip())
    if (
        not match
        or parse_whole_number(match["start"]) != offset
        or (size is not None and match["size"] not in ("*", str(size)))
    ):
        raise ConnectionError(f"the answer is {content_range!r}, not the bytes from {offset} on")


def format_byte_range(start: int, end: int | None) -> str:
    """Format a `Range` header for the bytes from `start` up to, but not including, `end`. None
    means the end of the file.

    >>> format_byte_range(5, 9), format_byte_range(5, None)
    ('bytes=5-8', 'bytes=5-')
    """
    return f"bytes={start}-" if end is None else f"bytes={start}-{end - 1}"


class _Attempts:
    """Counts failed attempts, and pauses between attempts. The pauses grow and are random, so that
    processes do not retry in lockstep."""

    def __init__(self, name: str, max_attempts: int) -> None:
        self._name = name
        self._max_attempts = max_attempts
        self._failures = 0

    def reset(self) -> None:
        """Forget all previous failures."""
        self._failures = 0

    def pause(self, error: Exception, place: str = "") -> None:
        """Wait before the next attempt. Raises FileError if there have been too many failures."""
        self._failures += 1
        if self._failures >= self._max_attempts:
            raise FileError(
                FileErrorKind.UNREACHABLE,
                f"{loggable(self._name)}: gave up{place} after {self._failures} attempts: {loggable_text(str(error))}",
            ) from error
        time.sleep(min(_MAX_PAUSE_SECONDS, 0.1 * 2**self._failures) * random.uniform(0.5, 1.0))


def retry(name: str, ask: Callable[[], Answer], errors: tuple[type[Exception], ...], max_attempts: int) -> Answer:
    """Call `ask` until it succeeds, and return its result.

    Raises:
        FileError: `ask` raised FileError, or failed `max_attempts` times with one of `errors`.
    """
    attempts = _Attempts(name, max_attempts)
    while True:
        try:
            return ask()
        except FileError:
            raise
        except errors as error:
            attempts.pause(error)


class RangeStream:
    """Reads a remote file from `start` to `end`, reconnecting when a connection breaks.

    A premature end counts as a broken connection, because S3 and proxies may close connections
    without an error.

    Args:
        name: The file's address, for error messages.
        open_at: Opens a connection at an offset.
        start, end: The range to read; an `end` of None means the end of the file.
        errors: The exceptions that a broken connection raises.
        max_attempts: The number of consecutive failures without progress before FileError is
            raised.
        stream: A connection that is already open at `start`.
    """

    def __init__(
        self,
        name: str,
        open_at: Callable[[int], Readable],
        start: int,
        end: int | None,
        errors: tuple[type[Exception], ...],
        max_attempts: int,
        stream: Readable | None = None,
    ) -> None:
        self._open_at = open_at
        self._at = start
        self._end = end
        self._errors = errors
        self._attempts = _Attempts(name, max_attempts)
        self._stream = stream

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; b"" only at the end."""
        while self._end is None or self._at < self._end:
            try:
                self._stream = self._stream or self._open_at(self._at)
                data = self._stream.read(size)
                if not data and self._end is not None:
                    raise ConnectionError(f"the connection ended at byte {self._at} of {self._end}")
            except FileError:
                raise
            except self._errors as error:
                self.close()
                self._attempts.pause(error, f" at byte {self._at}")
                continue
            if self._end is not None:
                data = data[: self._end - self._at]
            self._at += len(data)
            self._attempts.reset()
            return data
        return b""

    def close(self) -> None:
        """Close the connection."""
        if self._stream:
            self._stream.close()
        self._stream = None


class RemoteFile(ABC):
    """A remote file, as a `Source`. Subclasses implement `_connect`, which requests bytes."""

    errors: ClassVar[tuple[type[Exception], ...]]
    """The exceptions that a broken connection raises."""

    def __init__(self, path: str, max_attempts: int) -> None:
        self.size_bytes: int | None = None
        self.version: str | None = None
        self._path = path
        self._max_attempts = max_attempts
        self._first: Readable | None = None
        self._first_end: int | None = None

    def _ask_first(self, head_bytes: int | None) -> None:
        """Connect once, so that `_connect` records size and ETag. The response is kept for the
        first reader of the same range. head_bytes: See `open_source`."""
        ask = partial(self._connect, 0, 1 if head_bytes == 0 else head_bytes)
        self._first, self._first_end = retry(self._path, ask, self.errors, self._max_attempts), head_bytes
        if head_bytes == 0:
            self.close()

    def open_at(self, offset: int, end: int | None = None) -> Readable:
        """See `Source`."""
        first = None
        if not offset and end == self._first_end:
            first, self._first = self._first, None
        until = min((known for known in (end, self.size_bytes) if known is not None), default=None)
        connect = partial(self._connect, end=end)
        return RangeStream(self._path, connect, offset, until, self.errors, self._max_attempts, first)

    def close(self) -> None:
        """See `Source`."""
        if self._first:
            self._first.close()
        self._first = None

    @abstractmethod
    def _connect(self, offset: int, end: int | None) -> Readable:
        """Return a stream of the bytes from `offset` to `end` (None: the end of the file).

        Raises:
            Exception: One of `errors`; another attempt may succeed.
            FileError: Another attempt would fail as well.
        """
