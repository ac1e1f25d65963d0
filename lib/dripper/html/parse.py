"""From a page's text to its `Tree`, as a browser builds it (profile `dripper`): lexbor parses, the
scan cuts.

What is visible, hence kept: every text of the body but that of `script`, `style`, `template`,
`title`, comments, and of elements hidden by the attribute `hidden` or the style `display:none`.
Kept nevertheless, because a reader can open it or a script will show it: `details`, tab panels,
accordions, streamed parts, whatever holds much of the page's text, and the styles `visibility`,
`opacity`, `color`, `font-size` (over 2,374 labelled training pages, 55 % to 76 % of the words
hidden by these styles are main content). `noscript` counts as visible: many forums have their posts
only there.
"""

import re
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dripper.blocks.mapping import WRAPPER
from dripper.html.images import with_real_address
from dripper.markup.document import parse_document, title_of
from dripper.markup.head import HEAD, read_head
from dripper.markup.hints import Hints, hints_of
from dripper.markup.limits import DEFAULT_LIMITS, ParserLimits, refuse_costly
from dripper.markup.scan import HIDDEN_SHARE, ReadTags, StartTag, scan
from dripper.markup.tags import HTML_VOID, RAW_TEXT
from dripper.markup.tree import Tree, attribute
from dripper.metadata import Metadata, metadata_of

_UNSEEN = f"{HEAD}, style, template, noembed, datalist, iframe, noframes, xmp, plaintext, body title, svg desc"
"""What shows nothing, and the elements whose content is serialised unescaped, which would not scan.
One query, which finds what `read_head` reads too: each walks the whole page."""
DISPLAY_NONE = re.compile(r"(?:^|;)\s*display\s*:\s*none\b", re.IGNORECASE)
_OPENS_LATER = re.compile(
    "tab-?_?(?:panel|content|pane)|accordi?on|collaps|faq|toggle|expand|until-found|subscriber|"
    ' id="s:[0-9a-f]+"|-id="s:[0-9a-f]+"'
)
"""Marks of hidden parts that a reader or a script opens, in lower case (which takes a fifth of the
time of IGNORECASE); `id="S:3"` is a part that React streams behind the page."""

_RAW_NAMES = "|".join(RAW_TEXT).encode()
_RAW_START = re.compile(rb"<(%s)(?=[\s/])[^<>]*/>" % _RAW_NAMES, re.IGNORECASE)
_RAW_END = re.compile(rb"</(%s)(?=[\s/>])" % _RAW_NAMES, re.IGNORECASE)
_TAIL = 300
"""Bytes: a page that ends with a script, as many do, has its end tag among the last ones."""

_TAG = re.compile("<[a-zA-Z][^>]*>")
_ITEM_ID = re.compile(r'[\t\n\f\r ]_item_id(?:="[^"]*")?')
_WRAPPER_TAG = re.compile(rf"(</?){WRAPPER}(?=[\t\n\f\r />])")


class ParsedPage(NamedTuple):
    """tree: of the visible body. title: of `<title>`, else `og:title`, else "". hints, metadata:
    see `markup.hints` and `metadata`."""

    tree: Tree
    title: str
    hints: Hints
    metadata: Metadata


def parse_page(
    html: bytes, read_tags: ReadTags, hidden_share: float = HIDDEN_SHARE, limits: ParserLimits = DEFAULT_LIMITS
) -> ParsedPage:
    """Return the page's visible body as a tree, its title, hints and metadata.

    read_tags, hidden_share: see `scan`; they decide what is cut out.
    html: as UTF-8; NULs in texts are dropped. Linear, see `limits`.
    Raises PageError(PARSE_FAILED) where the parser would need seconds.
    """
    refuse_costly(html, limits)
    document = parse_document(html)
    if _may_end_in_raw_text(document, html) and (closed := with_raw_text_closed(html)) != html:
        document = parse_document(closed)
    title, unseen = title_of(document), document.css(_UNSEEN)
    head = read_head(unseen)
    frames = document.css_first("frameset noframes, html > noframes") if document.body is None else None
    if frames is not None:
        # A frameset has no body of its own; what it offers instead is markup inside a raw text
        # element.
        document = parse_document(frames.text())
        title, unseen = title or title_of(document), document.css(_UNSEEN)
    _remove(document, unseen)
    markup = (document.html or "<html></html>").replace("&nbsp;", "\u00a0")
    if "_item_id" in markup:
        markup = _TAG.sub(lambda tag: _ITEM_ID.sub("", tag.group()), markup)
    tree = scan(markup, HTML_VOID, read_tags, hidden_share)
    if WRAPPER in tree.names.values():
        tree = scan(_WRAPPER_TAG.sub(r"\1span", markup), HTML_VOID, read_tags, hidden_share)
    return ParsedPage(tree, title, hints_of(head), metadata_of(head, tree))


def _may_end_in_raw_text(document: LexborHTMLParser, html: bytes) -> bool:
    """Tell whether a raw text element may have swallowed the page's end: it is last, before a last
    table, in the head or in a template, whose content is no child of it.

    A look at some ten nodes, where `with_raw_text_closed` reads all of the page.
    """
    node = document.root
    while node is not None:
        last = node.prev if node.tag == "table" and node.prev is not None else node
        if last.tag in RAW_TEXT:
            return f"</{last.tag}".encode() not in html[-_TAIL:].lower()
        if node.tag in ("body", "template") and node.last_child is None:
            return True
        node = node.last_child
    return False


def with_raw_text_closed(html: bytes) -> bytes:
    """Return the page with an end tag behind each raw text element that closes itself and has none
    (`<iframe …/>`).

    That is XML, and such pages were written or stored as XML; HTML has no self-closing tags, so
    that the element would swallow the rest of the page as its text: 12 of 60 pages of a set of
    forums. Where an end tag follows, browsers and we take the page at its word.

    >>> with_raw_text_closed(b'<p>a<iframe src="x"/><p>b')
    b'<p>a<iframe src="x"/></iframe><p>b'
    """
    last_end = {match[1].lower(): match.start() for match in _RAW_END.finditer(html)}
    parts, done = list[bytes](), 0
    for match in _RAW_START.finditer(html):
        name = match[1].lower()
        if last_end.get(name, -1) < match.end():
            parts += [html[done : match.end()], b"</%s>" % name]
            done = match.end()
    return b"".join([*parts, html[done:]])


def read_tags(tags: list[str]) -> dict[str, StartTag]:
    """Return what is special about start tags of the page: the real address of an image, or that it
    hides its element."""
    images = [tag for tag in tags if tag[:5] == "<img "]
    special = {tag: StartTag(real) for tag in images if (real := with_real_address(tag)) != tag}
    styled = [tag for tag in tags if " style=" in tag or " hidden" in tag]
    return {tag: StartTag(tag, hidden=True) for tag in styled if is_hidden(tag)} | special


def is_hidden(tag: str) -> bool:
    """Tell whether a start tag hides its element for good (see the module's head)."""
    if (" hidden" not in tag and "none" not in tag.lower()) or tag.startswith(("<html ", "<body ")):
        return False
    if attribute(tag, "hidden") is None and not DISPLAY_NONE.search(attribute(tag, "style") or ""):
        return False
    return not _OPENS_LATER.search(tag.lower())


def _remove(document: LexborHTMLParser, unseen: list[LexborNode]) -> None:
    """Take out what shows nothing; `xmp` becomes `pre`, MathJax's source
    (`<script type="math/tex">`) text.

    MathJax shows its sources, and nothing else holds them.
    """
    for node in unseen:
        kind = (node.attributes.get("type") or "").lower() if node.tag == "script" else ""
        if node.tag in ("xmp", "plaintext"):
            _replace(document, node, "pre", node.text())
        elif kind.startswith("math/tex"):
            source = node.text().strip()
            _replace(document, node, "span", f"\\[{source}\\]" if "mode=display" in kind else f"\\({source}\\)")
        else:
            # Taken out, not destroyed: an element inside it may be next.
            node.decompose(recursive=False)


def _replace(document: LexborHTMLParser, node: LexborNode, tag: str, text: str) -> None:
    new = document.create_node(tag)
    new.insert_child(text)
    node.replace_with(new)
