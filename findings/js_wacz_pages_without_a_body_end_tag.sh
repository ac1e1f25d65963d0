#!/bin/sh
# js-wacz lists a page only if its HTML has the end tag of `body`, which HTML lets authors leave out.
#
# `--detect-pages` (on by default) makes the list of pages that players show as the start of a WACZ. The
# HTML standard (13.1.2.4) allows to omit `</body>`, and many pages do. Of two records that differ in
# nothing else, only the one with the tag is in pages/pages.jsonl.
#
# js-wacz 0.1.6 (npm), Node 20; 28 November 2026. Seen:
#   https://example.org/closed
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > npm.log
npm install --no-audit --no-fund @harvard-lil/js-wacz@0.1.6 >> npm.log 2>&1
python3 - <<'PY'
import gzip

def record(name, end):
    page = b"<!DOCTYPE html><html><head><title>The mill</title></head><body><p>The mill at the river bend." + end
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
    return gzip.compress(
        (
            f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/{name}\r\n"
            f"WARC-Date: 2024-05-01T10:20:30Z\r\nWARC-Record-ID: <urn:uuid:6f1d4e8e-2c53-4f4c-9a6e-{len(name):012d}>\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
        ).encode()
        + block
        + b"\r\n\r\n"
    )

with open("a.warc.gz", "wb") as out:
    out.write(record("closed", b"</p></body></html>") + record("left-open", b""))
PY
npx js-wacz create --file a.warc.gz --output a.wacz > wacz.log 2>&1
python3 - <<'PY'
import json
import zipfile

lines = zipfile.ZipFile("a.wacz").read("pages/pages.jsonl").decode().splitlines()
urls = [json.loads(line)["url"] for line in lines if '"url"' in line]
print("\n".join(urls))
assert urls == ["https://example.org/closed"]
PY
