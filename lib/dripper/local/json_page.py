"""Reads a page sent as JSON: `{"html": "…", "url": "…"}`. Clients of other services send pages like
this."""

import re
from json import JSONDecoder

_OPEN = re.compile(r"\s*(\{)")
_MEMBER = re.compile(r'\s*"(html|url|format)"\s*:\s*(?=")')
_NEXT = re.compile(r"\s*(,|\}(?=\s*\Z))")

FORM = '{"html": "…", "url": "…", "format": "…"}, all strings; only html is needed'


def read_json_page(body: bytes) -> dict[str, str]:
    """Return the members of the JSON object in `body`: `html`, and `url` and `format` if they are
    given.

    Any other member, or a value that is not a string, raises ValueError without being parsed.

    >>> read_json_page(b'{"html": "<p>Rain", "url": "https://example.org/"}')
    {'html': '<p>Rain', 'url': 'https://example.org/'}
    """
    text = body.decode("utf-8-sig")
    members: dict[str, str] = {}
    mark = _OPEN.match(text)
    while mark and mark[1] in "{,":
        member = _MEMBER.match(text, mark.end())
        if member is None or member[1] in members:
            raise ValueError(FORM)
        members[member[1]], end = JSONDecoder().raw_decode(text, member.end())
        mark = _NEXT.match(text, end)
    if mark is None or "html" not in members:
        raise ValueError(FORM)
    return members
