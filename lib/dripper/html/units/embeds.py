"""Finds posts of networks that a page quotes: their text and author are one unit."""

from dripper.html.tree.elements import words
from dripper.html.tree.tree import Tree, attribute

_EMBEDS = words(
    "twitter-tweet twitter-video instagram-media mastodon-embed bluesky-embed tiktok-embed fb-post reddit-card "
    "reddit-embed-bq text-post-media"
)
"""Classes that the networks' own scripts look for."""


def find_embeds(tree: Tree) -> list[int]:
    """Return the quoted posts in document order, none within another."""
    markup = "".join(tree.names)
    known = [name for name in _EMBEDS if name in markup]
    tags = {
        tag
        for tag in (tree.names if known else ())
        if any(name in tag for name in known) and not _EMBEDS.isdisjoint((attribute(tag, "class") or "").split())
    }
    embeds: list[int] = []
    for element in tree.tagged(tags):
        if not embeds or element > tree.lasts[embeds[-1]]:
            embeds.append(element)
    return embeds
