"""Profile `dripper`, the default. It parses a page as a browser does, keeps everything visible, and
finds the real URLs of lazy-loaded images. Profile `paper` reuses this code with additional rules.

Visible text is all text in the body, except in `script`, `style`, `template`, `title`, comments and
hidden elements (see `tree.visibility`). `noscript` counts as visible, because many forums have
their posts only there. Declarative shadow roots are attached.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dripper.blocks.block import Block
from dripper.blocks.page import Page
from dripper.blocks.profiles.registry import Profile
from dripper.blocks.segment import classify, number, segment
from dripper.blocks.simplify import CUTOFF, TABLE_CUTOFF, WRAPPER
from dripper.facts.media.addresses import use_best_address
from dripper.facts.media.players import replace_frame
from dripper.facts.metadata import read_metadata
from dripper.tree import shadow
from dripper.tree.elements import HTML_VOID, RAW_TEXT, words
from dripper.tree.head import HEAD, read_head, read_hints
from dripper.tree.letters import drop_shapeless
from dripper.tree.lines import find_in_line, is_printed, join_formulas, join_printed_lines, write_annotations
from dripper.tree.parser import Reading, parse_document, read_title, refuse_costly
from dripper.tree.scan import ReadTags, StartTag, scan
from dripper.tree.tree import Tree
from dripper.tree.visibility import HIDDEN_SHARE, Sight

_NEVER_SEEN = words(HEAD.replace(",", "")) | words("style template noembed iframe noframes xmp plaintext")
_UNSEEN = ", ".join(sorted(_NEVER_SEEN))
"""CSS selector of the invisible elements that `read_head` reads, and of elements with content that
is serialised without escapes. `scan` cannot read such content. Other invisible elements are found
by their start tags (`tree.visibility`), because the cost of a CSS query grows with its length times
the page's length."""

_RAW_NAMES = "|".join(RAW_TEXT).encode()
_RAW_START = re.compile(rb"<(%s)(?=[\s/])[^<>]*/>" % _RAW_NAMES, re.IGNORECASE)
_RAW_END = re.compile(rb"</(%s)(?=[\s/>])" % _RAW_NAMES, re.IGNORECASE)
_TAIL = 300
"""Number of bytes at the end of a page to search for an end tag. Many pages end with a script."""

_TAG = re.compile("<[a-zA-Z][^>]*>")
_ITEM_ID = re.compile(r'[\t\n\f\r ]_item_id(?:="[^"]*")?')
_WRAPPER_TAG = re.compile(rf"(</?){WRAPPER}(?=[\t\n\f\r />])")


def find_unseen(document: LexborHTMLParser) -> list[LexborNode]:
    """Return the elements to remove before the page is scanned, in document order."""
    return document.css(_UNSEEN)


FindUnseen = Callable[[LexborHTMLParser], list[LexborNode]]


def parse_page(html: bytes, profile: "LosslessProfile", reading: Reading) -> Page:
    """Parse a page into a tree of its visible elements, without splitting it into blocks yet. Takes
    linear time (see `tree.parser`).

    Args:
        html: The page as UTF-8. NULs in text are dropped.

    Raises:
        PageError(PARSE_FAILED): If the page exceeds `reading.limits`.
    """
    refuse_costly(html, reading.limits)
    document = parse_document(html)
    if _may_end_in_raw_text(document, html) and (closed := close_raw_text(html)) != html:
        document = parse_document(closed)
    title, unseen = read_title(document), profile.find_unseen(document)
    if profile.keeps_units and any(node.tag == "template" and shadow.SIGN in node.attributes for node in unseen):
        html = shadow.open_roots(html)
        refuse_costly(html, reading.limits)
        document = parse_document(html)
        shadow.fill_slots(document)
        unseen = profile.find_unseen(document)
    head = read_head(unseen)
    frames = document.css_first("frameset noframes, html > noframes") if document.body is None else None
    if frames is not None:
        # A frameset has no body. Its alternative content is markup inside a raw text element.
        document = parse_document(frames.text())
        title, unseen = title or read_title(document), profile.find_unseen(document)
    sheets = _read_sheets(unseen) if profile.keeps_units and not reading.keeps_hidden else []
    _remove(document, unseen, profile.places_media)
    markup = document.html or "<html></html>"
    for _ in range(2):
        sight = Sight(sheets, keeps_hidden=reading.keeps_hidden) if profile.keeps_units else None
        tree = scan(markup, HTML_VOID, profile.read_tags, profile.hidden_share, has_blanks=True, sight=sight)
        # Search only the distinct tags. Searching the whole markup would take longer than all other
        # steps here.
        if WRAPPER not in tree.names.values() and not tree.values("_item_id"):
            break
        markup = _WRAPPER_TAG.sub(r"\1span", _TAG.sub(lambda tag: _ITEM_ID.sub("", tag.group()), markup))
    return Page(
        tree, (), title, profile.name, hints=read_hints(head), cutoffs=profile.cutoffs,
        metadata=read_metadata(head, tree, title, reading), hidden_characters=sight.hidden_characters if sight else 0,
    )  # fmt: skip


def _read_sheets(unseen: list[LexborNode]) -> list[str]:
    """Return the page's own style sheets. Sheets for other media, and for browsers without scripts,
    are left out."""
    sheets = list[str]()
    for node in unseen:
        if node.tag == "style" and (node.parent is None or node.parent.tag != "noscript"):
            media = (node.attributes.get("media") or "").lower().strip()
            if media in ("", "screen", "all"):
                sheets.append(node.text())
    return sheets


def _may_end_in_raw_text(document: LexborHTMLParser, html: bytes) -> bool:
    """Return whether a raw text element may have swallowed the end of the page. Such an element is
    the last on the page, or right before a table that is last. If the body is empty, the element
    may be in the head. If a template is last, the element may be in the template, because a
    template's content is not among its children.

    Only about ten nodes are checked, while `close_raw_text` reads the whole page.
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


def close_raw_text(html: bytes) -> bytes:
    """Add an end tag after each self-closing raw text element that has none, such as `<iframe …/>`.

    Such pages were written or stored as XML. HTML has no self-closing tags, so the element would
    swallow the rest of the page as text. In a data set of forums, this happens on 12 of 60 pages.
    If there is an end tag later, the element is left unchanged, because browsers use this end tag.

    >>> close_raw_text(b'<p>a<iframe src="x"/><p>b')
    b'<p>a<iframe src="x"/></iframe><p>b'
    """
    last_end = {match[1].lower(): match.start() for match in _RAW_END.finditer(html)}
    parts, position = list[bytes](), 0
    for match in _RAW_START.finditer(html):
        name = match[1].lower()
        if last_end.get(name, -1) < match.end():
            parts += [html[position : match.end()], b"</%s>" % name]
            position = match.end()
    return b"".join([*parts, html[position:]])


def read_tags(tags: list[str]) -> dict[str, StartTag]:
    """Find the image start tags that have a better URL than their `src`, and rewrite them to use
    this URL."""
    return {tag: StartTag(best) for tag in tags if tag[:5] == "<img " and (best := use_best_address(tag)) != tag}


def _remove(document: LexborHTMLParser, unseen: list[LexborNode], keep_players: bool) -> None:
    """Remove the invisible elements, with two exceptions: `xmp` becomes `pre`, and MathJax source
    (`<script type="math/tex">`) becomes text.

    MathJax shows its source as a formula, and the formula is nowhere else on the page.
    """
    for node in unseen:
        kind = (node.attributes.get("type") or "").lower() if node.tag == "script" else ""
        if node.tag in ("xmp", "plaintext"):
            _replace(document, node, "pre", node.text())
        elif kind.startswith("math/tex"):
            source = node.text().strip()
            _replace(document, node, "span", f"\\[{source}\\]" if "mode=display" in kind else f"\\({source}\\)")
        elif not (keep_players and node.tag == "iframe" and replace_frame(document, node)):
            # Do not destroy the node, because the next element may be inside it.
            node.decompose(recursive=False)


def _replace(document: LexborHTMLParser, node: LexborNode, tag: str, text: str) -> None:
    new = document.create_node(tag)
    new.insert_child(text)
    node.replace_with(new)


@dataclass(frozen=True, kw_only=True, slots=True)
class LosslessProfile(Profile):
    """A profile in which mapping HTML contains the whole page."""

    read_tags: ReadTags
    """Returns the start tags to rewrite, and the start tags of hidden elements."""
    hidden_share: float
    """A hidden element is kept if it has more than this fraction of the page's text."""
    cutoffs: tuple[int, int]
    """Maximum number of characters that the model sees of each block, outside and inside tables."""
    find_unseen: FindUnseen = find_unseen
    """Finds the elements to remove before the page is scanned."""

    def preprocess(self, html: bytes, reading: Reading) -> Page:
        """Parse a UTF-8 page and split it into blocks."""
        html = drop_shapeless(html) if self.keeps_units else html
        page = parse_page(html, self, reading)
        if self.keeps_units:
            if is_printed(page.elements) and (joined := join_printed_lines(html)) != html:
                return self.preprocess(joined, reading)
            join_formulas(page.elements)
        return replace(page, blocks=self.split(page.elements))

    def split(self, tree: Tree) -> list[Block]:
        """Split a tree into blocks."""
        removed = bytearray(len(tree))
        for element in tree.children(0):
            if tree.tags[element] == "head":
                removed[element : tree.lasts[element] + 1] = b"\1" * (tree.lasts[element] + 1 - element)
        in_line = find_in_line(tree) if self.keeps_units else frozenset[int]()
        texts = write_annotations(tree) if self.keeps_units else tree.parts
        kinds = classify(tree, texts, removed, columns_decide=False, in_line=in_line)
        paragraphs, _ = segment(tree, texts, removed, kinds)
        return number(tree, texts, paragraphs)


DRIPPER = LosslessProfile(
    name="dripper",
    read_tags=read_tags,
    hidden_share=HIDDEN_SHARE,
    cutoffs=(CUTOFF, TABLE_CUTOFF),
    places_media=True,
    keeps_units=True,
)
