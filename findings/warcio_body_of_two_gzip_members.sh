#!/bin/sh
# warcio gives only the first gzip member of an HTTP body.
#
# RFC 1952 (2.2) allows a gzip file with several consecutive members, and servers that compress piece by
# piece send such bodies with `Content-Encoding: gzip`. `content_stream().read()` returns the content of
# the first member and then the end of the stream: no error, no flag, and the rest of the page is missing.
# FastWARC, on the same record, returns all of it.
#
# warcio 1.8.1, FastWARC 2.0.1, Python 3.11; 28 November 2026. Seen:
#   warcio: 23 of 66 bytes
#   FastWARC: 66 of 66 bytes
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages warcio==1.8.1 fastwarc==2.0.1
export PYTHONPATH=packages
python3 - <<'PY'
import gzip
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


parts = [b"<p>The first third.</p>", b"<p>The second one.</p>", b"<p>And the rest.</p>\n"]
archive = record(b"Content-Encoding: gzip\r\n", b"".join(gzip.compress(part) for part in parts))
whole = b"".join(parts)
(by_warcio,) = [one.content_stream().read() for one in ArchiveIterator(io.BytesIO(archive))]
(by_fastwarc,) = [one.reader.read() for one in FastIterator(io.BytesIO(archive), parse_http=True, auto_decode="all")]
print(f"warcio: {len(by_warcio)} of {len(whole)} bytes")
print(f"FastWARC: {len(by_fastwarc)} of {len(whole)} bytes")
assert by_warcio == parts[0]
assert by_fastwarc == whole
PY
