"""Profile `paper`: what the Dripper paper removes before it looks for blocks (A.10 step 1), as its v1.0 code did.

Headers, footers, navigation and asides go, whether by name or by a class or id of that name, and what `display:none`
hides; their text is in no block. A block shows the model 200 characters (A.10 step 4). All else is as in profile
`dripper`.
"""

from dripper.html.images import with_real_address
from dripper.html.parse import DISPLAY_NONE
from dripper.html.scan import StartTag
from dripper.html.tags import words
from dripper.html.tree import attributes

CUTOFF = 200
"""Characters a block, in tables too."""

_REMOVED = words("header footer nav aside noscript iframe frame")
_NAMES = words("nav footer header")


def read_tag(name: str, tag: str) -> StartTag | None:
    """Tell whether the paper removes the element of a start tag, and the real address of an image."""
    if name in _REMOVED:
        return StartTag(tag, hidden=True)
    if name == "img":
        return StartTag(with_real_address(tag))
    if name in ("html", "body") or (" class=" not in tag and " id=" not in tag and " style=" not in tag):
        return None
    values = attributes(tag)
    named = {*values.get("class", "").lower().split(), *values.get("id", "").lower().split()}
    if _NAMES.isdisjoint(named) and not DISPLAY_NONE.search(values.get("style", "")):
        return None
    return StartTag(tag, hidden=True)
