#!/bin/sh
# WARC/1.1 lets a date be as short as a year; neither reader gives a time for it.
#
# ISO 28500:2017 (5.4) takes WARC-Date from W3C's profile of ISO 8601, with any precision from the year
# to the nanosecond, for material with no better date. FastWARC's `record_date` is None for a year, a
# month and a day alike, as for no date at all. warcio's `iso_date_to_datetime` raises TypeError for a year
# and for a month, and gives the first instant of a day. Both read fractions of a second with nine digits.
#
# warcio 1.8.1, FastWARC 2.0.1, Python 3.11; 28 November 2026. The output seen is in EXPECTED below.
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
from warcio.timeutils import iso_date_to_datetime

def record(head, body, date="2024-05-01T10:20:30Z", kind="response"):
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + head + b"\r\n" + body
    return (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://example.org/\r\nWARC-Date: {date}\r\n"
        "WARC-Record-ID: <urn:uuid:6f1d4e8e-2c53-4f4c-9a6e-0d5a3a0f7a11>\r\n"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(block)}\r\n\r\n"
    ).encode() + block + b"\r\n\r\n"


def show(ask):
    try:
        found = ask()
    except Exception as error:
        return type(error).__name__
    return found.isoformat() if found else "None"


EXPECTED = """2024: FastWARC None, warcio TypeError
2024-05: FastWARC None, warcio TypeError
2024-05-01: FastWARC None, warcio 2024-05-01T00:00:00
2024-05-01T10:20:30.123456789Z: FastWARC 2024-05-01T10:20:30.123456+00:00, warcio 2024-05-01T10:20:30.123456"""
lines = []
for date in ("2024", "2024-05", "2024-05-01", "2024-05-01T10:20:30.123456789Z"):
    archive = record(b"", b"<p>x", date)
    (by_fastwarc,) = [show(lambda one=one: one.record_date) for one in FastIterator(io.BytesIO(archive))]
    (stored,) = [one.rec_headers.get_header("WARC-Date") for one in ArchiveIterator(io.BytesIO(archive))]
    lines.append(f"{date}: FastWARC {by_fastwarc}, warcio {show(lambda: iso_date_to_datetime(stored))}")
print("\n".join(lines))
assert "\n".join(lines) == EXPECTED
PY
