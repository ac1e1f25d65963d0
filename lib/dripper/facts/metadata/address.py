"""Finds the URL that a saved page declares as its own, for resolving relative links."""

import re
from collections.abc import Callable

from dripper.facts.metadata.read import Metadata
from dripper.tree.tree import unescape
from dripper.tree.urls import Base

_SEARCHED = 4096
"""Number of bytes to search. Programs that save a page write the URL near the start."""
_COMMENTS: tuple[tuple[re.Pattern[bytes], Callable[[str], str]], ...] = (
    # Written by browsers. The number is the length of the URL.
    (re.compile(rb"<!--\s*saved from url=\(\d+\)(\S+)", re.IGNORECASE), str),
    (re.compile(rb"<!--\s*Page saved with SingleFile\s+url:\s*(\S+)"), str),
    (re.compile(rb"<!--\s*Mirrored from (\S+) by HTTrack"), "http://{}".format),
)


def find_own_address(utf8: bytes, metadata: Metadata | None) -> str | None:
    """Return the URL that a page declares as its own. This is the URL written by the program that
    saved the page, otherwise the canonical URL (`<link rel=canonical>`, `og:url`).

    Return None if neither is a web URL.

    >>> find_own_address(b"<!-- saved from url=(0018)https://e.org/a/b --><p>", None)
    'https://e.org/a/b'
    """
    head = utf8[:_SEARCHED]
    for pattern, complete in _COMMENTS:
        if match := pattern.search(head):
            address = complete(unescape(match[1].decode("utf-8", "ignore")))
            if Base.of(address) is not None:
                return address
    return find_canonical_address(metadata)


def find_canonical_address(metadata: Metadata | None) -> str | None:
    """Return the canonical URL that a page declares; None if it is not a web URL."""
    canonical = metadata.canonical_url if metadata is not None else None
    return canonical if Base.of(canonical) is not None else None
