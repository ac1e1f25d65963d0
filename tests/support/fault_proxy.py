"""A proxy in front of a real S3 or HTTP server that misbehaves as storage does on a bad night, from
a seed."""

import http.client
import os
import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_DROPPED = frozenset({"connection", "transfer-encoding", "date", "server"})
_NO_LINGER = struct.pack("ii", 1, 0)


class Fault(StrEnum):
    """The faults of one request."""

    SLOW_DOWN = "slow down"
    TOO_MANY = "too many requests"
    INTERNAL = "internal error"
    REFUSED = "reset before the answer"
    RESET = "reset at a random byte"
    STALL = "stall at a random byte"
    SHORT_BODY = "body ends early"
    SHORT_LENGTH = "length too small"
    LONG_LENGTH = "length too large"
    OTHER_RANGE = "another range"
    NO_RANGE = "the whole file instead of a range"
    GARBLED_RANGE = "garbled range"
    EXPIRED = "expired credentials"


ERRORS = {
    Fault.SLOW_DOWN: (503, "SlowDown"),
    Fault.TOO_MANY: (429, "TooManyRequests"),
    Fault.INTERNAL: (500, "InternalError"),
    Fault.EXPIRED: (400, "ExpiredToken"),
}
"""Faults that are an answer: its status and S3's code."""

OF_BODIES = frozenset({Fault.RESET, Fault.STALL, Fault.SHORT_BODY, Fault.SHORT_LENGTH, Fault.LONG_LENGTH})
OF_RANGES = frozenset({Fault.OTHER_RANGE, Fault.NO_RANGE, Fault.GARBLED_RANGE})


class FaultProxy(ThreadingHTTPServer):
    """Passes GET and HEAD on to `target`; `choose` returns the fault of each request (method,
    path)."""

    daemon_threads = True

    def __init__(self, target: str, choose: Callable[[str, str], Fault | None], seed: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = urlsplit(target).netloc
        self.endpoint = f"http://127.0.0.1:{self.server_address[1]}"
        self.choose = choose
        self.random = random.Random(seed)
        self.faults: Counter[Fault] = Counter()
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.ended = threading.Event()
        self.lock = threading.Lock()

    def decide(self, method: str, path: str, headers: dict[str, str]) -> tuple[Fault | None, float]:
        """Return the fault of a request, and the part of its body at which it occurs."""
        with self.lock:
            self.requests.append((method, path, headers))
            fault = self.choose(method, path)
            if fault in OF_BODIES and method == "HEAD" and fault not in (Fault.SHORT_LENGTH, Fault.LONG_LENGTH):
                fault = Fault.REFUSED
            if fault in OF_RANGES and "range" not in headers:
                fault = Fault.INTERNAL
            if fault:
                self.faults[fault] += 1
            return fault, self.random.random()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect, because this is intended here."""


def seeded(seed: int, share: float, kinds: tuple[Fault, ...] = tuple(Fault)) -> Callable[[str, str], Fault | None]:
    """Return a random choice: this share of all requests fails."""
    chance = random.Random(seed)
    return lambda method, path: chance.choice(kinds) if chance.random() < share else None


@contextmanager
def faulty(target: str, choose: Callable[[str, str], Fault | None], seed: int = 0) -> Iterator[FaultProxy]:
    """Run a proxy."""
    proxy = FaultProxy(target, choose, seed)
    threading.Thread(target=proxy.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.ended.set()
        proxy.shutdown()
        proxy.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: FaultProxy
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault, part = self.server.decide(self.command, self.path, headers)
        if fault == Fault.REFUSED:
            self._reset()
        elif fault in ERRORS:
            self._error(*ERRORS[fault])
        else:
            self._pass(headers, fault, part)

    def _error(self, status: int, code: str) -> None:
        body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
        self._answer(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))], body)

    def _pass(self, headers: dict[str, str], fault: Fault | None, part: float) -> None:
        asked = {name: value for name, value in headers.items() if name not in _DROPPED | {"host"}}
        if fault == Fault.NO_RANGE:
            del asked["range"]
        if fault == Fault.OTHER_RANGE:
            asked["range"] = f"bytes={int(asked['range'][6:].split('-')[0]) + 1 + int(part * 1000)}-"
        upstream = http.client.HTTPConnection(self.server.target)
        upstream.request(self.command, self.path, headers=asked)
        answer = upstream.getresponse()
        body = answer.read()
        upstream.close()
        told = {name.title(): value for name, value in answer.getheaders() if name.lower() not in _DROPPED}
        if fault == Fault.GARBLED_RANGE and "Content-Range" in told:
            told["Content-Range"] = "bytes 9-1/fish"
        size = int(told.get("Content-Length", 0))
        if fault == Fault.LONG_LENGTH:
            told["Content-Length"] = str(size + 1 + int(part * 1000))
        if fault == Fault.SHORT_LENGTH:
            told["Content-Length"] = str(int(part * size))
            body = body[: int(part * size)]
        self._answer(answer.status, list(told.items()), body, fault, part)

    def _answer(
        self, status: int, headers: list[tuple[str, str]], body: bytes, fault: Fault | None = None, part: float = 0.0
    ) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        ends_early = fault in (Fault.RESET, Fault.STALL, Fault.SHORT_BODY)
        self.wfile.write(body[: int(part * len(body))] if ends_early else body)
        self.wfile.flush()
        if fault == Fault.RESET:
            self._reset()
        elif fault == Fault.STALL:
            self.server.ended.wait()
        if fault:
            self.close_connection = True

    def _reset(self) -> None:
        """End the connection with a reset instead of an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        os.close(self.connection.detach())  # its other holders would put off a close
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass
