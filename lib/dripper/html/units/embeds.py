"""Finds boxes within a text: quoted posts of social networks, in which words and author are one
unit, notices of manuals, and displayed formulas."""

from dripper.html.tree.elements import words
from dripper.html.tree.tree import Tree, attribute

_EMBEDS = words(
    "twitter-tweet twitter-video instagram-media mastodon-embed bluesky-embed tiktok-embed fb-post reddit-card "
    "reddit-embed-bq text-post-media"
)
"""Classes that the networks' own scripts look for."""
_NOTICES = words("admonition callout")
"""Classes of notices. On 620 labelled pages, 27 notices are between main text, and all are in the
truth."""


def find_embeds(tree: Tree) -> list[int]:
    """Return quoted posts, notices and displayed formulas, in document order, none inside
    another."""
    boxes = _EMBEDS | _NOTICES
    tags = {tag for tag, classes in tree.values("class").items() if not boxes.isdisjoint(classes.split())}
    tags |= {tag for tag, name in tree.names.items() if name == "math" and attribute(tag, "display") == "block"}
    return tree.outermost(tree.tagged(tags))
