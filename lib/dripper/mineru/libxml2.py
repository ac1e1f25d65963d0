"""How libxml2 2.14 reads and writes what an HTML5 parser wrote: which tags close what is open, and how attributes look.

From its sources, HTMLparser.c and HTMLtree.c. What is not foreseen here raises, and the page goes through libxml2 itself.
"""

import re
from collections.abc import Sequence

from lxml import etree

from dripper.markup.tags import words
from dripper.markup.tree import attribute

_CLOSED_BY = {
    "a": words("a fieldset table td th"),
    "address": words("dd dl dt form li ul"),
    **dict.fromkeys(("b", "i"), words("center p td th")),
    "u": words("p td th"),
    "font": words("center td th"),
    "span": words("td th"),
    **dict.fromkeys(("big", "s", "small", "strike", "tt"), words("p")),
    "caption": words("col colgroup tbody tfoot thead tr"),
    "colgroup": words("colgroup tbody tfoot thead tr"),
    **dict.fromkeys(("dir", "menu"), words("dd dl dt form ul")),
    "dl": words("form li"),
    "dt": words("dd dl"),
    "dd": words("dt"),
    **dict.fromkeys(("form", "ol"), words("form")),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), words("fieldset form li p table")),
    "legend": words("fieldset"),
    "li": words("li"),
    **dict.fromkeys(("listing", "pre"), words("dd dl dt fieldset form li table ul")),
    "option": words("optgroup option"),
    "p": words(
        "address blockquote caption center col colgroup dd dir div dl dt fieldset form h1 h2 h3 h4 h5 h6 hr li listing menu ol p "
        "pre table tbody td tfoot th title tr ul xmp"
    ),
    "tbody": words("tbody tfoot"),
    **dict.fromkeys(("td", "th"), words("tbody td tfoot th tr")),
    "tfoot": words("tbody"),
    "thead": words("tbody tfoot"),
    "tr": words("tbody tfoot tr"),
    "ul": words("address form menu pre"),
}
"""Whose start tags close an open element (htmlStartClose); HTML5 lets them stand in it."""
DEEPEST = 200
"""libxml2 stops at 256."""
CLOSERS = {
    child: frozenset(name for name, children in _CLOSED_BY.items() if child in children)
    for children in _CLOSED_BY.values()
    for child in children
}
_PRIORITIES = {
    "div": 150,
    "td": 160,
    "th": 160,
    "tr": 170,
    "table": 190,
    "head": 200,
    "body": 200,
    "html": 220,
} | dict.fromkeys(("thead", "tbody", "tfoot"), 180)
"""An end tag closes what stands in its element, unless that is more (htmlEndPriority; 100 is what others have)."""
_BOOLEAN = "checked|compact|declare|defer|disabled|ismap|multiple|nohref|noresize|noshade|nowrap|readonly|selected"
_PLAIN_TAG = re.compile(
    '<(?!meta [^>]*(?i:charset|content-type))[a-z0-9:_-]++(?: (?:class="[^"&]*+"'
    "|(?:href|src|action|name)=\"[!#-%'-~]*+(?:&amp;(?!\\{)[!#-%'-~]*+)*+\""
    f'|(?!(?:href|src|action|name|{_BOOLEAN})=)[a-z_][a-z0-9_.:-]{{0,90}}+="[^"&]*+(?:&(?:amp;(?!\\{{)|gt;)[^"&]*+)*+"'
    "))*+>"
)
"""A start tag that libxml2 writes as it is: no attribute without value, no address to escape, no quotes in quotes, no name of more
than 100 characters, which would be cut."""
_PLAIN_NAMES = re.compile('<[^ ]+(?: [^ "=\u00a0]+="[^"]*")*>')
_START_TAG = re.compile("<[^/][^>]*>")


class UnforeseenError(Exception):
    """libxml2 may do what this module does not foresee."""


def unclosed_before(name: str, open_names: Sequence[str]) -> int:
    """Return how many elements an end tag closes before its own; none where it has none, or stands in one that is more."""
    if name not in open_names:
        return 0
    inside = open_names[::-1].index(name)
    priority = _PRIORITIES.get(name, 100)
    is_more = any(_PRIORITIES.get(other, 100) > priority for other in open_names[len(open_names) - inside :])
    return 0 if is_more else inside


def _has_space_in_name(tag: str) -> bool:
    """Tell whether a no-break space may stand in an attribute's name, where libxml2 would have left `&nbsp;` as it was."""
    return "\u00a0" in tag and not _PLAIN_NAMES.fullmatch(tag)


def as_written(tags: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return how libxml2 writes those of the start tags that it writes in another way; and by the new tag, the `src` of images
    that has blanks around, without them. Raises UnforeseenError.

    >>> as_written(['<p class="a">', '<input checked="" value="&quot;">'])[0]
    {'<input checked="" value="&quot;">': '<input checked value=\'"\'>'}
    """
    odd = [tag for tag in tags if not _PLAIN_TAG.fullmatch(tag)]
    if not odd:
        return {}, {}
    if any(_has_space_in_name(tag) or "&lt;?xml" in tag for tag in odd):
        raise UnforeseenError
    names = [tag[1:].partition(" ")[0] for tag in odd]
    # The name matters with `name`, which is an address in `a`, and with the character set of `meta`.
    safe = [name if name in ("a", "meta") else "b" for name in names]
    elements = "".join(f"<{new}{tag[1 + len(name) :]}</{new}>" for tag, name, new in zip(odd, names, safe, strict=True))
    parser = etree.HTMLParser(encoding="utf-8", collect_ids=False)
    root = etree.fromstring(f"<html><body>{elements}</body></html>".encode(), parser)
    written = etree.tostring(root[0], encoding="unicode", method="html")
    found = _START_TAG.findall(written)[1:]
    if "<!--" in written or len(found) != len(odd):
        raise UnforeseenError
    special, padded = dict[str, str](), dict[str, str]()
    for tag, name, used, new in zip(odd, names, safe, found, strict=True):
        special[tag] = f"<{name.lower()}{new[1 + len(used) :]}"
        address = (attribute(tag, "src") or "") if name == "img" else ""
        if address != address.strip():
            if special[tag] in tags or not _PLAIN_NAMES.fullmatch(tag):
                raise UnforeseenError
            padded[special[tag]] = address.strip()
    return special, padded
