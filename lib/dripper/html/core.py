"""`preprocess`: from a page's text to its blocks, by profile."""

from dripper.html.blocks import number
from dripper.html.page import Page
from dripper.html.parse import parse_page
from dripper.html.segment import segment

PROFILES = ("dripper", "mineru-1.1", "paper")


def preprocess(html: str, profile: str = "dripper") -> Page:
    """Return the page split into blocks (Dripper paper 3.2, A.10).

    html: the page's text, decoded; anything goes, an empty string too. profile: a set of rules, one of PROFILES.
    Deterministic; linear in len(html). Raises PageError(PARSE_FAILED) where elements are nested by the ten thousand,
    TypeError on bytes (decode them first), ValueError on an unknown profile.

    >>> page = preprocess("<title>T</title><p>one<p>two <b>three</b>")
    >>> page.title, [block.text for block in page.blocks]
    ('T', ['one', 'two three'])
    """
    if not isinstance(html, str):
        raise TypeError(f"html must be text (str), not {type(html).__name__}: decode it first, see dripper.warc.decode")
    if profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}; there are {', '.join(PROFILES)}")
    tree, title = parse_page(html)
    removed = bytearray(len(tree))
    for element in tree.children(0):
        if tree.tags[element] == "head":
            removed[element : tree.lasts[element] + 1] = b"\1" * (tree.lasts[element] + 1 - element)
    paragraphs, _ = segment(tree, tree.parts, removed)
    return Page(tree, number(tree, paragraphs), title, profile)
