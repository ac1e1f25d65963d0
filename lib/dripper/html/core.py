"""`preprocess`: from a page's text to its blocks, by profile."""

import re
from collections.abc import Collection
from dataclasses import replace

from dripper.blocks.mapping import WRAPPER
from dripper.blocks.numbering import number
from dripper.blocks.page import Page
from dripper.blocks.pruning import prune as prune_losslessly
from dripper.blocks.segment import segment
from dripper.blocks.simplify import CUTOFF, TABLE_CUTOFF
from dripper.errors import ErrorCode, PageError
from dripper.html.paper import CUTOFF as PAPER_CUTOFF
from dripper.html.paper import read_tags as read_paper_tags
from dripper.html.parse import parse_page, read_tags
from dripper.markup.hints import Hints
from dripper.markup.limits import DEFAULT_LIMITS, NO_LIMITS, ParserLimits
from dripper.markup.scan import HIDDEN_SHARE, UnbalancedMarkupError, scan
from dripper.markup.tags import HTML_VOID
from dripper.markup.tree import Tree
from dripper.mineru.profile import preprocess_exactly
from dripper.mineru.prune import prune_exactly

_WRAPPER_TAG = re.compile(rf'<{WRAPPER} _item_id="\d+"[^>]*>|</{WRAPPER}>')
_ITEM_ID = re.compile(r'(?: cc-block-type="true")? _item_id="\d+"(?=[^<>]*>)| cc-block-type="true"(?=[^<>]*>)')

PROFILES = ("dripper", "mineru-1.1", "paper")


def preprocess(html: str, profile: str = "dripper", limits: ParserLimits = DEFAULT_LIMITS) -> Page:
    """Return the page split into blocks (Dripper paper 3.2, A.10).

    html: the page's text, decoded; anything goes, an empty string too. profile: a set of rules, one of PROFILES.
    limits: what the page may ask of the parser. Deterministic; linear in len(html). Raises PageError(PARSE_FAILED) above a limit,
    TypeError on bytes (decode them first), ValueError on an unknown profile.

    >>> page = preprocess("<title>T</title><p>one<p>two <b>three</b>")
    >>> page.title, [block.text for block in page.blocks]
    ('T', ['one', 'two three'])
    """
    if not isinstance(html, str):
        raise TypeError(f"html must be text (str), not {type(html).__name__}: decode it first, see dripper.warc.decode")
    return preprocess_utf8(html.encode("utf-8", "ignore"), profile, limits)


def preprocess_utf8(html: bytes, profile: str = "dripper", limits: ParserLimits = DEFAULT_LIMITS) -> Page:
    """Return `preprocess(html.decode(), profile, limits)` without decoding.

    html: UTF-8 without errors, as `dripper.warc.to_utf8` gives it.

    >>> [block.text for block in preprocess_utf8("<p>é".encode()).blocks]
    ['é']
    """
    _check_profile(profile)
    try:
        return preprocess_exactly(html, limits) if profile == "mineru-1.1" else _lossless(html, profile, limits)
    except UnbalancedMarkupError as error:
        # No such page is known; should a parser write one, it is an error row like any other.
        raise PageError(ErrorCode.PARSE_FAILED, str(error)) from error


def _lossless(html: bytes, profile: str, limits: ParserLimits) -> Page:
    rules = (read_paper_tags, 1.0) if profile == "paper" else (read_tags, HIDDEN_SHARE)
    parsed = parse_page(html, *rules, limits)
    return _split(parsed.tree, parsed.title, profile, parsed.hints)


def restore(mapping_html: str, title: str = "", profile: str = "dripper") -> Page:
    """Return the page that a mapping HTML was written from: for `dripper` and `paper` with the same tree and blocks, but no
    hints.

    mapping_html, title: of that page. For `mineru-1.1`, whose mapping HTML does not tell all of its blocks, what that profile
    makes of the mapping HTML: on all of 177 archived pages the same blocks. O(len(mapping_html)).
    Raises as `preprocess` does, ValueError where `mapping_html` is no mapping HTML.

    >>> page = preprocess("<title>T</title><p>one<p>two <b>three</b>")
    >>> restore(page.mapping_html, page.title).blocks == page.blocks
    True
    """
    _check_profile(profile)
    markup = _ITEM_ID.sub("", _WRAPPER_TAG.sub("", mapping_html))
    if profile == "mineru-1.1":
        return replace(preprocess(markup, profile, NO_LIMITS), title=title)
    return _split(scan(markup, HTML_VOID), title, profile, Hints())


def _split(tree: Tree, title: str, profile: str, hints: Hints) -> Page:
    removed = bytearray(len(tree))
    for element in tree.children(0):
        if tree.tags[element] == "head":
            removed[element : tree.lasts[element] + 1] = b"\1" * (tree.lasts[element] + 1 - element)
    paragraphs, _ = segment(tree, tree.parts, removed, columns_decide=False)
    cutoffs = (PAPER_CUTOFF, PAPER_CUTOFF) if profile == "paper" else (CUTOFF, TABLE_CUTOFF)
    return Page(tree, number(tree, tree.parts, paragraphs), title, profile, hints=hints, cutoffs=cutoffs)


def prune(mapping_html: str, main_ids: Collection[int], profile: str = "dripper") -> str:
    """Return the page with only its main blocks and their ancestors, without `_item_id` (Dripper paper 3.2, mapping).

    mapping_html: `Page.mapping_html`, of the same profile. main_ids: any subset of its ids, in any order; none gives
    "". The same as `Page.prune(main_ids)`. O(len(mapping_html)). Raises pruning.UnknownItemError on a foreign id,
    ValueError where `mapping_html` is no mapping HTML. Profile `mineru-1.1` does byte for byte what MinerU-HTML 1.1.2
    does instead: foreign ids are ignored, helper attributes stay, no id gives "<html></html>".

    >>> prune('<div><p _item_id="1">menu</p><p _item_id="2">story</p></div>', {2})
    '<div><p>story</p></div>'
    """
    _check_profile(profile)
    return (
        prune_exactly(mapping_html, main_ids) if profile == "mineru-1.1" else prune_losslessly(mapping_html, main_ids)
    )


def _check_profile(profile: str) -> None:
    if profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}; there are {', '.join(PROFILES)}")
