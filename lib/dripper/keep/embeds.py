"""Finds boxes within text: quoted social network posts with their authors, notices in manuals,
displayed formulas, and small data tables."""

from itertools import pairwise

from dripper.tree.elements import words
from dripper.tree.tree import Tree, attribute

_EMBEDS = words(
    "twitter-tweet twitter-video instagram-media mastodon-embed bluesky-embed tiktok-embed fb-post reddit-card "
    "reddit-embed-bq text-post-media"
)
"""Classes by which the social networks' own scripts find embedded posts."""
_NOTICES = words("admonition callout")
"""Notice classes. On 620 labelled pages, 27 notices are between main text, and all are in the
ground truth."""
_IN_TABLES = words("caption colgroup col thead tbody tfoot tr th td br b strong i em code pre sub sup span")
"""Elements that a small data table is allowed to contain. Its cells contain no blocks or links."""


def find_embeds(tree: Tree) -> list[int]:
    """Return the outermost quoted posts, notices, displayed formulas and data tables, in document
    order."""
    named = tree.values("class")
    boxes = set(filter(" ".join(named.values()).__contains__, _EMBEDS | _NOTICES))
    tags = {tag for tag, classes in named.items() if not boxes.isdisjoint(classes.split())} if boxes else set[str]()
    tags |= {tag for tag, name in tree.names.items() if name == "math" and attribute(tag, "display") == "block"}
    innermost = (
        table for table, following in pairwise([*tree.find("table"), len(tree)]) if following > tree.lasts[table]
    )
    inner = {table: tree.tags[table + 1 : tree.lasts[table] + 1] for table in innermost}
    tables = [table for table, names in inner.items() if "th" in names and _IN_TABLES.issuperset(names)]
    return tree.outermost(sorted([*tree.tagged(tags), *tables]))
