"""Cleans the names of authors, tags and sites that pages state."""

import re
from collections.abc import Iterable
from html import unescape

_LONGEST = 100
_MOST = 30
_SPACES = re.compile(r"\s+")
_TAG = re.compile(
    r"</?(?:(a|abbr|b|em|font|i|img|mark|small|span|strong|sub|sup|u)|br|div|h[1-6]|hr|li|ol|p|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
"""The group: those that stand within words and lines."""
_ENDS = " -–—|·•,:"
"""What parts a name from what stood beside it."""
_BEFORE = re.compile(
    r"(?:(?:written|posted|published|story|words|text)\s+)?by\b[\s:]+|authors?\s*:\s*|(?-i:Von|Par|Por|Door|Av)\s+(?=\S+\s+\S)",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"(?<=\w)\s*[|•·–—]|\s+-\s|\s*\b(?:on|says|said|updated|published|posted)\b|\s*\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\s*\d",
    re.IGNORECASE,
)
"""What may follow the name in a line about it: its date, a count, another word of the line."""
_APART = re.compile(r"\s*[;|•·]\s*|\s+(?:and|und|et|y)\s+|\s*&\s*|\s*,\s*(?:and\s+)?", re.IGNORECASE)
_NO_NAME = re.compile(r"https?:|www\.|@|\.(?:com|org|net)/|^[\W\d_]*$")
_NOBODY = frozenset(
    {
        *("admin", "administrator", "author", "authors", "the author", "about the author", "webmaster", "user"),
        *("unknown", "none", "null", "undefined"),
    }
)


def join_lines(text: str) -> str:
    """Return the text with its white space collapsed."""
    return _SPACES.sub(" ", text).strip()


def remove_tags(text: str) -> str:
    """Return a text without the tags of HTML that a site's editor left in it, escaped or not.

    >>> join_lines(remove_tags("<p>Rain in <b>Bergen</b>.</p>&lt;br&gt;Sun in Oslo, x < y."))
    'Rain in Bergen. Sun in Oslo, x < y.'
    """
    return _TAG.sub(lambda tag: "" if tag[1] else " ", unescape(text)) if "<" in text or "&lt;" in text else text


def split_authors(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names in texts that each state one or several authors.

    >>> split_authors(["By Ann Lee and Bo  Ray", "https://e.org/ann", "admin", "Lee, Ann"])
    ('Ann Lee', 'Bo Ray', 'Lee, Ann')
    """
    names: dict[str, str] = {}
    for text in texts:
        whole = join_lines(text)
        if start := _BEFORE.match(whole):
            whole = whole[start.end() :]
        parts = _APART.split(whole)
        # "Lee, Ann" and "Marks & Spencer" are one name each: several have a first and a last name
        # each.
        for name in (part.strip(_ENDS) for part in (parts if all(" " in part for part in parts) else [whole])):
            if 1 < len(name) <= _LONGEST and not _NO_NAME.search(name) and name.casefold() not in _NOBODY:
                names.setdefault(name.casefold(), name)
    return tuple(names.values())[:_MOST]


def read_byline(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names in the first of these texts that states some, without the date and the
    counts beside it.

    The first alone: further ones are those of comments, answers and other articles.

    >>> read_byline(["", "By Ann Lee on 3 May 2024 | 5 min read", "Bo Ray"])
    ('Ann Lee',)
    """
    return next(
        (names for text in texts if (names := split_authors([_BESIDE.split(join_lines(text), maxsplit=1)[0]]))), ()
    )


def split_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the keywords in texts that each hold one, or several between commas.

    >>> split_tags(["rain, Bergen", "Rain"])
    ('rain', 'Bergen')
    """
    tags: dict[str, str] = {}
    for text in texts:
        for tag in map(join_lines, re.split("[,;，、]", text)):
            if tag and len(tag) <= _LONGEST:
                tags.setdefault(tag.casefold(), tag)
    return tuple(tags.values())[:_MOST]
