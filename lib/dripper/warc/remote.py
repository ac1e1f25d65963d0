"""A file behind a network, read from front to back: a dropped connection is taken up again where it broke."""

import random
import time
from collections.abc import Callable

from dripper.errors import FileError, FileErrorKind
from dripper.warc.members import Readable

_MAX_PAUSE_SECONDS = 20.0


def etag_version(etag: str | None) -> str | None:
    """Return the `Source.version` of what a server gave this ETag; the same for weak ones and in either notation.

    >>> etag_version('W/"abc"'), etag_version(None)
    ('etag:abc', None)
    """
    bare = (etag or "").removeprefix("W/").strip('"')
    return f"etag:{bare}" if bare else None


class RangeStream:
    """Bytes from `start` to `size` of a remote file, whatever the number of connections that takes.

    open_at: opens a connection at an offset. errors: what a broken connection raises. max_attempts: how often in a
    row it is opened without a byte more; then FileError. An early end is a broken connection too: S3 and proxies
    close without a word.
    """

    def __init__(
        self,
        name: str,
        open_at: Callable[[int], Readable],
        start: int,
        size: int | None,
        errors: tuple[type[Exception], ...],
        max_attempts: int,
    ) -> None:
        self._name = name
        self._open_at = open_at
        self._at = start
        self._size = size
        self._errors = errors
        self._max_attempts = max_attempts
        self._failures = 0
        self._stream: Readable | None = None

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; b"" only at the end of the file."""
        while self._size is None or self._at < self._size:
            try:
                self._stream = self._stream or self._open_at(self._at)
                data = self._stream.read(size)
                if not data and self._size is not None:
                    raise ConnectionError(f"the connection ended at byte {self._at} of {self._size}")
            except self._errors as error:
                self._pause(error)
                continue
            self._at += len(data)
            self._failures = 0
            return data
        return b""

    def close(self) -> None:
        """Close the connection."""
        if self._stream:
            self._stream.close()
        self._stream = None

    def _pause(self, error: Exception) -> None:
        """Wait before the next attempt, twice as long each time and never in step with others; or give up."""
        self.close()
        self._failures += 1
        if self._failures >= self._max_attempts:
            raise FileError(
                FileErrorKind.UNREACHABLE,
                f"{self._name}: gave up at byte {self._at} after {self._failures} attempts: {error}",
            ) from error
        time.sleep(min(_MAX_PAUSE_SECONDS, 0.1 * 2**self._failures) * random.uniform(0.5, 1.0))
