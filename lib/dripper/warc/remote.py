"""A file behind a network, read from front to back: a dropped connection is taken up again where it
broke."""

import random
import re
import time
from collections.abc import Callable
from typing import TypeVar

from dripper.addresses import loggable, loggable_text
from dripper.errors import FileError, FileErrorKind
from dripper.warc.headers import whole_number
from dripper.warc.stored import Readable

_MAX_PAUSE_SECONDS = 20.0
_CONTENT_RANGE = re.compile(r"bytes (?P<start>\d+)-\d+/(?P<size>\d+|\*)")

Answer = TypeVar("Answer")


def etag_version(etag: str | None) -> str | None:
    """Return the `Source.version` of what a server gave this ETag; the same for weak ones and in
    either notation.

    >>> etag_version('W/"abc"'), etag_version(None)
    ('etag:abc', None)
    """
    bare = (etag or "").removeprefix("W/").strip('"')
    return f"etag:{bare}" if bare else None


def check_range(told: str | None, offset: int, size: int | None) -> None:
    """Raise ConnectionError where a `Content-Range` is of other bytes than `offset` to the end, or
    of a file of another size.

    >>> check_range("bytes 5-9/10", 5, 10)
    """
    if told is None:
        if offset:
            raise ConnectionError(f"the answer is the whole file, not the bytes from {offset} on")
        return
    found = _CONTENT_RANGE.fullmatch(told.strip())
    if (
        not found
        or whole_number(found["start"]) != offset
        or (size is not None and found["size"] not in ("*", str(size)))
    ):
        raise ConnectionError(f"the answer is {told!r}, not the bytes from {offset} on")


def byte_range(start: int, end: int | None) -> str:
    """Return the value of a `Range` header for the bytes from `start` on, up to `end`, or to the
    last.

    >>> byte_range(5, 9), byte_range(5, None)
    ('bytes=5-8', 'bytes=5-')
    """
    return f"bytes={start}-" if end is None else f"bytes={start}-{end - 1}"


def earlier(end: int | None, size: int | None) -> int | None:
    """Return where a stream ends that is asked for up to `end`, of a file of `size` bytes; None:
    not known."""
    return min(end, size) if end is not None and size is not None else size if end is None else end


class _Attempts:
    """Attempts at one thing, with pauses that grow and are never in step with those of others."""

    def __init__(self, name: str, max_attempts: int) -> None:
        self._name = name
        self._max_attempts = max_attempts
        self._failures = 0

    def succeeded(self) -> None:
        """Start counting anew."""
        self._failures = 0

    def failed(self, error: Exception, place: str = "") -> None:
        """Wait before the next attempt, or give up with a FileError."""
        self._failures += 1
        if self._failures >= self._max_attempts:
            raise FileError(
                FileErrorKind.UNREACHABLE,
                f"{loggable(self._name)}: gave up{place} after {self._failures} attempts: {loggable_text(str(error))}",
            ) from error
        time.sleep(min(_MAX_PAUSE_SECONDS, 0.1 * 2**self._failures) * random.uniform(0.5, 1.0))


def retried(name: str, ask: Callable[[], Answer], errors: tuple[type[Exception], ...], max_attempts: int) -> Answer:
    """Return what `ask` answers, asking again after one of `errors`; raises FileError after
    `max_attempts`."""
    attempts = _Attempts(name, max_attempts)
    while True:
        try:
            return ask()
        except FileError:
            raise
        except errors as error:
            attempts.failed(error)


class RangeStream:
    """Bytes from `start` to `end` of a remote file, whatever the number of connections that takes.

    open_at: opens a connection at an offset. errors: what a broken connection raises. max_attempts:
    how often in a row it is opened without a byte more; then FileError. An early end is a broken
    connection too: S3 and proxies close without a word.
    """

    def __init__(
        self,
        name: str,
        open_at: Callable[[int], Readable],
        start: int,
        end: int | None,
        errors: tuple[type[Exception], ...],
        max_attempts: int,
    ) -> None:
        self._open_at = open_at
        self._at = start
        self._end = end
        self._errors = errors
        self._attempts = _Attempts(name, max_attempts)
        self._stream: Readable | None = None

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
                self._attempts.failed(error, f" at byte {self._at}")
                continue
            if self._end is not None:
                data = data[: self._end - self._at]
            self._at += len(data)
            self._attempts.succeeded()
            return data
        return b""

    def close(self) -> None:
        """Close the connection."""
        if self._stream:
            self._stream.close()
        self._stream = None
