#!/bin/sh
# A chunked body with a chunk extension or a trailer field: FastWARC raises, warcio keeps the trailer
# as text of the page.
#
# Both are part of HTTP/1.1 (RFC 9112 7.1.1 and 7.1.2), and a crawler stores them as they were sent.
# With `auto_decode="all"` FastWARC refuses each of them with "Invalid chunk header". warcio accepts
# an extension, but returns the last chunk and the trailer field as text of the page.
#
# warcio 1.8.1, FastWARC 2.0.1, Python 3.11; 28 November 2026. Seen:
#   extension: warcio b'hello', FastWARC OSError
#   trailer: warcio b'hello0\r\nSum: 1\r\n\r\n', FastWARC OSError
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages warcio==1.8.1 fastwarc==2.0.1
export PYTHONPATH=packages
python3 - <<'PY'
import io

from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

def record(head, body, date="2024-05-01T10:20:30Z", kind="response"):
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + head + b"\r\n" + body
    return (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://example.org/\r\nWARC-Date: {date}\r\n"
        "WARC-Record-ID: <urn:uuid:6f1d4e8e-2c53-4f4c-9a6e-0d5a3a0f7a11>\r\n"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(block)}\r\n\r\n"
    ).encode() + block + b"\r\n\r\n"


def by_warcio(archive):
    (found,) = [one.content_stream().read() for one in ArchiveIterator(io.BytesIO(archive))]
    return found


def by_fastwarc(archive):
    try:
        records = FastIterator(io.BytesIO(archive), parse_http=True, auto_decode="all")
        (found,) = [one.reader.read() for one in records]
    except OSError:
        return OSError
    return found


bodies = {
    "extension": b"5;note=a\r\nhello\r\n0\r\n\r\n",
    "trailer": b"5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
    "neither": b"5\r\nhello\r\n0\r\n\r\n",
}
seen = {}
for name, body in bodies.items():
    archive = record(b"Transfer-Encoding: chunked\r\n", body)
    seen[name] = by_warcio(archive), by_fastwarc(archive)
    print(f"{name}: warcio {seen[name][0]!r}, FastWARC {getattr(seen[name][1], '__name__', seen[name][1])}")
assert seen["neither"] == (b"hello", b"hello")
assert seen["extension"] == (b"hello", OSError)
assert seen["trailer"][0] == b"hello0\r\nSum: 1\r\n\r\n"
assert seen["trailer"][1] is OSError
PY
