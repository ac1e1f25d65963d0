"""Archives made on the spot: records with known payloads, stored in every way, to be damaged by the
tests."""

import gzip
import io
from dataclasses import dataclass

import lz4.frame
import zstandard

STORAGES = ("plain", "gzip", "gzip whole", "zstd", "lz4")


@dataclass(frozen=True)
class Built:
    """An archive. spans: of each record, its stored bytes (start, end), and for a whole gzip its
    decompressed bytes."""

    data: bytes
    spans: list[tuple[int, int]]


def http(body: bytes, content_type: str = "text/html; charset=utf-8", status: str = "200 OK", extra: str = "") -> bytes:
    """Return an HTTP response."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def warc(url: str, block: bytes, kind: str = "response", length: int | str | None = None, **fields: str) -> bytes:
    """Return a WARC record. length: a false length for its header."""
    said = len(block) if length is None else length
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-02-03T04:05:06Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n{more}"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {said}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def arc(url: str, block: bytes, length: int | None = None, date: str = "20080430204825") -> bytes:
    """Return an ARC version 1 record."""
    return f"{url} 1.2.3.4 {date} text/html {len(block) if length is None else length}\n".encode() + block + b"\n"


def page(number: int, size: int = 300) -> bytes:
    """Return an HTML page that no other page equals, and that hardly compresses to nothing."""
    words = " ".join(f"w{(number * 7919 + i * 104729) % 99991}" for i in range(max(1, size // 7)))
    return f"<!doctype html><title>{number}</title><p>page {number}: {words}</p>".encode()


def store(records: list[bytes], storage: str) -> Built:
    """Return the records stored one way; spans are of stored bytes."""
    if storage == "gzip whole":
        return Built(gzip.compress(b"".join(records), mtime=0), _spans(records))
    compress = {
        "plain": bytes,
        "gzip": lambda data: gzip.compress(data, mtime=0),
        "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
        "lz4": lambda data: lz4.frame.compress(data, content_checksum=True),
    }[storage]
    stored = [compress(record) for record in records]
    return Built(b"".join(stored), _spans(stored))


def _spans(parts: list[bytes]) -> list[tuple[int, int]]:
    spans, at = [], 0
    for part in parts:
        spans.append((at, at + len(part)))
        at += len(part)
    return spans


class Bytes(io.BytesIO):
    """An archive in memory, as a `Source`."""

    size_bytes: int | None = None

    def open_at(self, offset: int) -> io.BytesIO:
        return io.BytesIO(self.getvalue()[offset:])
