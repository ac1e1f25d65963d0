"""Reads CDXJ, a text format for indexes. Each line contains a sort key, a timestamp and a JSON
object.

pywb, cdxj-indexer and Common Crawl's URL index write CDXJ. Most files store numbers as strings.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

from dripper.errors import FileError, FileErrorKind
from dripper.warc.index.selection import Capture
from dripper.warc.open.base import Readable, parse_whole_number, unzip

_MAX_LINE_BYTES = 1 << 22
"""The maximum length of a line. No URL is this long, so a longer line cannot be an index entry."""


def parse_line(line: str) -> Capture:
    """Parse a line. Raises ValueError with the reason if the line contains no capture.

    >>> fields = '{"url": "http://e.org/", "filename": "a.warc", "offset": "0", "length": "9"}'
    >>> parse_line(f"org,e)/ 2024 {fields}").file
    'a.warc'
    """
    parts = line.split(" ", 2)
    if len(parts) < 3 or not parts[1].isdigit():
        raise ValueError("it is not a key, a timestamp and a JSON object")
    try:
        fields = json.loads(parts[2])
    except ValueError as error:
        raise ValueError(f"its JSON is broken: {error}") from None
    if not isinstance(fields, dict):
        raise ValueError("it has no JSON object")
    languages = fields.get("languages")
    return Capture(
        url=_get_text(fields, "url"),
        file=_get_text(fields, "filename"),
        offset=_parse_number(fields, "offset"),
        length=_parse_number(fields, "length", 1),
        status=parse_whole_number(str(fields.get("status", ""))),
        mime=str(fields.get("mime-detected") or fields.get("mime") or ""),
        languages=tuple(str(languages).split(",")) if languages else None,
    )


def read_lines(stream: Readable, path: str) -> Iterator[str]:
    """Yield the lines of a stream. If the stream is gzip (one or several members), it is
    decompressed. Raises FileError if the stream is damaged or ends inside a member."""
    lines = unzip(stream)
    try:
        while line := lines.readline(_MAX_LINE_BYTES):
            if len(line) == _MAX_LINE_BYTES:
                raise FileError(FileErrorKind.UNREADABLE, f"{path} is not CDXJ: one of its lines does not end")
            yield line.removesuffix(b"\n").decode("utf-8", "replace")
    except EOFError:
        raise FileError(FileErrorKind.UNREADABLE, f"{path} is cut short") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(FileErrorKind.UNREADABLE, f"{path} is damaged: {error}") from error


def _get_text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"it has no {name}")
    return value


def _parse_number(fields: dict[str, Any], name: str, least: int = 0) -> int:
    value = str(fields.get(name, ""))
    number = parse_whole_number(value)
    if number is None or number < least:
        raise ValueError(f"its {name} is {value[:100] or 'missing'}")
    return number
