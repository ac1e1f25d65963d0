#!/bin/sh
# With --post-append, cdxj-indexer writes the digest of no bytes for every record without a stored one.
#
# An index needs a digest to tell revisits from new captures. cdxj-indexer computes the SHA-1 of a
# payload where WARC-Payload-Digest is absent, as the standard allows. With `-p` (which adds the fields
# of a POST request to the key) all of them are the same: 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ, the digest
# of an empty payload. Records whose request is a GET are hit as well.
#
# cdxj-indexer 1.5.0, warcio 1.8.1, Python 3.11; 28 November 2026. Seen:
#   without -p: 2 different digests of 2
#   with -p: 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ, 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages cdxj-indexer==1.5.0 warcio==1.8.1
export PYTHONPATH=packages
python3 - <<'PY'
import gzip
import json
import subprocess


def record(kind, number, block):
    return gzip.compress(
        (
            f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://example.org/{number}\r\n"
            f"WARC-Date: 2024-05-01T10:20:30Z\r\nWARC-Record-ID: <urn:uuid:{kind}-{number}>\r\n"
            f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(block)}\r\n\r\n"
        ).encode()
        + block
        + b"\r\n\r\n"
    )


with open("a.warc.gz", "wb") as out:
    for number in (1, 2):
        page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Page number %d" % number
        out.write(record("response", number, page))
        out.write(record("request", number, b"GET /%d HTTP/1.1\r\nHost: example.org\r\n\r\n" % number))


def digests(*options):
    done = subprocess.run(["packages/bin/cdxj-indexer", *options, "a.warc.gz"], capture_output=True, check=True, text=True)
    lines = [json.loads(line[line.index("{") :]) for line in done.stdout.splitlines()]
    return [line["digest"].removeprefix("sha1:") for line in lines]


plain, appended = digests(), digests("-p")
print(f"without -p: {len(set(plain))} different digests of {len(plain)}")
print("with -p:", ", ".join(appended))
assert len(set(plain)) == 2
assert appended == ["3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"] * 2
PY
