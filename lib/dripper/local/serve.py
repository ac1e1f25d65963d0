"""Serves extractions over HTTP. A pool of processes with limits extracts the posted pages.

    POST /extract?url=https://example.org/a&format=markdown    the body is the page, or JSON
    GET  /health

The server fetches nothing, and no request ever sees another request's page. Every resource that
clients can use up is limited: connections, body bytes, waiting requests, and seconds per request.
Uvicorn with Starlette would need four more packages, and would limit neither the size of a body nor
the time for a request.
"""

import io
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mmap import mmap
from queue import Empty, Queue
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import dripper
from dripper.addresses import printable
from dripper.decode.sniff import HTML_TYPES, parse_media_type
from dripper.errors import PageError
from dripper.guard import Guard, GuardLimits
from dripper.labels.registry import runs_staged
from dripper.local.formats import FORMATS
from dripper.local.json_page import FORM, read_json_page
from dripper.page.extraction import Extraction, checked_settings, make_failed, shared_extractor
from dripper.settings import Settings

_Page = tuple[bytes, str | None, str | None]
"""The page's bytes, its URL, and its content type. The content type is None unless it means
HTML."""

_WAITING_A_JOB = 8
"""The number of requests that can wait per process; further requests get a 503."""
_WAIT_SECONDS = 30.0
_REQUEST_SECONDS = 60.0
"""Seconds in which a request must arrive completely, from the time when the connection is ready for
the request."""
_MOST_CONNECTIONS = 256
_SMALL_BYTES = 1 << 20
"""Number of bytes at the start of each body that do not count towards the shared limit. Large
bodies therefore cannot block another client's small page."""
_LARGE_BODIES = 4
"""The limit on the bytes beyond `_SMALL_BYTES`, summed over all bodies, as a multiple of the
maximum body size."""
_PIECE_BYTES = 1 << 16
_LONGEST_LINE = 1 << 16
_MOST_TRAILERS = 100
_ENDING = "the server is about to end: ask another one"
_CHUNK = re.compile(rb"0*([0-9a-fA-F]+)[ \t]*(?:;[^\r\n]*)?\r?\n")
_QUERY = re.compile(r"\?\S*")


class _Budget:
    """A limit on the bytes held at the same time. Thread-safe."""

    def __init__(self, n_bytes: int) -> None:
        self._free = n_bytes
        self._lock = threading.Lock()

    def take(self, n_bytes: int, held: int) -> bool:
        """Take bytes and return True. If too few are left, give back the `held` bytes of this body
        and return False. The bytes given back allow other bodies to arrive completely."""
        with self._lock:
            is_room = n_bytes <= self._free
            self._free += -n_bytes if is_room else held
            return is_room

    def give_back(self, n_bytes: int) -> None:
        with self._lock:
            self._free += n_bytes


class Service:
    """Extracts pages in `jobs` processes, with the server's settings."""

    def __init__(self, settings: Settings, jobs: int) -> None:
        """Load the labeler and start the processes. Raises UsageError for a wrong setting."""
        self.settings = checked_settings(None, settings, {})
        extractor = shared_extractor(self.settings)
        self.versions = extractor.versions
        work: Callable[[_Page], Extraction] = lambda page: extractor.extract(*page)  # noqa: E731
        self.places = threading.BoundedSemaphore(jobs * (1 + _WAITING_A_JOB))
        self.large_bytes = _Budget(_LARGE_BODIES * self.settings.reading.page_bytes)
        self.is_ending = False
        """Whether further requests are refused."""
        self._n_requests = 0
        self._requests = threading.Condition()
        self._workers: Queue[Callable[[_Page], Extraction]] = Queue()
        self._guards: list[Guard[_Page, Extraction]] = []
        if runs_staged(self.settings.labeler):
            # A model's engine has threads and devices, which a fork does not inherit.
            self._workers.put(work)
        for _ in range(0 if runs_staged(self.settings.labeler) else jobs):
            guard = Guard(work, GuardLimits.of(self.settings.limits))
            # Fork now, while this process has only one thread.
            guard.call((b"<p>One page.", None, None))
            self._guards.append(guard)
            self._workers.put(guard.call)

    def extract(self, page: _Page) -> Extraction | None:
        """Return the extraction of a page, or None if no process was free in time."""
        try:
            work = self._workers.get(timeout=_WAIT_SECONDS)
        except Empty:
            return None
        try:
            return work(page)
        except PageError as error:
            return make_failed(error)
        finally:
            self._workers.put(work)

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request as in progress until its answer is sent."""
        with self._requests:
            self._n_requests += 1
        try:
            yield
        finally:
            with self._requests:
                self._n_requests -= 1
                self._requests.notify_all()

    def drain(self, seconds: float) -> bool:
        """Refuse further requests, wait for requests that have begun, and return whether all of
        them were answered in time."""
        self.is_ending = True
        with self._requests:
            return self._requests.wait_for(lambda: not self._n_requests, timeout=seconds)

    def close(self) -> None:
        """End the processes."""
        for guard in self._guards:
            guard.close()


class _RefusalError(Exception):
    """A refused request, which is answered with a status and a sentence."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status = status


class _Incoming(io.RawIOBase):
    """Reads from a connection until a deadline. A client that sends slowly cannot prolong it."""

    def __init__(self, connection: socket.socket) -> None:
        self.deadline = 0.0
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read as usual, but raise TimeoutError after the deadline."""
        self._connection.settimeout(max(0.001, self.deadline - time.monotonic()))
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(_REQUEST_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    service: ClassVar[Service]
    timeout = _REQUEST_SECONDS
    protocol_version = "HTTP/1.1"
    server_version = f"dripper/{dripper.__version__}"
    sys_version = ""

    def setup(self) -> None:
        """Read from the connection through `_Incoming`, which enforces the deadline."""
        super().setup()
        self._incoming = _Incoming(self.connection)
        self.rfile = io.BufferedReader(self._incoming)

    def handle_one_request(self) -> None:
        """Set a new deadline and handle a request. A client that disconnects or is too slow is not
        an error."""
        self._incoming.deadline = time.monotonic() + _REQUEST_SECONDS
        self._n_large = 0
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def do_GET(self) -> None:
        """Report whether the service is up and accepts requests."""
        self._handle(self._report_health)

    do_HEAD = do_GET  # noqa: N815, http.server's name

    def do_POST(self) -> None:
        """Answer with the main content of the page in the request body."""
        self._handle(self._extract)

    def _handle(self, answer: Callable[[], None]) -> None:
        """Answer a request, or refuse it."""
        with self.service.request():
            try:
                if self.service.is_ending:
                    raise _RefusalError(HTTPStatus.SERVICE_UNAVAILABLE, _ENDING)
                answer()
            except _RefusalError as refusal:
                # Otherwise the server would read the rest of the body as the next request.
                self.close_connection = True
                self._answer_json(refusal.status, {"error": str(refusal)})
            finally:
                self.service.large_bytes.give_back(self._n_large)

    def _report_health(self) -> None:
        self._split_target("/health")
        self._answer_json(HTTPStatus.OK, {"status": "ok", **self.service.versions})

    def _extract(self) -> None:
        page, form = self._read_page()
        if not self.service.places.acquire(blocking=False):
            raise _RefusalError(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests wait: try again")
        try:
            extraction = self.service.extract(page)
        finally:
            self.service.places.release()
        self._answer(extraction, page[1], form)

    def _split_target(self, path: str) -> str:
        """Return the query of the request. The request must be for `path` and name one host (RFC
        9112 3.2)."""
        hosts = self.headers.get_all("Host", [])
        try:
            for target in (*(urlsplit(f"//{host}") for host in hosts), urlsplit(self.path)):
                _ = target.port
        except ValueError:
            hosts = ["", ""]
        if len(hosts) > 1 or (not hosts and self.request_version == "HTTP/1.1"):
            raise _RefusalError(HTTPStatus.BAD_REQUEST, "the address of the request is damaged")
        if target.path != path:
            raise _RefusalError(HTTPStatus.NOT_FOUND, "there are GET /health and POST /extract")
        return target.query

    def _read_page(self) -> tuple[_Page, str]:
        """Return the page that a request contains, and the output format that it asks for; raises
        _RefusalError."""
        query = {name: values[-1] for name, values in parse_qs(self._split_target("/extract")).items()}
        _check_query(query)
        declared = self.headers.get("Content-Type")
        media_type = parse_media_type(declared)
        if media_type.startswith("multipart/"):
            sentence = "send the page alone as the body (curl --data-binary @page.html), not as a form"
            raise _RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence)
        body = self._read_body(self.service.settings.reading.page_bytes)
        kind = declared if media_type in HTML_TYPES else None
        if media_type == "application/json":
            try:
                query = read_json_page(body) | query
            except ValueError:
                raise _RefusalError(HTTPStatus.BAD_REQUEST, f"as JSON, a page is {FORM}") from None
            body, kind = query.pop("html").encode("utf-8", "replace"), "text/html; charset=utf-8"
            _check_query(query)
        return (body, query.get("url"), kind), query.get("format", "json")

    def _read_body(self, limit: int) -> bytes:
        """Return the body of the request, which is chunked or has a Content-Length (RFC 9112 6)."""
        sizes, codings = (self.headers.get_all(name, []) for name in ("Content-Length", "Transfer-Encoding"))
        if len(sizes) + len(codings) > 1:
            # A proxy in between may have used the other length.
            raise _RefusalError(HTTPStatus.BAD_REQUEST, "the request has two lengths")
        if codings and codings[0].strip().lower() != "chunked":
            raise _RefusalError(HTTPStatus.NOT_IMPLEMENTED, "of transfer codings only chunked is known")
        # Each body has its own mmap: the system allocates only the memory pages that are written
        # to, and frees them all at the end. If many threads grew the heap instead, it would keep
        # three times as much memory.
        with mmap(-1, limit) as body:
            if codings:
                self._read_chunks(body)
            else:
                size = sizes[0].strip() if sizes else ""
                if not (size.isascii() and size.isdecimal()):
                    raise _RefusalError(HTTPStatus.LENGTH_REQUIRED, "the request needs a Content-Length")
                self._read_whole(size.lstrip("0") or "0", 10, body)
            return body[: body.tell()]

    def _read_whole(self, digits: str, base: int, body: mmap) -> None:
        size = int(digits, base) if len(digits) < 16 else len(body) + 1
        if size > len(body) - body.tell():
            raise _RefusalError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the page may have {len(body)} bytes")
        end = body.tell() + size
        while body.tell() < end:
            piece = self.rfile.read(min(_PIECE_BYTES, end - body.tell()))
            if not piece:
                raise _RefusalError(HTTPStatus.BAD_REQUEST, "the page ended before its length")
            self._make_room(body.tell() + len(piece))
            body.write(piece)

    def _make_room(self, n_bytes: int) -> None:
        """Reserve room for the bytes received so far, so that a slow client reserves no more than
        it has sent."""
        more = max(0, n_bytes - _SMALL_BYTES) - self._n_large
        if not self.service.large_bytes.take(more, self._n_large):
            self._n_large = 0
            raise _RefusalError(HTTPStatus.SERVICE_UNAVAILABLE, "too many large pages are on their way: try again")
        self._n_large += more

    def _read_chunks(self, body: mmap) -> None:
        while match := _CHUNK.fullmatch(self.rfile.readline(_LONGEST_LINE)):
            self._read_whole(match[1].decode(), 16, body)
            if match[1] == b"0":  # trailers follow, up to an empty line
                for _ in range(_MOST_TRAILERS):
                    if self.rfile.readline(_LONGEST_LINE).strip() == b"":
                        return
                break
            if self.rfile.readline(3).strip():
                break
        raise _RefusalError(HTTPStatus.BAD_REQUEST, "the chunks of the page are damaged")

    def _answer(self, extraction: Extraction | None, url: str | None, form: str) -> None:
        if extraction is None:
            raise _RefusalError(HTTPStatus.SERVICE_UNAVAILABLE, "all processes are busy: try again")
        if extraction.error_code is not None and not FORMATS[form].holds_errors:
            problem = {"error_code": extraction.error_code, "error_detail": extraction.error_detail}
            return self._answer_json(HTTPStatus.UNPROCESSABLE_ENTITY, problem)
        status = HTTPStatus.OK if extraction.error_code is None else HTTPStatus.UNPROCESSABLE_ENTITY
        return self._send(status, FORMATS[form].write(extraction, url), FORMATS[form].media_type)

    def _answer_json(self, status: HTTPStatus, answer: dict[str, str | None]) -> None:
        self._send(status, json.dumps(answer, ensure_ascii=False), "application/json")

    def _send(self, status: HTTPStatus, text: str, kind: str) -> None:
        body = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        # Scripts in a page must not run with this server's origin.
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", "sandbox; default-src 'none'")
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            self.send_header("Retry-After", "1")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log a line for each request, without the query, which contains the page's URL."""
        line = _QUERY.sub("", format % args)
        with suppress(OSError):
            super().log_message("%s", printable(line))


def _check_query(query: Mapping[str, str]) -> None:
    if set(query) - {"format", "url"} or query.get("format", "json") not in FORMATS:
        usage = f"the query may have url, and format, one of {', '.join(FORMATS)}"
        raise _RefusalError(HTTPStatus.BAD_REQUEST, usage)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *of_server: Any) -> None:
        self._connections = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__(*of_server)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection, or answer with status 503 if too many connections are open."""
        if self._connections.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.sendall(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\r\n")
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()


def make_server(service: Service, host: str, port: int) -> ThreadingHTTPServer:
    """Return a listening server.

    Args:
        port: The port; 0 means any free port.

    Raises:
        OSError: The server cannot listen on this host and port.
    """
    handler = type("Handler", (_Handler,), {"service": service})
    return _Server((host, port), handler)
