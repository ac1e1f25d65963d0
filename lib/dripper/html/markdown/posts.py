"""Writes a line of author and date above each post of a thread in Markdown.

At the beginning of a post, `prune` writes a mark (`write_mark`), and `cut_marks` removes it from
main HTML. The writer of Markdown begins a section there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dripper.html.markdown.inert import write_inert_line
from dripper.html.markdown.output import Section
from dripper.html.tree.tree import Tree

_HEADINGS = re.compile(r"(?:\s*#.*\n)*\s*")
_RULE = "---"


@dataclass(frozen=True, slots=True)
class Post:
    """A post in the main content, or a part of one."""

    author: str | None = None
    """None: not stated."""
    published: str | None = None
    """ISO 8601; None: not stated, or stated in words ("two days ago")."""
    offset: int | None = None
    """Offset of its first line (author and date) in the Markdown, in characters. None if the
    Markdown does not set it apart."""
    id: str | None = None
    """The fragment of the page's address that leads to it."""
    reply_to: str | None = None
    """The id of the post that it answers, if that post is on the page."""

    def as_row(self) -> Mapping[str, Any]:
        """Return the values of the struct in the tables."""
        return asdict(self)


def write_mark(number: int) -> str:
    """Return the markup that marks the beginning of a post."""
    return f'<hr _post="{number}">'


def cut_marks(tree: Tree) -> list[str]:
    """Return the parts of a tree without marks."""
    marks = {tag for tag in tree.names if tag[:10] == "<hr _post="}
    return ["" if part in marks else part for part in tree.parts] if marks else tree.parts


def place_posts(sections: Sequence[Section], posts: Sequence[Post]) -> tuple[str, tuple[Post, ...]]:
    """Return Markdown with a line of author and date above each post and a rule between posts, and
    the posts with their offsets.

    >>> post = Post("Ann", "2024-05-03T10:00:00")
    >>> place_posts([Section("# Ash"), Section("Or oak?", 0)], [post])[0]
    '# Ash\\n\\n**Ann** · 2024-05-03 10:00\\n\\nOr oak?\\n'
    """
    (before, _), *following = sections
    if not following:
        return before, tuple(posts)
    written, placed = [before.rstrip("\n")], list(posts)
    size, is_below = len(written[0]), not _HEADINGS.fullmatch(before + "\n")
    for text, number in following:
        rule = f"\n\n{_RULE}" if is_below and not written[-1].endswith(_RULE) else ""
        gap = rule + "\n\n" * (size > 0)
        post = Post()
        if number is not None and number < len(posts):
            post = posts[number]
            if placed[number].offset is None:
                placed[number] = replace(post, offset=size + len(gap))
        written += [gap, f"{_write_line(post, text)}\n\n{text}".strip("\n")]
        size, is_below = size + len(gap) + len(written[-1]), True
    return "".join([*written, "\n"]), tuple(placed)


def _write_line(post: Post, text: str) -> str:
    """Return the line above a post; "" if the post begins with its author's name."""
    author = write_inert_line(post.author, "") if post.author else ""
    if author and author in text[: 2 * len(author) + 8]:
        return ""
    return " · ".join(filter(None, (author and f"**{author}**", (post.published or "")[:16].replace("T", " "))))
