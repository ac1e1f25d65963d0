"""The tree that libxml2 makes of a page which an HTML5 parser wrote, without libxml2 where that changes nothing but how
attributes are written: five pages of six. Parsing again would be a third of the profile's time.

What libxml2 changes is known from its sources (2.14, HTMLparser.c, HTMLtree.c), and left to it: `read_directly` gives None.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from dripper.markup.scan import TOKEN
from dripper.markup.tags import LIBXML2_VOID, words
from dripper.markup.tree import Tree, attribute, cut_parts, escape

_CLOSED_BY = {
    "a": words("a fieldset table td th"),
    "address": words("dd dl dt form li ul"),
    **dict.fromkeys(("b", "i", "u"), words("center p td th")),
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
_DEEPEST = 200
"""libxml2 stops at 256."""
_CLOSERS = {
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
_CONTROLS = bytes([*range(9), 11, 12, *range(14, 32)])
_RAW = "script, style, iframe, noembed, noframes, xmp"
_NAME = re.compile("[a-z][a-z0-9:_-]*", re.IGNORECASE)
_LEFT = frozenset({"frameset", "isindex", "plaintext"})
"""Names of elements in which libxml2 goes other ways."""
_BOOLEAN = "checked|compact|declare|defer|disabled|ismap|multiple|nohref|noresize|noshade|nowrap|readonly|selected"
_PLAIN_TAG = re.compile(
    '<(?!meta [^>]*(?i:charset|content-type))[a-z0-9:_-]++(?: (?:class="[^"&]*+"'
    "|(?:href|src|action|name)=\"[!#-%'-~]*+(?:&amp;(?!\\{)[!#-%'-~]*+)*+\""
    f'|(?!(?:href|src|action|name|{_BOOLEAN})=)[a-z_][a-z0-9_.:-]*+="[^"&]*+(?:&(?:amp;(?!\\{{)|gt;)[^"&]*+)*+"'
    "))*+>"
)
"""A start tag that libxml2 writes as it is: no attribute without value, no address to escape, no quotes in quotes."""
_START_TAG = re.compile("<[^/][^>]*>")
_PADDED_ADDRESS = re.compile(r' src="(?:\s|[^"]*\s")')


_START, _VOID, _END, _DROPPED = range(4)


class _Changed(Exception):
    """libxml2 may do more than write attributes its way."""


class Read(NamedTuple):
    """What libxml2 reads from a page.

    tree: as it writes it, but without the texts of script and style. scripts: these, in document order. addresses: by the image's
        number, each `src` that has blanks around, without them (libxml2 writes `%20`).
    has_forbidden: some FORBIDDEN character is in it.
    """

    tree: Tree
    scripts: list[str]
    addresses: Mapping[int, str]
    has_forbidden: bool


def read_directly(document: LexborHTMLParser) -> Read | None:
    """Return what libxml2 would read from a document, which loses its scripts; None where it may differ."""
    padded: dict[str, str] = {}
    try:
        scripts = _take_scripts(document)
        markup = (document.html or "<html></html>").replace("&nbsp;", "\u00a0")
        if "\r" in markup:
            markup = markup.replace("\r\n", "\n").replace("\r", "\n")
        tree = _read(TOKEN.split(markup), padded)
    except _Changed:
        return None
    if "</template>" in tree.names and sum(tag in ("script", "style") for tag in tree.tags) != len(scripts):
        # What a template holds is no part of the document, so its scripts were not found.
        return None
    images = [tree.start_tag(i) for i, tag in enumerate(tree.tags) if tag == "img"] if padded else []
    addresses = {number: padded[tag] for number, tag in enumerate(images) if tag in padded}
    return Read(tree, scripts, addresses, has_forbidden(markup))


def has_forbidden(markup: str) -> bool:
    """Tell whether some FORBIDDEN character is in it; parsers let no surrogate through. Half the time of the expression."""
    data = markup.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _CONTROLS)) < len(data):
        return True
    return not markup.isascii() and ("\ufffe" in markup or "\uffff" in markup)


def _take_scripts(document: LexborHTMLParser) -> list[str]:
    """Take the texts of script and style out of the document, and escape raw text, which libxml2 writes escaped."""
    scripts = []
    for node in document.css(_RAW):
        child, text = node.first_child, ""
        if child is not None:
            if child.next is not None:
                raise _Changed
            text = child.text_content or ""
            child.decompose()
        if node.tag in ("script", "style"):
            scripts.append(text)
        elif text:
            node.insert_child(escape(text))
    if any("<?xml" in script for script in scripts):
        raise _Changed
    return scripts


def _read(pieces: list[str], padded: dict[str, str]) -> Tree:
    """Return the tree of texts and tags in turn. padded: see `_as_written`."""
    names, kinds = dict[str, str](), dict[str, int]()
    for tag in set(pieces[1::2]):
        if tag[1] == "/":
            names[tag], kinds[tag] = tag[2:-1], _END
        elif tag[1] == "!":
            kinds[tag] = _DROPPED
        else:
            name = names[tag] = tag[1 : tag.find(" ")]
            kinds[tag] = _VOID if name in LIBXML2_VOID else _START
    all_names = set(names.values())
    if not all_names.isdisjoint(_LEFT) or not all(map(_NAME.fullmatch, all_names)):
        raise _Changed
    if camel := {name for name in all_names if not name.islower()}:
        names = {tag: name.lower() if name in camel else name for tag, name in names.items()}
    written = _as_written([tag for tag in names if kinds[tag] != _END], padded)
    written.update((tag, tag.lower()) for tag in names if kinds[tag] == _END and not tag.islower())
    dropped = [2 * number + 1 for number, tag in enumerate(pieces[1::2]) if kinds[tag] == _DROPPED]
    parts = cut_parts(pieces, [(index, index) for index in dropped])
    tags = parts[1::2]
    if written:
        parts[1::2] = [written.get(tag, tag) for tag in tags]
        names.update((new, names[tag]) for tag, new in written.items())
    tree = Tree(parts, names, LIBXML2_VOID)
    _add_elements(tree, list(map(names.__getitem__, tags)), bytes(map(kinds.__getitem__, tags)))
    return tree


def _add_elements(tree: Tree, names: list[str], kinds: bytes) -> None:
    """Give the tree its elements: libxml2 has its own opinion which start tags close what is open.

    names, kinds: of the tags among its parts, which change where end tags are missing or too many.
    """
    tags, parents, opens = tree.tags, tree.parents, tree.opens
    closes, lasts = [0] * len(kinds), [0] * len(kinds)
    changes: list[tuple[int, str]] = []
    open_names, outer, number, parent, shift = [""], list[int](), 0, -1, 0
    for index, name, kind in zip(range(1, 2 * len(kinds), 2), names, kinds, strict=True):
        early = 0
        if kind == _END:
            if name != open_names[-1] and not (early := _unclosed_before(name, open_names)):
                changes.append((index, ""))
                shift -= 2
                continue
        elif name in _CLOSERS:
            while open_names[-1 - early] in _CLOSERS[name]:
                early += 1
        while early:
            early -= 1
            changes.append((index, f"</{open_names.pop()}>"))
            closes[parent], lasts[parent] = index + shift, number - 1
            parent = outer.pop()
            shift += 2
        if kind == _END:
            closes[parent], lasts[parent] = index + shift, number - 1
            open_names.pop()
            parent = outer.pop()
            continue
        tags.append(name)
        parents.append(parent)
        opens.append(index + shift)
        if kind == _VOID:
            closes[number], lasts[number] = index + shift, number
        else:
            outer.append(parent)
            open_names.append(name)
            parent = number
            if len(outer) > _DEEPEST:
                raise _Changed
        number += 1
    tree.closes, tree.lasts = closes[:number], lasts[:number]
    if changes:
        tree.parts = _changed_parts(tree.parts, changes)
        tree.names.update((end_tag, end_tag[2:-1]) for _, end_tag in changes if end_tag)


def _changed_parts(parts: list[str], changes: list[tuple[int, str]]) -> list[str]:
    """Return the parts with the end tags put in before the indexes in `changes`, and without the tags there where it has ""."""
    changed: list[str] = []
    position = 0
    for index, end_tag in changes:
        changed += parts[position:index]
        position = index
        if end_tag:
            changed += (end_tag, "")
        else:
            changed[-1] += parts[index + 1]
            position = index + 2
    return changed + parts[position:]


def _unclosed_before(name: str, open_names: list[str]) -> int:
    """Return how many elements an end tag closes before its own; none where it has none, or stands in one that is more."""
    if name not in open_names:
        return 0
    inside = open_names[::-1].index(name)
    priority = _PRIORITIES.get(name, 100)
    return (
        inside
        if all(_PRIORITIES.get(other, 100) <= priority for other in open_names[len(open_names) - inside :])
        else 0
    )


def _as_written(tags: list[str], padded: dict[str, str]) -> dict[str, str]:
    """Return how libxml2 writes those of the start tags that it writes in another way.

    padded: where the `src` of an image has blanks around, gets it without them, by the new tag.
    """
    odd = [tag for tag in tags if not _PLAIN_TAG.fullmatch(tag)]
    if not odd:
        return {}
    # In an attribute's name, libxml2 would have left `&nbsp;` as it is.
    if any("\u00a0" in tag and tag.count('"') != 2 * tag.count('="') or "&lt;?xml" in tag for tag in odd):
        raise _Changed
    names = [tag[1:].partition(" ")[0] for tag in odd]
    # The name matters with `name`, which is an address in `a`, and with the character set of `meta`.
    safe = [name if name in ("a", "meta") else "b" for name in names]
    elements = "".join(f"<{new}{tag[1 + len(name) :]}</{new}>" for tag, name, new in zip(odd, names, safe, strict=True))
    parser = etree.HTMLParser(encoding="utf-8", collect_ids=False)
    root = etree.fromstring(f"<html><body>{elements}</body></html>".encode(), parser)
    written = etree.tostring(root[0], encoding="unicode", method="html")
    found = _START_TAG.findall(written)[1:]
    if "<!--" in written or len(found) != len(odd):
        raise _Changed
    special = {}
    for tag, name, used, new in zip(odd, names, safe, found, strict=True):
        special[tag] = f"<{name.lower()}{new[1 + len(used) :]}"
        if name == "img" and _PADDED_ADDRESS.search(tag):
            if special[tag] in tags:
                raise _Changed
            padded[special[tag]] = (attribute(tag, "src") or "").strip()
    return special
