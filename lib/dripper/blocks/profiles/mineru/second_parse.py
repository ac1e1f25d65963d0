"""Parses the output of the first parser with libxml2, and detects characters that lxml refuses."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from lxml import etree

from dripper.tree.elements import LIBXML2_VOID
from dripper.tree.scan import scan
from dripper.tree.tree import Tree

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CONTROLS = bytes([*range(9), 11, 12, *range(14, 32)])


def has_forbidden(markup: str) -> bool:
    """Return whether markup has a FORBIDDEN character; surrogates need no check, because parsers
    drop them."""
    data = markup.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _CONTROLS)) < len(data):
        return True
    return not markup.isascii() and ("\ufffe" in markup or "\uffff" in markup)


_XML_DECLARATION = re.compile(r"<\?xml\s+.*?\??>", re.DOTALL)
_HIDE_ANGLES = {ord("<"): "\ufdd0", ord(">"): "\ufdd1"}
"""Angle brackets → noncharacters. libxml2 does not escape `<!--…-->` in attributes, and `scan`
could not read such attributes. `show_angles` restores the angle brackets."""

_WHOLE_ATTRIBUTES = re.compile(r"""<[^\t\n\f\r />]+(?:[ ]=?[^\t\n\f\r =>/]*(?:="[^"]*"|='[^']*')?)*""")


class Read(NamedTuple):
    """A page as libxml2 reads it."""

    tree: Tree
    """The page as libxml2 writes it, but without the text of script and style."""
    scripts: list[str]
    """The text of each script and style, in document order."""
    addresses: Mapping[int, str]
    """Image number → stripped URL, for each `src` with white space around its URL. libxml2 would
    write this white space as `%20`."""
    has_forbidden: bool
    """Whether the page has a FORBIDDEN character."""


def remove_declarations(text: str) -> str:
    """Return a page without the strings that MinerU mistakes for XML declarations. Takes linear
    time, because the text after the last `>` is not searched."""
    end = text.rfind(">") + 1 if "<?xml" in text else 0
    return _XML_DECLARATION.sub("", text[:end]) + text[end:]


def read_again(text: str, parse: Callable[[bytes, etree.HTMLParser], etree._Element]) -> Read:
    """Return the first parser's output as libxml2 reads it. `parse` parses bytes and returns the
    root."""
    # Nothing looks up ids, so libxml2 need not keep a table of them.
    parser = etree.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8", collect_ids=False)
    root = parse(text.encode("utf-8", "surrogatepass"), parser)
    scripts, addresses = _make_scannable(root)
    markup = etree.tostring(root, encoding="unicode", method="html")
    if "<!--" in markup:
        markup = _hide_includes(markup)
    return Read(scan(markup, LIBXML2_VOID), scripts, addresses, has_forbidden(markup))


def _make_scannable(root: etree._Element) -> tuple[list[str], dict[int, str]]:
    """Change the parts that libxml2 would write in a form that `scan` cannot read. Return the
    contents of `script` and `style` elements, because libxml2 does not escape them, and `addresses`
    (see `Read`).
    """
    scripts, addresses, images = list[str](), dict[int, str](), 0
    for element in root.iter("script", "style", "li", "img"):
        if element.tag == "img":
            address = element.get("src", "")
            if address != address.strip():
                addresses[images] = address.strip()
            images += 1
        elif element.tag != "li":
            scripts.append(element.text or "")
            element.text = None
        elif element.text is None and not len(element):
            # An empty li gets no end tag, so it would look like a parent; an empty text prevents
            # that.
            element.text = ""
    return scripts, addresses


def _hide_includes(markup: str) -> str:
    """Replace the angle brackets of `<!--…-->` in attribute values; angle brackets in (broken)
    attribute names are kept, because they end the tag."""
    pieces: list[str] = []
    position, quote = 0, ""
    start = markup.find("<!--")
    while start >= 0 and (end := markup.find("-->", start + 2)) >= 0:
        if not quote or quote in markup[position:start]:
            quote = _open_quote(markup[markup.rfind("<", position, start) : start])
        if quote:
            pieces += (markup[position:start], markup[start : end + 3].translate(_HIDE_ANGLES))
            position = end + 3
        start = markup.find("<!--", position if quote else start + 4)
    return "".join(pieces) + markup[position:]


def _open_quote(tag: str) -> str:
    """Return the quote that begins the value at the end of an unfinished tag, or ""."""
    whole = _WHOLE_ATTRIBUTES.match(tag)
    rest = tag[whole.end() :] if whole else ""
    return rest[1] if rest.startswith(('="', "='")) else ""


def show_angles(markup: str) -> str:
    """Return finished markup with its hidden angle brackets restored."""
    return markup.replace("\ufdd0", "<").replace("\ufdd1", ">") if "\ufdd0" in markup else markup
