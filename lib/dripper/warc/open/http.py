"""Opens archives at `http://` and `https://` URLs, such as https://data.commoncrawl.org/."""

import ipaddress
import os
import socket
import ssl
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError

from dripper.addresses import loggable
from dripper.errors import FileError, FileErrorKind
from dripper.warc.open.base import Readable, parse_whole_number
from dripper.warc.open.remote import (
    RemoteFile,
    check_range,
    format_byte_range,
    format_etag_version,
    get_pace,
)

_PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
_KINDS = {401: FileErrorKind.DENIED, 403: FileErrorKind.DENIED, 404: FileErrorKind.GONE, 410: FileErrorKind.GONE}
_MAX_REDIRECTS = 5
_SKIP_BYTES = 1 << 20
_USER_AGENT = "dripper-spark"
_AS_IT_COMES: dict[str, Any] = dict.fromkeys(("preload_content", "decode_content", "retries", "redirect"), False)
"""urllib3 options that turn off decoding, retries and redirects."""


class HttpFile(RemoteFile):
    """A file on an HTTP server. The constructor raises FileError if the server refuses the file.

    head_bytes: See `open_source`.
    """

    errors = (HTTPError, OSError)

    def __init__(self, url: str, max_attempts: int, timeout_seconds: float, head_bytes: int | None = 0) -> None:
        super().__init__(url, max_attempts)
        self._name = loggable(url)
        self._timeout_seconds = timeout_seconds
        self._etag: str | None = None
        self._is_known = False
        self._ask_first(head_bytes)
        self.version = format_etag_version(self._etag)

    def _connect(self, offset: int, end: int | None) -> Readable:
        pace = get_pace(urlsplit(self._path).netloc.rpartition("@")[2])
        pace.wait()
        response = _get(self._path, format_byte_range(offset, end), self._timeout_seconds)
        pace.learn_from(response.status)
        if (
            response.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and not offset
        ):  # an empty file has no first byte
            response.close()
            self.size_bytes, self._is_known = 0, True
            return BytesIO()
        try:
            if response.status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
                self._refuse(response)
            self._check(response, offset)
        except BaseException:
            response.close()
            raise
        return response

    def _refuse(self, response: urllib3.BaseHTTPResponse) -> None:
        """Raise the error that fits the status of a response without the file: ConnectionError if
        another attempt may succeed, else FileError."""
        status = response.status
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _PASSING:
            raise ConnectionError(f"the server answered {status}")
        kind = _KINDS.get(status, FileErrorKind.UNREADABLE)
        hint = "; its signature may have expired" if kind == FileErrorKind.DENIED and "?" in self._path else ""
        raise FileError(kind, f"{self._name}: the server answered {status} {response.reason}{hint}")

    def _check(self, response: urllib3.BaseHTTPResponse, offset: int) -> None:
        """Set the size from the first response. Check that later responses come from the same
        version of the file and start at `offset`."""
        etag, content_range = response.headers.get("ETag"), response.headers.get("Content-Range")
        length = response.headers.get("Content-Length")
        ranged = response.status == HTTPStatus.PARTIAL_CONTENT
        if not self._is_known and not offset:
            check_range(content_range, 0, None)
            self._etag, self._is_known = etag, True
            total = content_range.rpartition("/")[2] if content_range and ranged else length
            self.size_bytes = parse_whole_number(total)
        if etag != self._etag:
            raise FileError(FileErrorKind.CHANGED, f"{self._name} was changed while it was read; run again")
        if ranged:
            check_range(content_range, offset, self.size_bytes)
        elif offset:  # the server does not support ranges
            while offset and (skipped := response.read(min(_SKIP_BYTES, offset))):
                offset -= len(skipped)


def _get(url: str, byte_range: str, timeout_seconds: float) -> urllib3.BaseHTTPResponse:
    """Request a byte range and follow redirects. Raises FileError if a redirect is unsafe."""
    request_url = url
    headers = {"User-Agent": _USER_AGENT, "Range": byte_range}
    timeout = urllib3.Timeout(connect=timeout_seconds, read=timeout_seconds)
    for _ in range(_MAX_REDIRECTS):
        pool = _open_pool(os.getpid(), _find_proxy(url))
        response = pool.request("GET", url, headers=headers, timeout=timeout, **_AS_IT_COMES)
        target = response.get_redirect_location()
        if not target:
            break
        response.close()
        if reason := _explain_mistrust(request_url, url, target):
            raise FileError(
                FileErrorKind.UNREADABLE,
                f"{loggable(request_url)} is redirected to {loggable(target)}, {reason}; if that is right, name that "
                "address itself",
            )
        url = urljoin(url, target)
    return response


def _explain_mistrust(address: str, before: str, to: str) -> str | None:
    """Return the reason why a redirect is unsafe, or None if it is safe. A server must not
    downgrade HTTPS to HTTP, and must not redirect to this machine or to a different host in a
    private network."""
    try:
        after = urljoin(before, to)
        target = urlsplit(after)
        host = target.hostname or ""
    except ValueError:
        return "which is not an address"
    if target.scheme not in ("http", "https") or not host:
        return "which is not an HTTP address"
    if urlsplit(before).scheme == "https" and target.scheme == "http":
        return "which is not encrypted"
    if host != urlsplit(address).hostname and _is_inside(host, asks=_find_proxy(after) is None):
        return "another host in a private network"
    return None


def _is_inside(host: str, asks: bool) -> bool:
    """Return whether a host is this machine or in a private network.

    asks: Whether to resolve host names through DNS. Behind a proxy, the proxy resolves them.
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=0 if asks else socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return False
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
    return any(not (getattr(one, "ipv4_mapped", None) or one).is_global for one in addresses)


def _find_proxy(url: str) -> str | None:
    """Return the proxy that the environment configures for this URL, if any."""
    parts = urlsplit(url)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


@lru_cache(maxsize=4)
def _open_pool(process: int, proxy: str | None) -> urllib3.PoolManager:
    """Return the connection pool of a process. Connections stay open, because for short ranges, a
    TLS handshake takes longer than the transfer."""
    context = ssl.create_default_context()
    return urllib3.ProxyManager(proxy, ssl_context=context) if proxy else urllib3.PoolManager(ssl_context=context)
