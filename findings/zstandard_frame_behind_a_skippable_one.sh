#!/bin/sh
# One of three methods of python-zstandard raises on a frame after a skippable frame, one silently
# returns nothing, and one reads it.
#
# `Content-Encoding: dcz` (RFC 9842) begins every body with a skippable frame of 32 bytes, the SHA-256
# of the dictionary. RFC 8878 (3.1.2) tells decoders to skip such frames. `decompress` takes the length
# of the skippable frame as the size of the content, and then lacks these bytes. `decompressobj` ends
# at the skippable frame and returns b"". `stream_reader` skips it.
#
# zstandard 0.25.0, Python 3.11; 28 November 2026. Seen:
#   decompress: ZstdError
#   decompressobj: 0 bytes
#   stream_reader: 1800 bytes
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages zstandard==0.25.0
export PYTHONPATH=packages
python3 - <<'PY'
import hashlib
import struct

import zstandard as zstd

old = b"".join(b"<li>Line %d of the style sheet of last week.</li>" % i for i in range(40))
page = old[:900] + b"<p>" + old[900:1797]
dictionary = zstd.ZstdCompressionDict(old, dict_type=zstd.DICT_TYPE_RAWCONTENT)
frame = zstd.ZstdCompressor(dict_data=dictionary).compress(page)
body = struct.pack("<II", 0x184D2A5E, 32) + hashlib.sha256(old).digest() + frame


def reader():
    return zstd.ZstdDecompressor(dict_data=dictionary)


try:
    whole = f"{len(reader().decompress(body))} bytes"
except zstd.ZstdError as error:
    whole = "ZstdError"
by_object = reader().decompressobj().decompress(body)
by_stream = reader().stream_reader(body).read()
print(f"decompress: {whole}\ndecompressobj: {len(by_object)} bytes\nstream_reader: {len(by_stream)} bytes")
assert reader().decompress(frame) == page
assert (whole, by_object, by_stream) == ("ZstdError", b"", page)
PY
