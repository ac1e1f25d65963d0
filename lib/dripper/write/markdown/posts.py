"""Writes a line with author and date above each post of a thread."""

from dripper.keep.posts import Post
from dripper.write.markdown.inert import write_inert_line


def write_head(post: Post, text: str) -> str:
    """Return the line above a post; "" if the post begins with its author's name."""
    author = write_inert_line(post.author, "") if post.author else ""
    if author and author in text[: 2 * len(author) + 8]:
        return ""
    return " · ".join(filter(None, (author and f"**{author}**", (post.published or "")[:16].replace("T", " "))))
