"""Chooses a page's title among its headings, what it declares and `<title>`, without the site's
name.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from urllib.parse import urlsplit

_BETWEEN = re.compile(r"\s+[|\-–—·•»«:/›]+\s+|\s*[|»«›]\s*")
"""What parts a page's title from its site's name."""
_FORUM = re.compile(
    r"\A.{1,200}?\s[•·:-]+\s(?:View topic|Thema anzeigen|Voir le sujet|Ver tema|Leggi argomento|Bekijk onderwerp|Zobacz temat|"
    r"Просмотр темы|Exibir tópico)\s-\s",
    re.IGNORECASE,
)
"""What phpBB writes before the title of a thread."""
_LONGEST = 500
"""Characters; a longer title is none, and each of its marks would be looked at."""
_BARS = re.compile(r"\s*[|»]\s*|\s::\s")
_SITE_WORDS = 4
"""No more words than these behind the last bar of a title are the name of a site, or a part of
it."""
_COLONS = re.compile(r":\s+")
_NO_LETTERS = re.compile(r"[\W_]+")


class SiteName:
    """The name of a page's site: as the page declares it, and as its host has it."""

    def __init__(self, site: str | None, address: str | None) -> None:
        """address: of the page, as it declares it; None: it does not."""
        try:
            host = urlsplit(address or "").hostname or ""
        except ValueError:
            host = ""
        labels = [label for label in host.removeprefix("www.").split(".")[:-1] if len(label) > 2]
        self._names = {_plain(name) for name in (site or "", host, host.removeprefix("www."), *labels)} - {""}

    def is_in(self, text: str) -> bool:
        """Tell whether a text is the site's name and nothing else."""
        return _plain(text).removeprefix("www") in self._names

    def begins(self, text: str) -> bool:
        """Tell whether a text begins with the site's name: that of one of its offices."""
        return any(len(name) > 4 and _plain(text).startswith(name) for name in self._names)

    def cut(self, title: str) -> str:
        """Return a title without the site's name at its end or start.

        >>> SiteName(None, "https://www.daily.example/rain").cut("Rain in Bergen | Daily")
        'Rain in Bergen'
        """
        if len(title) > _LONGEST:
            return title
        for match in reversed(list(_BETWEEN.finditer(title))):
            if self.is_in(title[match.end() :]) and title[: match.start()].strip():
                return title[: match.start()].strip()
        first = _BETWEEN.search(title)
        if first and self.is_in(title[: first.start()]) and title[first.end() :].strip():
            return title[first.end() :].strip()
        return title


def choose_title(
    declared: str | None,
    headings: Sequence[str],
    page_title: str,
    site: SiteName,
    list_lower: Callable[[], Iterable[str]] = tuple,
) -> str | None:
    """Return the title of a page; None where it has none.

    In this order: the only heading of the first level; of several the longest that the declared
    title or `<title>` begins with; a heading that `<title>` ends with behind a colon; the
    declared title; `<title>`, of which the part before the first mark. A heading that is the site's
    name is none, also where only the end of `<title>` tells so.

    Args:
        declared: As metadata state it.
        headings: Texts of the first level, in their order.
        page_title: Of `<title>`.
        site: What the site is called.
        list_lower: Gives the texts of headings of the next levels.
    """
    page_title = _FORUM.sub("", page_title)
    parts = [part for part in _BETWEEN.split(page_title) if part.strip()]
    own = [text for text in headings if text and not site.is_in(text) and not _is_end(text, parts)]
    if len(own) == 1 and len([text for text in headings if text]) == 1:
        return site.cut(_cut_after(own[0], declared))
    starts = [_plain(text) for text in (declared or "", page_title) if text]
    for text in sorted(own, key=len, reverse=True):
        if len(_plain(text)) > 2 and any(start.startswith(_plain(text)) for start in starts):
            return site.cut(text)
    cut = [site.cut(_FORUM.sub("", text)) for text in (declared or "", page_title)]
    if (heading := _find_behind_colon(cut[1], own, list_lower)) is not None:
        return heading
    if declared and not (page_title and site.is_in(declared)):
        return _cut_bar(cut[0])
    if cut[1] != page_title:
        return _cut_bar(cut[1])
    shown = [part.strip() for part in parts if not site.is_in(part)]
    return next(filter(None, (*shown, page_title, *headings)), None)


def _cut_after(heading: str, declared: str | None) -> str:
    """Return a heading without what stands behind a mark after the declared title.

    >>> _cut_after("Rain in Bergen | Weather", "Rain in Bergen")
    'Rain in Bergen'
    """
    if not declared or len(heading) > _LONGEST:
        return heading
    ends = (match.start() for match in _BETWEEN.finditer(heading))
    return next((heading[:end] for end in ends if _plain(heading[:end]) == _plain(declared)), heading)


def _find_behind_colon(title: str, headings: Sequence[str], list_lower: Callable[[], Iterable[str]]) -> str | None:
    """Return the first heading of several words that a title ends with behind a colon: "The Daily:
    Rain in Bergen", as Blogger has it."""
    if len(title) > _LONGEST:
        return None
    ends = {_plain(title[match.end() :]) for match in _COLONS.finditer(title)}
    if not ends:
        return None
    candidates = chain(headings, list_lower())
    return next((text for text in candidates if " " in text and _plain(text) in ends), None)


def _cut_bar(title: str) -> str:
    """Return a title without the few words behind its last bar.

    >>> _cut_bar("7 Ways to Cook Rice | Koia"), _cut_bar("Rain | Weather in Bergen")
    ('7 Ways to Cook Rice', 'Rain | Weather in Bergen')
    """
    bars = list(_BARS.finditer(title)) if len(title) <= _LONGEST else []
    if not bars:
        return title
    head, tail = title[: bars[-1].start()], title[bars[-1].end() :]
    return head if len(tail) < len(head) and len(tail.split()) <= _SITE_WORDS else title


def _is_end(heading: str, parts: Sequence[str]) -> bool:
    """Tell whether a heading is what a title of several parts ends with, and no other part holds
    it."""
    plain = _plain(heading)
    return len(parts) > 1 and _plain(parts[-1]) == plain and not any(plain in _plain(part) for part in parts[:-1])


def _plain(text: str) -> str:
    return _NO_LETTERS.sub("", text.casefold())
