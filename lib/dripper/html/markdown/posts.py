"""Writes a line with author and date above each post of a thread."""

from dataclasses import dataclass

from dripper.html.markdown.inert import write_inert_line


@dataclass(frozen=True, slots=True)
class Post:
    """A post in the main content, or a part of a post."""

    author: str | None = None
    """None if not stated."""
    published: str | None = None
    """ISO 8601; None if not stated, or stated in words ("two days ago")."""
    offset: int | None = None
    """Offset of the post's first line (author and date) in the Markdown, in characters. None if the
    Markdown does not set the post apart."""
    id: str | None = None
    """The URL fragment that points to the post."""
    reply_to: str | None = None
    """The id of the post that this post answers, if the answered post is on the page."""


def write_head(post: Post, text: str) -> str:
    """Return the line above a post; "" if the post begins with its author's name."""
    author = write_inert_line(post.author, "") if post.author else ""
    if author and author in text[: 2 * len(author) + 8]:
        return ""
    return " · ".join(filter(None, (author and f"**{author}**", (post.published or "")[:16].replace("T", " "))))
