"""Profile `paper`: what the Dripper paper removes before it looks for blocks (A.10 step 1), as its
v1.0 code did.

Headers, footers, navigation and asides go, whether by name or by a class or id of that name, and
what `display:none` hides; their text is in no block. A block shows the model 200 characters (A.10
step 4). All else is as in profile `dripper`.
"""

from dripper.html.profiles.dripper import DISPLAY_NONE, LosslessProfile, use_real_address
from dripper.html.tree.elements import words
from dripper.html.tree.scan import StartTag
from dripper.html.tree.tree import attributes

CUTOFF = 200
"""Characters a block, in tables too."""

_REMOVED = words("header footer nav aside noscript iframe frame")
_NAMES = words("nav footer header")


def read_tags(tags: list[str]) -> dict[str, StartTag]:
    """Return the start tags whose elements the paper removes, and images with their real
    address."""
    special = {tag: StartTag(use_real_address(tag)) for tag in tags if tag.startswith("<img ")}
    return special | {tag: StartTag(tag, hidden=True) for tag in tags if is_removed(tag)}


def is_removed(tag: str) -> bool:
    """Tell whether the paper removes the element of a start tag: by its name, its class or id, its
    style."""
    name = tag[1:-1].partition(" ")[0]
    if name in ("html", "body") or name in _REMOVED:
        return name in _REMOVED
    values = attributes(tag)
    names = {*values.get("class", "").lower().split(), *values.get("id", "").lower().split()}
    return not _NAMES.isdisjoint(names) or bool(DISPLAY_NONE.search(values.get("style", "")))


PAPER = LosslessProfile("paper", read_tags, 1.0, (CUTOFF, CUTOFF))
