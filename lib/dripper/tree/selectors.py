"""Applies CSS selectors that users write for particular sites. `drop` selects elements to remove
from a page. `keep` selects blocks that become main content regardless of the labeler's decision.
"""

from collections.abc import Iterable, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from dripper.tree.elements import HTML_VOID
from dripper.tree.parser import parse_document
from dripper.tree.scan import scan
from dripper.tree.tree import Tree, attribute

_WHOLE = frozenset({"html", "head", "body"})
"""Elements that selectors never remove, because nothing would be left of the page."""
_MARK = "data-dripper-kept"


def check_selector(selector: str) -> None:
    """Raise ValueError if the parser rejects a selector.

    >>> check_selector("main > .price")
    """
    try:
        LexborHTMLParser("<p>").css(selector)
    except (SelectolaxError, ValueError, RuntimeError) as error:
        raise ValueError(f"{selector!r} is not a CSS selector: {error}") from None


def drop_elements(utf8: bytes, selectors: Sequence[str]) -> bytes:
    """Remove the elements that match the selectors. If no element matches, return the bytes
    unchanged.

    >>> drop_elements(b"<p>one<p class=ad>two", [".ad"])
    b'<html><head></head><body><p>one</p></body></html>'
    """
    document = parse_document(utf8)
    nodes = [node for node in _find(document, selectors) if node.tag not in _WHOLE]
    for node in nodes:
        node.remove()
    return (document.html or "").encode("utf-8", "ignore") if nodes else utf8


def find_kept_blocks(mapping_html: str, selectors: Sequence[str]) -> set[int]:
    """Return the ids of the blocks that are inside or around elements that match the selectors.

    Args:
        mapping_html: The page with an `_item_id` on each block.

    >>> find_kept_blocks('<div><p _item_id="1">a</p><p _item_id="2"><b>b</b></p></div>', ["b"])
    {2}
    """
    document = parse_document(mapping_html)
    for node in _find(document, selectors):
        node.attrs[_MARK] = ""
    tree = scan(document.html or "", HTML_VOID)
    items, looked_at, end = set[int](), set[int](), -1
    for element in range(len(tree)):
        tag = tree.start_tag(element)
        if f" {_MARK}=" in tag:
            end = max(end, tree.lasts[element])
            around = element
            while around >= 0 and around not in looked_at and (item := _read_id(tree, around)) is None:
                looked_at.add(around)
                around = tree.parents[around]
            items |= {item} if around >= 0 and around not in looked_at and item is not None else set()
        if element <= end and (item := _read_id(tree, element)) is not None:
            items.add(item)
    return items


def _find(document: LexborHTMLParser, selectors: Sequence[str]) -> Iterable[LexborNode]:
    return (node for selector in selectors for node in document.css(selector))


def _read_id(tree: Tree, element: int) -> int | None:
    text = attribute(tree.start_tag(element), "_item_id")
    return int(text) if text and text.isdecimal() else None
