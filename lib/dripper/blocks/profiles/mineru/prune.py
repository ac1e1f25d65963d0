"""Cuts main HTML from mapping HTML for the profiles `mineru-…`, byte for byte as MinerU-HTML
does."""

import re
from collections.abc import Collection, Iterable

import lxml.html
from lxml import etree

from dripper.blocks.profiles.mineru.v1_1 import MINERU_1_1
from dripper.blocks.profiles.mineru.version import Version
from dripper.blocks.simplify import WRAPPER

_META = re.compile(r'<meta http-equiv="Content-Type"[^>]*>', re.IGNORECASE)


def prune_exactly(mapping_html: str, main_ids: Collection[int], version: Version = MINERU_1_1) -> str:
    """Write main HTML from mapping HTML that the profile of `version` wrote. Ids that are not in
    the mapping HTML are ignored.

    The main HTML keeps helper attributes, scripts inside blocks and unlabelled text before kept
    elements, as MinerU does. Takes linear time.
    """
    if not mapping_html.strip():
        return "<HtmlElement></HtmlElement>"
    parser = lxml.html.HTMLParser(remove_comments=True, remove_pis=True, remove_blank_text=True, encoding="utf-8")
    root = lxml.html.fromstring(mapping_html.encode("utf-8", "ignore"), parser=parser)
    ids = {str(item_id) for item_id in main_ids}
    elements: set[etree._Element] = set()
    for element in root.iter(etree.Element):
        item_id = element.get("_item_id")
        if item_id in ids:
            ids.discard(item_id)
            elements.update(element.iter(etree.Element))
            elements.update(_find_new_ancestors(element, elements))
    elements.add(root)
    if version.recalls_breaks:
        elements |= _recall_breaks(root.iter(etree.Element), elements)
    _remove_others(root, elements)
    etree.strip_tags(root, WRAPPER)
    markup = etree.tostring(root, encoding="utf-8", method="html").decode("utf-8")
    return version.unescape(_META.sub("", markup))


def _find_new_ancestors(element: etree._Element, elements: set[etree._Element]) -> Iterable[etree._Element]:
    for ancestor in element.iterancestors():
        if ancestor in elements:
            return
        yield ancestor


def _recall_breaks(candidates: Iterable[etree._Element], elements: set[etree._Element]) -> set[etree._Element]:
    """Return the `br` elements that are right before or after a kept element in document order,
    even if the two are not siblings."""
    breaks, previous = set(), None
    for element in candidates:
        if previous is not None and (previous.tag == "br") != (element.tag == "br"):
            line_break, other = (previous, element) if previous.tag == "br" else (element, previous)
            if other in elements:
                breaks.add(line_break)
        previous = element
    return breaks


def _remove_others(root: etree._Element, elements: set[etree._Element]) -> None:
    """Remove the elements that are not kept, and the text right after each."""
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        for child in list(parent):
            if child in elements:
                waiting.append(child)
            else:
                parent.remove(child)
