"""What the first line of a record looks like: how reading starts, and how it starts again after
damage."""

import re

_WARC_LINE = rb"WARC/\d+\.\d+[ \t]*\r?\n"
_HEADER_NAME = rb"[A-Za-z][A-Za-z0-9\-]*[ \t]*:"
SCHEMES = rb"(?:https?|ftps?|dns|whois|filedesc|gopher|nntp|news|rtsp|mms|mailto|metadata|urn|screenshot):"
"""Of URLs in archives. Any word with a colon would find records in HTTP headers, and half of one in
`tp://`."""

_ARC_LINE = SCHEMES + rb"[^\s][^\n]{0,8192} [0-9a-fA-F.:]+ \d{14} (?=[^\n]{0,1280}+\n)[^\n]{0,1024}\d[ \t]*+\r?\n"
"""The line must end soon after the date, or a line of many dates would be searched for its end from
each of them, and backwards."""

RECORD_START = re.compile(rb"(?i:" + _WARC_LINE + _HEADER_NAME + rb")|" + _ARC_LINE)
"""A WARC version line (ISO 28500:2017 6.2; 0.17 and 0.18 of the drafts too, small letters too) and
the header line after it, or the URL line of ARC version 1 or 2: URL (some hold spaces), IP address,
14-digit date, …, length."""

_NEXT_WARC = re.compile(rb"(?<![\w \t:=;,'\"])(?i:" + _WARC_LINE + _HEADER_NAME + rb")")
_NEXT_ARC = re.compile(rb"(?<=\n)(?:" + _ARC_LINE + rb")")
_NEXT_EITHER = re.compile(_NEXT_WARC.pattern + rb"|" + _NEXT_ARC.pattern)

START_BYTES = 10_240
"""No start is longer. Searches in pieces overlap by this."""


def find_start(data: bytes | bytearray, start: int, arc: bool | None, end: int | None = None) -> int:
    """Return where in `data[start:end]` the next record starts, or -1.

    arc: look in an ARC, at the start of lines only, or in a WARC, where the line feed may be
    missing (it may be what was lost) but what comes before must not make the version a value, as in
    `format: WARC/1.0`. None: look for both.
    """
    pattern = _NEXT_EITHER if arc is None else _NEXT_ARC if arc else _NEXT_WARC
    found = pattern.search(data, start, len(data) if end is None else max(0, end))
    return found.start() if found else -1
