"""The rules of MinerU-HTML 1.1 (1.1.2): its parsers, the elements that it removes, and the way in
which it truncates text."""

import html as references
import re
from functools import partial
from itertools import pairwise

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from dripper.blocks.block import Block
from dripper.blocks.profiles.mineru.second_parse import FORBIDDEN, remove_declarations
from dripper.blocks.profiles.mineru.version import CleanPage, Version, blank
from dripper.blocks.segment import NOT_BLOCK, classify
from dripper.blocks.simplify import CUTOFF, truncate
from dripper.errors import ErrorCode, PageError
from dripper.tree.elements import INLINE
from dripper.tree.tree import Tree, attribute

_REMOVED = frozenset({"title", "head", "style", "script", "link", "meta", "iframe", "frame", "nav"})
_HIDING = {
    ("display", "none"),
    ("font-size", "0px"),
    ("color", "transparent"),
    ("visibility", "hidden"),
    ("opacity", "0"),
}
_TAG = re.compile("<[a-zA-Z][^>]*>")
_ADDRESS = re.compile(r"""((?:href|src)=")([^"]*)(")""", re.IGNORECASE)
_PREFIXES = ("http://", "https://", "ftp://", "HTTP://", "HTTPS://", "FTP://", "//")


def _remove(clean: CleanPage) -> None:
    """Remove the elements with a name in `_REMOVED`, and the text directly after each of them. Then
    remove hidden elements, but keep the text after each of them.
    """
    tree = clean.tree
    for element in [element for element, tag in enumerate(tree.tags) if tag in _REMOVED]:
        if not clean.removed[element]:
            blank(clean, element)
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
    """Return whether a style contains one of five declarations, written exactly as in `_HIDING` (no
    `!important`, no capitals)."""
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        if colon and (name.strip(), value.strip()) in _HIDING:
            return True
    return False


def _remove_hidden(clean: CleanPage, elements: list[int]) -> None:
    """Remove elements, inner ones first. The text after each is joined to the tail or text of the
    sibling before it, or to the parent's text."""
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
        blank(clean, element)
        following = after.pop(element, -1)
        if following >= 0:
            before[following] = previous
        if previous >= 0:
            after.pop(previous, None)
            if following >= 0:
                after[previous] = following


def _parse_first(_: bytes, document: LexborHTMLParser) -> str:
    """Return the page as lexbor writes it, without the strings that MinerU mistakes for XML
    declarations."""
    text = document.html or "<html></html>"
    if "&lt;?xml" in text:
        # Modest writes < and > in attributes unescaped, so MinerU's regular expression also matches
        # inside attributes.
        text = _TAG.sub(lambda tag: tag.group().replace("&lt;", "<").replace("&gt;", ">"), text)
    return remove_declarations(text)


def _truncate(tree: Tree, parts: list[str], block: Block) -> None:
    if sum(map(len, parts[block.first + block.first % 2 : block.last + 1 : 2])) > CUTOFF:
        truncate(tree, parts, block.first, block.last, CUTOFF, float("inf"))


def _use_plain_addresses(main_html: str) -> str:
    return _ADDRESS.sub(_use_plain_address, main_html)


def _use_plain_address(match: re.Match[str]) -> str:
    start, address, end = match.groups()
    return f"{start}{references.unescape(address)}{end}" if address.startswith(_PREFIXES) else match.group()


MINERU_1_1 = Version(
    "mineru-1.1",
    first_parse=_parse_first,
    second_parse=etree.fromstring,
    remove=_remove,
    classify=partial(classify, columns_decide=True),
    inline=INLINE,
    not_block=NOT_BLOCK,
    truncate=_truncate,
    surround=None,
    lay_out=None,
    fails_on_braces=False,
    selects_wrappers=True,
    wraps_last_break=False,
    recalls_breaks=True,
    unescape=_use_plain_addresses,
)
