"""What the names that a page gives its elements (class, id, role, itemprop) tell, as bits."""

import functools
import re
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

NAME_GROUPS: dict[str, str] = {
    "comment": "comment|disqus|reply|replies|respond|discuss",
    "navigation": "nav|menu|breadcrumb|crumb|paginat|pager",
    "foot": "foot|copyright|legal|colophon",
    "side": "side|rail|widget|right|aside",
    "share": "share|social|follow|tweet|facebook",
    "related": "relat|recommend|more|popular|trending|also|teaser|promo|latest|carousel|suggest",
    "body": "content|body|text|entry|prose|copy",
    "article": "article|story|post|main|blog|news",
    "title": "title|headline|heading",
    "byline": "author|byline|meta|date|time|info|published|user|avatar|profile|signature",
    "advertisement": "advert|banner|sponsor|^ads?$|outbrain|taboola",
    "consent": "cookie|consent|gdpr|newsletter|subscri|signup|login|modal|popup|paywall|overlay",
    "tags": "tag|categor|topic|label|keyword",
    "caption": "caption|image|photo|gallery|figure|media|video",
    "hidden": "hidden|^sr$|reader|visually|collapse",
    "thread": "message|thread|forum|quote|answer|question|bbcode",
    "product": "product|price|cart|shop|spec|sku|item",
    "list": "list|grid|card|archive|result|feed|tile",
    "description": "descri|summary|excerpt|lead|intro|detail|overview|about|hero",
    "review": "review|rating|testimonial|faq|accordion|tab",
}
"""What class, id, role and itemprop values tell: English words that sites of every language use in
their markup."""
# Generated class lists run to kilobytes; what names an element stands in their first 200
# characters.
_NAMED = re.compile(r' (?:class|id|role|itemprop)="([^"]{1,200})')
_GROUPS = [re.compile(pattern) for pattern in NAME_GROUPS.values()]
# Grouped by their first characters, 130 alternatives are told apart in a third of the time.
_STEMS = sorted("|".join(NAME_GROUPS.values()).split("|"))
_ANY_GROUP = re.compile(
    "|".join(f"{first}(?:{'|'.join(stem[1:] for stem in stems)})" for first, stems in groupby(_STEMS, itemgetter(0)))
)
_LETTERS = bytes(byte if byte >= 128 or chr(byte).islower() else 32 for byte in range(256))
"""Of UTF-8: letters beyond ASCII stay. (`str.translate` asks its table anew for every name.)"""
_WORD = re.compile(r"[A-Z]*[a-z]+|[A-Z]+")


def bits_of(start_tags: Sequence[str]) -> list[int]:
    """Return for each start tag, as serialised, which of NAME_GROUPS its names belong to: bit i for
    group i.

    >>> bits_of(['<p class="comment-body" id="x1">', "<p>"]) == [1 << 0 | 1 << 6, 0]
    True
    """
    names = [" ".join(_NAMED.findall(start_tag)) for start_tag in start_tags]
    bits = {each: _name_bits(each) for each in set(names)}
    return [bits[each] for each in names]


def _name_bits(names: str) -> int:
    bits = 0
    for word in _lower_words(names) if names.islower() else _WORD.findall(names):
        bits |= _word_bits(word)
    return bits


def _lower_words(names: str) -> list[str]:
    return names.encode("utf-8", "surrogatepass").translate(_LETTERS).decode("utf-8", "surrogatepass").split()


# The same few thousand words name the elements of nearly all pages, and twenty searches a word are
# slow.
@functools.lru_cache(maxsize=1 << 15)
def _word_bits(word: str) -> int:
    lowered = word.lower()
    if _ANY_GROUP.search(lowered) is None:
        return 0
    found = (group.search(lowered) is not None for group in _GROUPS)
    return sum(1 << bit for bit, hit in enumerate(found) if hit)
