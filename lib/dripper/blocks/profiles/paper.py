"""Profile `paper`. Before a page is split into blocks, this profile removes the same elements as
the Dripper paper (A.10 step 1) and the paper's v1.0 code: headers, footers and navigation (by
element name, class or id), asides (by element name), and elements with `display:none`. No block
contains their text.

The model sees 200 characters of each block (A.10 step 4). Everything else works as in the `dripper`
profile.
"""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dripper.blocks.profiles.dripper import LosslessProfile
from dripper.blocks.profiles.dripper import read_tags as read_images
from dripper.tree.elements import CONSENT, words
from dripper.tree.head import HEAD
from dripper.tree.scan import StartTag
from dripper.tree.tree import attributes

CUTOFF = 200
"""Maximum number of characters that the model sees of each block. Applies to tables too."""

_NEVER_SEEN = words(HEAD.replace(",", "")) | words("style template noembed datalist iframe noframes xmp plaintext")
_UNSEEN = ", ".join([*sorted(_NEVER_SEEN), "title", "desc", *(f"#{name}" for name in sorted(CONSENT))])
_MOST_AROUND = 32
"""Maximum number of ancestors of a `title` or `desc` to check."""
_DISPLAY_NONE = re.compile(r"(?:^|;)\s*display\s*:\s*none\b", re.IGNORECASE)
_REMOVED = words("header footer nav aside noscript iframe frame")
_NAMES = words("nav footer header")


def read_tags(tags: list[str]) -> dict[str, StartTag]:
    """Return the start tags of elements that the paper removes, and the image start tags rewritten
    to use a better URL."""
    return read_images(tags) | {tag: StartTag(tag, hidden=True) for tag in tags if is_removed(tag)}


def is_removed(tag: str) -> bool:
    """Return whether the paper removes the element of this start tag, because of its name, class,
    id or style."""
    name = tag[1:-1].partition(" ")[0]
    if name in ("html", "body") or name in _REMOVED:
        return name in _REMOVED
    values = attributes(tag)
    names = {*values.get("class", "").lower().split(), *values.get("id", "").lower().split()}
    return not _NAMES.isdisjoint(names) or bool(_DISPLAY_NONE.search(values.get("style", "")))


def find_unseen(document: LexborHTMLParser) -> list[LexborNode]:
    """Return the invisible elements, in document order."""
    return [node for node in document.css(_UNSEEN) if node.tag in _NEVER_SEEN or _is_unseen(node)]


def _is_unseen(node: LexborNode) -> bool:
    """Return whether a node is invisible: a `title` outside the head, a `desc` in a drawing, or a
    hidden consent dialog."""
    if node.tag not in ("title", "desc"):
        style = node.attributes.get("style") or ""
        return "hidden" in node.attributes or _DISPLAY_NONE.search(style) is not None
    place, around = "head" if node.tag == "title" else "svg", node.parent
    for _ in range(_MOST_AROUND):
        if around is None or around.tag == place:
            break
        around = around.parent
    is_there = around is not None and around.tag == place
    return is_there == (node.tag == "desc")


PAPER = LosslessProfile(
    name="paper", read_tags=read_tags, hidden_share=1.0, cutoffs=(CUTOFF, CUTOFF), find_unseen=find_unseen
)
