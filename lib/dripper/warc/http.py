"""Archives behind `http://` and `https://`, such as https://data.commoncrawl.org/."""

import urllib.error
import urllib.request
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse

from dripper.errors import FileError, FileErrorKind
from dripper.warc.members import Readable
from dripper.warc.remote import RangeStream, etag_version

_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_KINDS = {401: FileErrorKind.DENIED, 403: FileErrorKind.DENIED, 404: FileErrorKind.GONE, 410: FileErrorKind.GONE}
_CONNECTION_ERRORS = (OSError, HTTPException)
_SKIP_BYTES = 1 << 20
_USER_AGENT = "dripper-spark"


class HttpFile:
    """A file behind HTTP, as a `Source`. Raises FileError where the server refuses it."""

    def __init__(self, url: str, max_attempts: int, timeout_seconds: float) -> None:
        self.size_bytes: int | None = None
        self.version: str | None = None
        self._url = url
        self._max_attempts = max_attempts
        self._timeout_seconds = timeout_seconds
        self._etag: str | None = None
        first = self.open_at(0)
        first.read(1)
        first.close()
        self.version = etag_version(self._etag)

    def open_at(self, offset: int) -> Readable:
        """See `Source`."""
        return RangeStream(self._url, self._connect, offset, self.size_bytes, _CONNECTION_ERRORS, self._max_attempts)

    def _connect(self, offset: int) -> HTTPResponse:
        """Open the file at `offset`; a busy server is an error that is tried again, others are a FileError."""
        headers = {"User-Agent": _USER_AGENT} | ({"Range": f"bytes={offset}-"} if offset else {})
        request = urllib.request.Request(self._url, headers=headers)
        try:
            response: HTTPResponse = urllib.request.urlopen(request, timeout=self._timeout_seconds)
        except urllib.error.HTTPError as error:
            if error.code in _BUSY:
                raise ConnectionError(f"the server answered {error.code}") from error
            kind = _KINDS.get(error.code, FileErrorKind.UNREADABLE)
            raise FileError(kind, f"{self._url}: the server answered {error.code} {error.reason}") from error
        self._check(response, offset)
        return response

    def _check(self, response: HTTPResponse, offset: int) -> None:
        """Learn the size from the first answer; see that a later one is of the same file and starts at `offset`."""
        etag, length = response.headers.get("ETag"), response.headers.get("Content-Length")
        if not offset:
            self._etag = self._etag or etag
            self.size_bytes = int(length) if length else None
        if etag != self._etag:
            raise FileError(FileErrorKind.CHANGED, f"{self._url} was changed while it was read; run again")
        if offset and response.status != HTTPStatus.PARTIAL_CONTENT:  # the server knows no ranges
            while offset and (skipped := response.read(min(_SKIP_BYTES, offset))):
                offset -= len(skipped)
