"""Converts main HTML to TEI XML (https://tei-c.org), with the same elements as Trafilatura's
`xmltei` output.

The output is valid under Trafilatura's DTD, except for tables and code. TEI defines these, but the
DTD does not.

Headings become `ab` with the type header, lists become `list` and `item`, and tables become
`table`, `row` and `cell`. Inline elements become `hi`, `ref`, `code`, `del` and `graphic`. An
image's alternative text becomes its `desc`.
"""

import re
from collections import Counter
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree import ElementTree as ET

from dripper.tree.elements import HEADINGS

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACES = re.compile(r"[ \t\n\r\f]+")
_INLINE = {
    **dict.fromkeys(("b", "strong"), ("hi", {"rend": "#b"})),
    **dict.fromkeys(("i", "em", "cite", "var", "dfn"), ("hi", {"rend": "#i"})),
    **dict.fromkeys(("u", "ins"), ("hi", {"rend": "#u"})),
    **dict.fromkeys(("kbd", "tt", "samp"), ("hi", {"rend": "#t"})),
    "sub": ("hi", {"rend": "#sub"}),
    "sup": ("hi", {"rend": "#sup"}),
    **dict.fromkeys(("del", "s", "strike"), ("del", {})),
    "code": ("code", {}),
}
_CONTAINERS = {
    **dict.fromkeys(("ul", "ol", "dl", "menu"), "list"),
    **dict.fromkeys(("li", "dt", "dd"), "item"),
    "table": "table",
    "tr": "row",
    "td": "cell",
    "th": "cell",
    "blockquote": "quote",
}
_WITHIN = {"item": "list", "row": "table", "cell": "row"}
"""Maps an element to the element that must contain it."""
_LINES = frozenset(
    {*_INLINE, "a", "span", "font", "abbr", "small", "label", "q", "mark", "time", "img", "br", "wbr", "bdi"}
)
_IN_LINES = frozenset({"hi", "ref", "del", "code"})
_SILENT = frozenset({"script", "style", "head", "title", "template"})
_DEEPEST = 100
"""Maximum nesting depth of containers, and of inline elements within a line. Deeper elements lose
their tags. XML that is nested about 1,000 levels deep cannot be written, and many parsers cannot
read it."""


class TeiSource(NamedTuple):
    """The page's properties for the TEI header. "" means unknown."""

    title: str = ""
    url: str = ""
    author: str = ""
    date: str = ""
    """The date, unchanged from the page."""
    language: str = ""
    site: str = ""
    description: str = ""


def to_tei(main_html: str, source: TeiSource) -> str:
    """Convert main HTML to a TEI document. Never raises. Takes linear time.

    Lists, tables, quotes and inline elements nested more than 100 levels deep lose their tags, not
    their text.

    >>> "<p>one</p>" in to_tei("<div>one</div>", TeiSource("T"))
    True
    """
    root = ET.Element("TEI", {"xmlns": "http://www.tei-c.org/ns/1.0"})
    if source.language:
        root.set("xml:lang", source.language)
    _write_header(ET.SubElement(root, "teiHeader"), source)
    body = ET.SubElement(ET.SubElement(root, "text"), "body")
    entry = ET.SubElement(body, "div", {"type": "entry"})
    writer = _Writer(entry)
    writer.feed(main_html)
    writer.close()
    _drop_empty(entry)
    if not len(entry):
        ET.SubElement(entry, "p")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _write_header(header: ET.Element, source: TeiSource) -> None:
    description = ET.SubElement(header, "fileDesc")
    _write_title(description, source)
    ET.SubElement(ET.SubElement(description, "publicationStmt"), "p")
    full = ET.SubElement(ET.SubElement(description, "sourceDesc"), "biblFull")
    _write_title(full, source)
    published = ET.SubElement(full, "publicationStmt")
    ET.SubElement(published, "publisher").text = _xml(source.site) or None
    if source.url:
        ET.SubElement(published, "ptr", {"type": "URL", "target": _xml(source.url)})
    if source.date:
        ET.SubElement(published, "date").text = _xml(source.date)
    if source.description:
        abstract = ET.SubElement(ET.SubElement(header, "profileDesc"), "abstract")
        ET.SubElement(abstract, "p").text = _xml(source.description)


def _write_title(parent: ET.Element, source: TeiSource) -> None:
    statement = ET.SubElement(parent, "titleStmt")
    ET.SubElement(statement, "title", {"type": "main"}).text = _xml(source.title)
    if source.author:
        ET.SubElement(statement, "author").text = _xml(source.author)


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


class _Writer(HTMLParser):
    """Reads HTML and writes its blocks to a TEI `div`."""

    def __init__(self, entry: ET.Element) -> None:
        super().__init__()
        self._containers = [entry]
        self._lines: list[tuple[str, ET.Element]] = []
        """Pairs (HTML name, TEI element): the open paragraph or heading, then the open inline
        elements in it."""
        self._is_new_line = True
        self._preformatted = self._silent = 0
        self._left_out = Counter[str]()
        """Number of open elements that were too deep, keyed by HTML name."""
        self._pending: list[str] = []
        """Pieces of text that are not yet in the document."""

    def close(self) -> None:
        """See HTMLParser."""
        super().close()
        self._write_pending()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """See HTMLParser."""
        values = {name: value or "" for name, value in attrs}
        if tag in _SILENT:
            self._silent += 1
        elif tag == "code" and self._preformatted:
            return
        elif self._is_too_deep(tag):
            self._left_out[tag] += 1
            if tag in _CONTAINERS:
                self._end_block()
        elif tag == "br":
            self._break()
        elif tag == "img":
            if source := values.get("src"):
                graphic = self._add("graphic", {"url": _xml(source)})
                if alt := " ".join(_xml(values.get("alt", "")).split()):
                    ET.SubElement(graphic, "desc").text = alt
        elif tag == "a" or tag in _INLINE:
            name, marks = _INLINE.get(tag, ("ref", {"target": _xml(values.get("href", ""))}))
            self._mark(tag, name, dict(marks))
        elif tag not in _LINES:
            self._start_block(tag)

    def handle_endtag(self, tag: str) -> None:
        """See HTMLParser."""
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif self._left_out[tag]:
            self._left_out[tag] -= 1
            if tag in _CONTAINERS:
                self._end_block()
        elif tag == "a" or tag in _INLINE:
            self._write_pending()
            if tag in [name for name, _ in self._lines[1:]]:
                while self._lines.pop()[0] != tag:
                    pass
        elif tag not in _LINES:
            self._end_block()
            self._preformatted -= tag == "pre" and self._preformatted > 0
            if (kind := _CONTAINERS.get(tag)) in [element.tag for element in self._containers[1:]]:
                while self._containers.pop().tag != kind:
                    pass

    def handle_data(self, data: str) -> None:
        """See HTMLParser."""
        text = _xml(data) if self._preformatted else _SPACES.sub(" ", _xml(data))
        if self._is_new_line and not self._preformatted:
            text = text.lstrip(" ")
        if text and not self._silent:
            # Collect the pieces of text and join them later. Appending each piece would copy the
            # text every time.
            if not self._pending:
                self._line()
            self._pending.append(text)
            self._is_new_line = False

    def _write_pending(self) -> None:
        if self._pending:
            text, self._pending = "".join(self._pending), []
            _append(self._line(), text)

    def _is_too_deep(self, tag: str) -> bool:
        if tag in _CONTAINERS:
            return len(self._containers) >= _DEEPEST
        return (tag == "a" or tag in _INLINE) and len(self._lines) >= _DEEPEST

    def _start_block(self, tag: str) -> None:
        self._end_block()
        self._preformatted += tag == "pre"
        if tag in HEADINGS:
            self._lines = [(tag, self._in_container("ab", {"type": "header", "rend": tag}))]
        elif tag == "pre":
            self._mark(tag, "code", {})
        elif kind := _CONTAINERS.get(tag):
            self._open(kind)

    def _open(self, kind: str) -> None:
        container = _WITHIN.get(kind)
        if container:
            # A new row ends the open cell and row, and a new cell or item ends the open one. If the
            # container is missing, it is added.
            while self._containers[-1].tag in _WITHIN and self._containers[-1].tag != container:
                inner = self._containers[-1].tag
                if inner != kind and kind not in _inside(inner):
                    break
                self._containers.pop()
            if self._containers[-1].tag != container:
                self._open(container)
        self._containers.append(self._in_container(kind, {"rend": "ul"} if kind == "list" else {}))

    def _in_container(self, name: str, attributes: dict[str, str]) -> ET.Element:
        holder = self._containers[-1]
        if holder.tag in ("list", "table", "row") and _WITHIN.get(name) != holder.tag:
            self._open({"list": "item", "table": "row", "row": "cell"}[holder.tag])
            return self._in_container(name, attributes)
        return ET.SubElement(holder, name, attributes)

    def _line(self) -> ET.Element:
        if not self._lines:
            self._lines = [("p", self._in_container("p", {}))]
            self._is_new_line = True
        return self._lines[-1][1]

    def _mark(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        element = self._add(name, attributes)
        self._lines.append((tag, element))

    def _add(self, name: str, attributes: dict[str, str]) -> ET.Element:
        self._write_pending()
        return ET.SubElement(self._line(), name, attributes)

    def _break(self) -> None:
        if self._lines:
            self._add("lb", {})
            self._is_new_line = True

    def _end_block(self) -> None:
        self._write_pending()
        self._lines = []
        self._is_new_line = True


def _inside(kind: str) -> tuple[str, ...]:
    """Return the kinds of elements that end an open element of `kind` when they begin."""
    return {"row": ("row",), "cell": ("row", "cell"), "item": ("item",)}[kind]


def _append(element: ET.Element, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def _drop_empty(element: ET.Element) -> None:
    """Remove empty elements, because TEI does not allow empty lists, tables or paragraphs. White
    space in removed inline elements is kept."""
    children: list[ET.Element] = []
    texts = [[element.text or ""]]
    """The text before the first kept child, and after each kept child."""
    for child in element:
        _drop_empty(child)
        if len(child) or (child.text or "").strip() or child.tag in ("lb", "graphic"):
            children.append(child)
            texts.append([child.tail or ""])
        else:
            texts[-1].append((child.text or "" if child.tag in _IN_LINES else "") + (child.tail or ""))
    if len(children) == len(element):
        return
    element[:] = children
    element.text, *tails = ["".join(pieces) or None for pieces in texts]
    for child, tail in zip(children, tails, strict=True):
        child.tail = tail
