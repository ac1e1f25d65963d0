"""Cleans a page for the profile `mineru-1.1`: parses it twice as MinerU-HTML 1.1 does, and removes
what MinerU-HTML removes before it looks for blocks.

An HTML5 parser builds the tree and writes it out; libxml2 reads that again, by rules of its own.
Its writer's output is our `Tree`. MinerU's HTML5 parser was Modest (2015, unmaintained); lexbor,
its successor, gives the same simplified HTML on 99.6 % of real pages.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from dripper.errors import ErrorCode, PageError
from dripper.html.metadata import Metadata, read_metadata
from dripper.html.profiles.mineru.second_parse import FORBIDDEN, read_again
from dripper.html.tree.elements import INLINE
from dripper.html.tree.head import HEAD, read_head
from dripper.html.tree.parser import ParserLimits, parse_document, read_title, refuse_costly
from dripper.html.tree.tree import Tree, attribute

_REMOVED = frozenset({"title", "head", "style", "script", "link", "meta", "iframe", "frame", "nav"})
_HIDING = {
    ("display", "none"),
    ("font-size", "0px"),
    ("color", "transparent"),
    ("visibility", "hidden"),
    ("opacity", "0"),
}
_SRC = re.compile(""" src=("[^"]*"|'[^']*')""")
_URL_ESCAPED = re.compile(r"[^\x21-\x7e]")


@dataclass(slots=True)
class CleanPage:
    """A page before its blocks are found."""

    tree: Tree
    """All of it, as libxml2 writes it, but with the texts of script and style in `raw` (by element)
    and not in its parts."""
    raw: dict[int, str]
    texts: list[str]
    """`tree.parts` as MinerU leaves them: removed elements blank, their following texts moved."""
    removed: bytearray
    """Flags by element."""
    title: str
    has_forbidden: bool
    """Whether a FORBIDDEN character is in the page."""
    metadata: Metadata
    """Declarations of the page about itself, for users; MinerU has none."""
    void_text: dict[int, str] = field(default_factory=dict)
    """Texts that were moved into void block elements (`br`, `hr`), by the index of their tag."""


def read_clean(html: bytes, limits: ParserLimits, url: str | None = None) -> CleanPage:
    """Parse a page and remove what MinerU removes. Raises PageError(PARSE_FAILED) where MinerU
    fails for the whole page.
    """
    refuse_costly(html, limits)
    document = parse_document(html)
    title = read_title(document)
    tree, scripts, addresses, is_odd = read_again(document.html or "<html></html>")
    metadata = read_metadata(read_head(document.css(HEAD)), tree, title, url)
    raw = dict(zip([i for i, tag in enumerate(tree.tags) if tag in ("script", "style")], scripts, strict=True))
    clean = CleanPage(tree, raw, tree.parts.copy(), bytearray(len(tree)), title, is_odd, metadata)
    _strip_addresses(clean, addresses)
    _remove(clean)
    return clean


def _strip_addresses(clean: CleanPage, addresses: Mapping[int, str]) -> None:
    """Write `src` of images without blanks around, given by the image's number."""
    images = [i for i, tag in enumerate(clean.tree.tags) if tag == "img"] if addresses else []
    for number, address in addresses.items():
        index = clean.tree.opens[images[number]]
        before, _, after = _SRC.split(clean.texts[index], maxsplit=1)
        tag = f"{before} src={quote_attribute(escape_url(address))}{after}"
        clean.texts[index] = tag
        clean.tree.names[tag] = "img"


def escape_url(address: str) -> str:
    """Return an address as libxml2 writes it in `href` and `src`: what is not printable ASCII
    becomes %XX."""
    return _URL_ESCAPED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), address)


def quote_attribute(value: str) -> str:
    """Return an attribute value as libxml2 writes it: in double quotes, unless single ones save
    escaping."""
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if '"' not in value:
        return f'"{value}"'
    return f"'{value}'" if "'" not in value else '"' + value.replace('"', "&quot;") + '"'


def _remove(clean: CleanPage) -> None:
    """Remove elements by name, with the text after them, then hidden ones, whose following text
    moves to what is before.
    """
    tree = clean.tree
    for element in [element for element, tag in enumerate(tree.tags) if tag in _REMOVED]:
        if not clean.removed[element]:
            _blank(clean, element)
            clean.texts[tree.closes[element] + 1] = ""
    styled = [tag for tag in tree.names if " style=" in tag and any(value in tag for _, value in _HIDING)]
    hidden = {tag for tag in styled if _hides(attribute(tag, "style") or "")}
    navigation = {
        tag for tag in tree.names if '"nav"' in tag and "nav" in (attribute(tag, "class"), attribute(tag, "id"))
    }
    if not hidden and not navigation and "details" not in tree.tags:
        return
    marked = hidden | navigation
    elements = [i for i, index in enumerate(tree.opens) if tree.parts[index] in marked and i and not clean.removed[i]]
    elements = [i for i in elements if tree.start_tag(i) in hidden or tree.tags[tree.parents[i]] == "body"]
    for element in (i for i, tag in enumerate(tree.tags) if tag == "details" and not clean.removed[i]):
        if "open" not in tree.attributes(element):
            elements += [
                kid for kid in tree.children(element) if tree.tags[kid] != "summary" and not clean.removed[kid]
            ]
    elements = list(set(elements))
    _remove_hidden(clean, sorted(elements, key=tree.closes.__getitem__))


def _hides(style: str) -> bool:
    """Tell whether a style holds one of five declarations, written exactly so (no `!important`, no
    capitals)."""
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        if colon and (name.strip(), value.strip()) in _HIDING:
            return True
    return False


def _remove_hidden(clean: CleanPage, elements: list[int]) -> None:
    """Remove elements, inner ones first; the text after each joins the tail of the sibling before
    it, or *its* text."""
    tree, texts = clean.tree, clean.texts
    before, after = dict[int, int](), dict[int, int]()
    for parent in {tree.parents[element] for element in elements}:
        kids = [kid for kid in tree.children(parent) if not clean.removed[kid]]
        before.update(pairwise([-1, *kids][::-1]))
        after.update(pairwise(kids))
    for element in elements:
        tail_at, previous = tree.closes[element] + 1, before[element]
        if previous < 0:
            target = tree.opens[tree.parents[element]] + 1
        elif texts[tree.closes[previous] + 1]:
            target = tree.closes[previous] + 1
        elif tree.opens[previous] != tree.closes[previous]:
            target = tree.opens[previous] + 1
        elif tree.tags[previous] in INLINE:
            target = tree.closes[previous] + 1
        else:
            target = -tree.opens[previous]
        tail, texts[tail_at] = texts[tail_at], ""
        joined = (texts[target] if target > 0 else clean.void_text.get(-target, "")) + tail
        if FORBIDDEN.search(joined):
            raise PageError(
                ErrorCode.PARSE_FAILED, "a control character stands beside a hidden element (MinerU-HTML fails)"
            )
        if target > 0:
            texts[target] = joined
        elif joined:
            clean.void_text[-target] = joined
        _blank(clean, element)
        following = after.pop(element, -1)
        if following >= 0:
            before[following] = previous
        if previous >= 0:
            after.pop(previous, None)
            if following >= 0:
                after[previous] = following


def _blank(clean: CleanPage, element: int) -> None:
    """Remove an element with all that is in it, but not the text after it."""
    first, last = clean.tree.opens[element], clean.tree.closes[element]
    clean.texts[first : last + 1] = [""] * (last - first + 1)
    end = clean.tree.lasts[element] + 1
    clean.removed[element:end] = b"\1" * (end - element)
