"""Chooses a page's title from its headings, its declared title and `<title>`, and removes the
site's name.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice

from dripper.addresses import host_name, unicode_host
from dripper.tree.plain import fold

_BETWEEN = re.compile(r"\s+[|\-–—·•»«:/›]+\s+|\s*[|»«›]\s*")
"""Separators between a page's title and its site's name."""
_FRAME = re.compile(
    r"\A\(\d{1,3}\+?\)\s+"
    r"|\A.{1,200}?\s[•·:-]+\s(?:View topic|Thema anzeigen|Voir le sujet|Ver tema|Leggi argomento|Bekijk onderwerp|Zobacz temat|"
    r"Просмотр темы|Exibir tópico)\s-\s"
    r"|\s\(View topic\)(?=\s|\Z)|\s+[|\-–—·•«»:/›]+\Z",
    re.IGNORECASE,
)
"""Text around a title: the number of unread messages, words that phpBB adds, or a separator at the
end."""
_LONGEST = 500
"""Maximum length in characters. Longer text is not a title, and examining each of its separators
would take too long."""
_BARS = re.compile(r"\s*[|»]\s*|\s::\s")
_SITE_WORDS = 4
"""Maximum number of words after a title's last bar that count as the site's name or a part of the
name."""
_MOST_FIRST = 4
"""Number of strings of main text to search for the title."""
_COLONS = re.compile(r":\s+")
_TRAIL = re.compile(r"\s+[»›/>]+\s+|\A\w+\s?:\s+")
"""Separators between a section's name at the start of a heading and the rest of the heading."""
_PARTS = re.compile(rf"{_BETWEEN.pattern}|:\s+")
_ARTICLE = re.compile(r"\Athe\s+", re.IGNORECASE)
_LEVELS_ABOVE = frozenset({"ac", "co", "com", "edu", "gob", "gouv", "gov", "gv", "net", "nom", "or", "org"})
"""Labels of a host name that do not name its owner, such as `co` in `https://daily.co.uk`."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
"""A word, or a Chinese or Japanese character, because these languages have no spaces between
words."""
_STEM = 4
"""Number of letters to compare at the beginning of words. Forms of a word share them: rains,
rained, raining."""


class SiteName:
    """The possible names of a page's site: the declared name, the host, and the labels of the
    host."""

    def __init__(self, site: str | None, *addresses: str | None) -> None:
        """addresses: The page's declared URL and the URL that it was fetched from; None if not
        known."""
        self._names, self._owners = {fold(site or "")}, set[str]()
        hosts = (unicode_host(host_name(address or "") or "").removeprefix("www.") for address in addresses)
        for host in filter(None, hosts):
            labels = [label for label in host.split(".")[:-1] if len(label) > 2]
            self._names.update(map(fold, (host, *labels)))
            owner = next((label for label in reversed(labels) if label not in _LEVELS_ABOVE), "")
            self._owners.update((fold(host), fold(owner), fold(host[host.rfind(owner) :])))
        self._names.discard("")
        self._owners.discard("")

    def is_in(self, text: str) -> bool:
        """Return whether `text` is the site's name and nothing else."""
        return not self._names.isdisjoint(_spell(text))

    def begins(self, text: str) -> bool:
        """Return whether `text` begins with the site's name, as the name of a local office does."""
        return any(len(name) > 4 and fold(text).startswith(name) for name in self._names)

    def find_in(self, title: str, site: str | None = None) -> str | None:
        """Return the last part of a title that is `site` or the name of the host's owner.

        >>> SiteName(None, "https://shop.daily.co.uk/rain").find_in("Rain | Daily.co.uk")
        'Daily.co.uk'
        """
        parts = [part.strip() for part in _PARTS.split(title)] if len(title) <= _LONGEST else []
        names = self._owners | {fold(site or "")} - {""}
        owners = (part for part in reversed(parts) if not names.isdisjoint(_spell(part)))
        return next(owners, None) if len(parts) > 1 else None

    def find_first(self, title: str) -> str | None:
        """Return the first part of a title if it is the site's name and other parts follow.

        >>> SiteName(None, "https://www.daily.example/").find_first("Daily - News of Bergen")
        'Daily'
        """
        parts = _BETWEEN.split(title, 1) if len(title) <= _LONGEST else []
        return parts[0].strip() if len(parts) > 1 and self.is_in(parts[0]) else None

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


def _spell(name: str) -> tuple[str, str]:
    """Return the possible spellings of a site's name in a host name: with and without the
    article."""
    plain = fold(name).removeprefix("www")
    return plain, fold(_ARTICLE.sub("", name))


def choose_title(
    declared: str | None,
    headings: Sequence[str],
    page_title: str,
    site: SiteName,
    list_lower: Callable[[], Iterable[str]] = tuple,
) -> str | None:
    """Return the title of a page; None if it has none.

    The candidates are, in this order: the only first-level heading; the longest of several headings
    that the declared title or `<title>` begins with; a heading that `<title>` ends with after a
    colon; the declared title; the part of `<title>` before the first separator. A heading does not
    count if it is the site's name, even if only the end of `<title>` shows this.

    Args:
        declared: The title that the metadata states.
        headings: Texts of the first-level headings, in order.
        page_title: The text of `<title>`.
        list_lower: Returns the text of each lower-level heading.
    """
    declared, page_title = declared or "", _FRAME.sub("", page_title)
    parts = [part for part in _BETWEEN.split(page_title) if part.strip()]
    own = _choose_headings(declared, headings, page_title, parts, site, list_lower)
    if len(own) == 1 and len([text for text in headings if text]) == 1:
        if declared and not site.is_in(declared) and _is_of_something_else(own[0], declared, page_title):
            return _cut_bar(site.cut(_FRAME.sub("", declared)))
        is_more = own[0].startswith(declared) and _BETWEEN.match(own[0], len(declared)) is not None
        return site.cut(declared if is_more else own[0])
    if (heading := _find_stated(own, declared, page_title, parts)) is not None:
        return site.cut(heading)
    cut = [site.cut(_FRAME.sub("", text)) for text in (declared, page_title)]
    if (heading := _find_behind_colon(cut[1], own, list_lower)) is not None:
        return heading
    is_heading = fold(declared) in map(fold, headings)
    is_of_site = site.is_in(declared) or (is_heading and _is_end(declared, parts))
    if declared and not (page_title and is_of_site):
        return _cut_bar(cut[0])
    if cut[1] != page_title:
        return _cut_bar(cut[1])
    shown = [part.strip() for part in parts if not site.is_in(part)]
    if shown and " " not in shown[0]:
        # A section of the site comes first: "Docs | How to read a rain gauge".
        shown = [*filter(is_sentence, shown), *shown]
    return next(filter(None, chain(shown, (page_title,), headings, list_lower())), None)


def is_sentence(text: str) -> bool:
    """Return whether `text` is more than a name: it has several words, most of them in lower case.

    >>> [is_sentence(text) for text in ("How to read a rain gauge", "Office of the City Clerk")]
    [True, False]
    """
    words = text.split()
    return len(words) >= _SITE_WORDS and 2 * sum(word[0].islower() for word in words) > len(words)


def contains_title(texts: Iterable[str], title: str) -> bool:
    """Return whether a page's main text includes the page's title. This is the case if one of the
    first few strings is the title. It is also the case if the very first string is most of the
    title, or contains the title and little more.

    Strings further down are not checked, because they could be mere repetitions of the title, for
    example in a fact table or a list of links.

    >>> contains_title(["News", "Rain in Bergen", "It rained."], "Rain in Bergen")
    True
    """
    first = [fold(text[:_LONGEST]) for text in islice(texts, _MOST_FIRST)]
    plain = fold(title)
    if not first or not plain:
        return False
    begin = first[0]
    is_most = begin in plain and 2 * len(begin) > len(plain)
    return plain in first or is_most or (plain in begin and len(begin) < 2 * len(plain))


def _choose_headings(
    declared: str,
    headings: Sequence[str],
    page_title: str,
    parts: Sequence[str],
    site: SiteName,
    list_lower: Callable[[], Iterable[str]],
) -> list[str]:
    """Return the headings that are not the site's name. If a section's name is before the title in
    a heading, it is removed.

    Args:
        parts: The parts of `page_title`.
    """
    begins_with_site = len(parts) > 1 and site.begins(parts[0]) and not site.begins(parts[-1])
    return [
        _cut_before(text, (declared, page_title, *parts), page_title)
        for text in headings
        if text
        and not site.is_in(text)
        and (begins_with_site or not _is_site_at_end(text, parts, declared, list_lower))
    ]


def _find_stated(headings: Sequence[str], declared: str, page_title: str, parts: Sequence[str]) -> str | None:
    """Return the longest heading that is the start of a title, or a part of `<title>` other than
    the last part."""
    starts = [fold(text) for text in (declared, page_title) if text]
    plain_parts = set(map(fold, parts[:-1]))
    for text in sorted(headings, key=len, reverse=True):
        plain = fold(text)
        if len(plain) > 2 and (plain in plain_parts or any(start.startswith(plain) for start in starts)):
            return text
    return None


def _cut_before(heading: str, stated: Iterable[str], page_title: str) -> str:
    """Remove the section's name from the start of a heading, if the rest is the title that the page
    states. If `<title>` contains the whole heading, return the heading unchanged.

    >>> _cut_before("Forum » Weather » Rain in Bergen", ["Rain in Bergen"], "The Daily: rain")
    'Rain in Bergen'
    """
    if len(heading) > _LONGEST or fold(heading) in fold(page_title):
        return heading
    titles, start = set(map(fold, stated)), fold(page_title)
    for mark in _TRAIL.finditer(heading):
        tail = heading[mark.end() :]
        if " " in tail and (fold(tail) in titles or (":" not in mark[0] and start.startswith(fold(tail)))):
            return tail
    return heading


def _is_of_something_else(heading: str, declared: str, page_title: str) -> bool:
    """Return whether a heading is not the page's title, such as "Search" or "Related topics". The
    heading shares no word with the title and has at most as many words. The declared title must
    also be the start of `<title>`.
    """
    if len(declared) > _LONGEST or not fold(page_title).startswith(fold(declared)):
        return False
    words, said = ([word[:_STEM] for word in _WORD.findall(text.casefold())] for text in (heading, page_title))
    return 0 < len(words) <= len(_WORD.findall(_cut_bar(declared))) and set(words).isdisjoint(said)


def _find_behind_colon(title: str, headings: Sequence[str], list_lower: Callable[[], Iterable[str]]) -> str | None:
    """Return the first multi-word heading that follows a colon at the end of a title. Blogger
    writes such titles: "The Daily: Rain in Bergen"."""
    if len(title) > _LONGEST:
        return None
    ends = {fold(title[match.end() :]) for match in _COLONS.finditer(title)}
    if not ends:
        return None
    candidates = chain(headings, list_lower())
    return next((text for text in candidates if " " in text and fold(text) in ends), None)


def _cut_bar(title: str) -> str:
    """Return a title without the words after its last bar, if these words are few.

    >>> _cut_bar("7 Ways to Cook Rice | Koia"), _cut_bar("Rain | Weather in Bergen")
    ('7 Ways to Cook Rice', 'Rain | Weather in Bergen')
    """
    bars = list(_BARS.finditer(title)) if len(title) <= _LONGEST else []
    if not bars:
        return title
    head, tail = title[: bars[-1].start()], title[bars[-1].end() :]
    return head if len(tail) < len(head) and len(tail.split()) <= _SITE_WORDS else title


def _is_end(heading: str, parts: Sequence[str]) -> bool:
    """Return whether a heading is the last of several parts of a title, and no other part contains
    it."""
    plain = fold(heading)
    return len(parts) > 1 and fold(parts[-1]) == plain and not any(plain in fold(part) for part in parts[:-1])


def _is_site_at_end(heading: str, parts: Sequence[str], declared: str, list_lower: Callable[[], Iterable[str]]) -> bool:
    """Return whether the heading that `<title>` ends with is the site's name.

    A long heading is not the site's name ("City of Chicago | Board Meeting Information"). Long
    means more than 1.5 times as long as the rest of `<title>`. This rule does not apply if the
    declared title is this heading, or if the declared title or a lower-level heading is one of the
    other parts of `<title>`.
    """
    if not _is_end(heading, parts):
        return False
    before = set(map(fold, parts[:-1]))
    says_more = 2 * len(fold(heading)) > 3 * sum(map(len, before)) and fold(declared) != fold(heading)
    return not says_more or fold(declared) in before or not before.isdisjoint(map(fold, list_lower()))
