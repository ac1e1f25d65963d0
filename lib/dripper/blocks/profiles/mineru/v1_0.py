"""The rules of MinerU-HTML 1.0 (1.0.0): its parsers, the elements that it removes, and the way in
which it truncates text."""

import html as references
import re
from bisect import bisect_left, bisect_right

import lxml.html
from lxml import etree
from lxml.html.defs import block_tags
from selectolax.lexbor import LexborHTMLParser

from dripper.blocks.block import Block
from dripper.blocks.profiles.mineru.second_parse import remove_declarations
from dripper.blocks.profiles.mineru.version import CleanPage, Version, blank
from dripper.blocks.segment import Kinds
from dripper.blocks.simplify import ELLIPSIS, Around
from dripper.errors import ErrorCode, PageError
from dripper.extras import needed
from dripper.tree.elements import CELLS, INLINE, words
from dripper.tree.tree import Tree, attributes, escape, unescape

CUTOFF = 200
"""Maximum number of characters in each element's own text, which includes the text after its
children."""
_MOST_DECLARATIONS = 1_000
"""Maximum number of declarations in a page. Python's `html.parser` searches the rest of the page
for the end of each `<!` and `<?`. If 100,000 of these have no end, this takes minutes."""

_INLINE = INLINE | words("br dd dt li select textarea")
_REMOVED = words("head header footer nav aside style script noscript link meta iframe frame")
_NAMES = words("nav footer header")
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_DECLARATION = re.compile("<[!?]")
_NO_BODY = {"title": ("<head>", "</head>"), "noframes": ("", "")}
_OF_DATA = words("caption th thead tfoot colgroup col")
_ON_LINES = words(
    "address area base blockquote body caption center col colgroup dd dir div dl dt fieldset form frameset h1 h2 h3 h4 h5 "
    "h6 head hr html isindex legend li link menu meta noembed noscript ol optgroup option p param plaintext pre style "
    "table tbody td tfoot th thead title tr ul"
)
"""Elements that get line feeds inside and after them when libxml2 formats HTML. Each element was
tested."""


def _parse_first(html: bytes, _: LexborHTMLParser) -> str:
    """Return the page as BeautifulSoup writes it. Raises PageError(PARSE_FAILED)."""
    with needed("the profile mineru-1.0", "mineru"):
        from bs4 import BeautifulSoup
    text = remove_declarations(html.decode())
    # Only the text up to the last `-->` is searched: otherwise each `<!--` costs a search of the
    # rest of the page.
    end = text.rfind("-->") + 3 if "-->" in text else 0
    text = _COMMENT.sub("", text[:end]) + text[end:]
    if sum(1 for _ in _DECLARATION.finditer(text)) > _MOST_DECLARATIONS:
        raise PageError(ErrorCode.PARSE_FAILED, f"more than {_MOST_DECLARATIONS:,} declarations (`<!`, `<?`)")
    return str(BeautifulSoup(text, "html.parser"))


def _parse_second(text: bytes, parser: etree.HTMLParser) -> etree._Element:
    """Return the page's root. For a fragment, this is the fragment's only element, or else a `div`
    or `span` around the fragment. Raises PageError(PARSE_FAILED) on a page without a root."""
    try:
        return lxml.html.fromstring(
            text,
            parser=lxml.html.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8", collect_ids=False),
        )
    except etree.ParserError as error:
        raise PageError(ErrorCode.PARSE_FAILED, f"{error} (MinerU-HTML fails)") from error


def _remove(clean: CleanPage) -> None:
    """Remove the elements that MinerU removes because of their name, class, id or `display:none`.
    Also remove the text right after each of them."""
    tree = clean.tree
    tags = {tag for tag, name in tree.names.items() if name in _REMOVED or _is_removed(tag)}
    for element in tree.tagged(tags):
        if element and not clean.removed[element]:
            blank(clean, element)
            clean.texts[tree.closes[element] + 1] = ""


def _is_removed(tag: str) -> bool:
    if " class=" not in tag and " id=" not in tag and " style=" not in tag:
        return False
    values = attributes(tag)
    names = {*values.get("class", "").split(), *values.get("id", "").strip().split("-")}
    style = values.get("style", "")
    return not _NAMES.isdisjoint(names) or "display: none" in style or "display:none" in style


def _classify(tree: Tree, texts: list[str], removed: bytearray) -> Kinds:
    """Decide for every element whether it is a block and whether a child is a block.

    Blocks inside inline elements split nothing, so a list or a data table row is one block.
    """
    tags, parents = tree.tags, tree.parents
    block = bytearray(tag not in _INLINE for tag in tags)
    of_data = _find_data(tree, removed) if "table" in tags else bytearray()
    nearest = [-1] * len(tree)
    for element, tag in enumerate(tags):
        nearest[element] = element if tag == "table" or not element else nearest[parents[element]]
        if removed[element]:
            block[element] = 0
        elif tag in CELLS and of_data:
            table = nearest[element]
            block[element] = not (tags[table] == "table" and of_data[table])
    splits = bytearray(len(tree))
    for element in range(1, len(tree)):
        if block[element] and block[parents[element]]:
            splits[parents[element]] = 1
    return Kinds(block, splits, frozenset())


def _find_data(tree: Tree, removed: bytearray) -> bytearray:
    """Flag the data tables. A table is a data table because of its own attributes (such as
    `summary`), or because of an element at any depth inside, such as `th`, `caption` or `col`."""
    with_headers = {tag for tag in tree.names if " headers" in tag and "headers" in attributes(tag)}
    below = bytearray(len(tree))
    flags = bytearray(len(tree))
    for element in range(len(tree) - 1, 0, -1):
        if removed[element]:
            continue
        if tree.tags[element] == "table":
            values = tree.attributes(element)
            own = values.get("summary") or values.get("role") == "table" or values.get("data-table")
            flags[element] = bool(below[element] or own)
        if below[element] or tree.tags[element] in _OF_DATA or tree.start_tag(element) in with_headers:
            below[tree.parents[element]] = 1
    return flags


def _truncate(tree: Tree, parts: list[str], block: Block) -> None:
    """Truncate the text of each element after CUTOFF characters. Blank text is neither counted
    nor truncated."""
    used = [0]
    for index in range(block.first, block.last + 1):
        part = parts[index]
        if index % 2:
            if part[1:2] == "/":
                used.pop()
            elif part and tree.starts_element(index):
                used.append(0)
            continue
        text = part.removesuffix(ELLIPSIS)
        if not text or text.isspace():
            continue
        whole = unescape(text)
        if used[-1] + len(whole) > CUTOFF:
            shown = escape(whole[: CUTOFF - used[-1]]) + "..." if used[-1] < CUTOFF else ""
            parts[index] = shown + part[len(text) :]
        used[-1] = min(CUTOFF, used[-1] + len(whole))


def _surround(tree: Tree, texts: list[str], block: Block) -> Around | None:
    """Return the markup that lxml adds around a block when it parses the block as a page; None if
    it adds nothing. lxml adds `html` around an element that cannot be inside a body. If the block
    is a run of the body, lxml adds a `div` or `span` that replaces the body."""
    tag = tree.tags[block.element]
    if not block.is_run and (tag in _NO_BODY or tag.startswith("html")):
        tree.names |= {"<html>": "html", "</html>": "html"}
        return Around("<html>", *_NO_BODY.get(tag, ("<body>", "</body>")), "</html>")
    if not block.is_run or tag != "body":
        return None
    inside = [
        element
        for element in range(bisect_left(tree.opens, block.first), bisect_right(tree.opens, block.last))
        if texts[tree.opens[element]]
    ]
    name = "span" if block_tags.isdisjoint(map(tree.tags.__getitem__, inside)) else "div"
    start, end = f"<{name}{tree.start_tag(block.element)[len('<body') :]}", f"</{name}>"
    tree.names |= {start: name, end: name}
    return Around(start, "", "", end)


def _lay_out(tree: Tree) -> None:
    """Insert line feeds as libxml2 does (HTMLtree.c, `htmlNodeDumpInternal` with format). The line
    feeds go inside and after the elements in `_ON_LINES` if no text is there. They never go into an
    element with a name that begins with p, such as `pre`."""
    parts, closes = tree.parts, tree.closes
    for element, tag in enumerate(tree.tags):
        if tag not in _ON_LINES:
            continue
        first, end, parent = tree.opens[element] + 1, closes[element], tree.parents[element]
        if tree.lasts[element] > element and tag[0] != "p":
            is_only_child = closes[element + 1] + 2 == end and not parts[first] and not parts[end - 1]
            for index in () if is_only_child else (first, end - 1):
                parts[index] = parts[index] or "\n"
        if parent >= 0 and end + 2 != closes[parent] and not parts[end + 1] and tree.tags[parent][0] != "p":
            parts[end + 1] = "\n"
    parts[-1] += "\n"


MINERU_1_0 = Version(
    "mineru-1.0",
    first_parse=_parse_first,
    second_parse=_parse_second,
    remove=_remove,
    classify=_classify,
    inline=_INLINE,
    not_block=_INLINE,
    truncate=_truncate,
    surround=_surround,
    lay_out=_lay_out,
    fails_on_braces=True,
    selects_wrappers=False,
    wraps_last_break=True,
    recalls_breaks=False,
    unescape=references.unescape,
)
