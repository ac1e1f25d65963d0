"""Finds boxes within a text: posts of networks that it quotes, whose words and author are one unit,
notices of manuals, and formulas that are set apart."""

from dripper.html.tree.elements import words
from dripper.html.tree.tree import Tree, attribute

_EMBEDS = words(
    "twitter-tweet twitter-video instagram-media mastodon-embed bluesky-embed tiktok-embed fb-post reddit-card "
    "reddit-embed-bq text-post-media"
)
"""Classes that the networks' own scripts look for."""
_NOTICES = words("admonition callout")
"""Classes of notices. On 620 labelled pages 27 stand between main text, and the truth has all."""


def find_embeds(tree: Tree) -> list[int]:
    """Return quoted posts, notices and displayed formulas, in document order, none in another."""
    boxes = _EMBEDS | _NOTICES
    tags = {tag for tag, classes in tree.values("class").items() if not boxes.isdisjoint(classes.split())}
    tags |= {tag for tag, name in tree.names.items() if name == "math" and attribute(tag, "display") == "block"}
    return tree.outermost(tree.tagged(tags))
