"""Collects Markdown lines. Blocks are separated by empty lines, and each line in an item or a
quotation gets a prefix."""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from dripper.keep.posts import Post
from dripper.tree.parser import refuse_large
from dripper.write.markdown.inert import IMAGE, write_inert_line

TIGHT, AFTER_LIST, APART = range(3)
"""Gaps before the next block. TIGHT: none. AFTER_LIST: an empty line, unless an item of the same
list or of the list around it follows. APART: an empty line."""


class _Container(NamedTuple):
    first: str
    """Prefix of the container's first line."""
    rest: str
    """Prefix of all other lines."""


_RULE = "---"
_IMAGE = re.compile(IMAGE.format("([0-9]+)"))


class Markdown(NamedTuple):
    """Markdown with the positions of its images and posts."""

    lines: Sequence[str]
    images: Mapping[int, tuple[int, int]] = {}
    """Maps the element that shows an image to the line and column of the image's `![`."""
    posts: Mapping[int, int] = {}
    """Maps the `hr` before each post to the number of the post's first line."""

    @property
    def text(self) -> str:
        """The Markdown, which ends with one newline."""
        return "\n".join(self.lines) + "\n"

    def find_offsets(self) -> list[int]:
        """Return the offset of each line in `text`, in characters, followed by the length of
        `text`."""
        return list(accumulate((len(line) + 1 for line in self.lines), initial=0))


class Heads(NamedTuple):
    """The lines that are written above the content and above posts."""

    title: str = ""
    """The page's title as a heading. If the first line is just the title, that line becomes the
    heading."""
    is_said: bool = False
    """Whether the title also occurs below the first line of the content. In that case, no heading
    is added."""
    posts: Mapping[int, Post] = {}
    """Maps the rule (`hr`) before each post to the post."""


NO_HEADS = Heads()


class Output:
    """The Markdown written so far.

    Raises PageError(OUTPUT_TOO_LARGE) as soon as the Markdown has more than `limit` characters.
    """

    def __init__(self, limit: int, heads: Heads) -> None:
        self.gap = TIGHT
        self.mark = ""
        """Mark, such as `- `, of the item or quotation that begins with the next line."""
        self.n_blocks = 0
        """Number of blocks written."""
        self.ended = ""
        """Number style (`1.` or `1)`) of the numbered list that has just ended, or ""."""
        self._limit = limit
        self._size = 0
        self._lines: list[str] = []
        self._prefix = ""
        """Prefix of each line: the prefixes of all open containers that already have a line."""
        self._containers: list[_Container] = []
        self._pending = 0
        """Number of open containers, counted from the innermost, that have no line yet."""
        self._heads = heads
        self._rule: int | None = None
        """The rule (`hr`) before the post that begins with the next line."""
        self._posts: dict[int, int] = {}
        self._images: dict[int, tuple[int, int]] = {}
        self.has_images = False
        """Whether lines may contain image marks."""

    def write(self, lines: list[str]) -> None:
        """Write a block."""
        before = self._prefix
        if self._pending:
            opened = self._containers[len(self._containers) - self._pending :]
            self._pending = 0
            self._prefix += "".join(container.rest for container in opened)
            lines[0] = "".join(container.first for container in opened) + lines[0]
            self.mark = ""
        if (self._rule is not None or not self._lines) and not self._begin(lines):
            return
        if self._lines and self.gap:
            self._lines.append(before.rstrip())
        self.gap, self.ended = TIGHT, ""
        self.n_blocks += 1
        lines[0] = before + lines[0]
        if len(lines) > 1:
            self.refuse(len(self._prefix) * len(lines))
            prefix, bare = self._prefix, self._prefix.rstrip()
            lines[1:] = [prefix + line if line else bare for line in lines[1:]]
        self._size += sum(map(len, lines)) + len(before) + len(lines)
        if self._size > self._limit:
            self.refuse(0)
        if self.has_images:
            numbered = enumerate(lines, len(self._lines))
            lines = [self._place_images(line, at) if IMAGE[0] in line else line for at, line in numbered]
        self._lines += lines

    def _begin(self, lines: list[str]) -> bool:
        """Write the lines above the first block of the page or of a post: title, rule, author and
        date. Return whether any lines of the block remain."""
        rule, self._rule = self._rule, None
        if lines and not self._lines:
            lines[0] = lines[0].lstrip()
        if self._heads.title and not self._lines:
            is_line = rule is None and lines[0].strip("*_ ") == self._heads.title.removeprefix("# ")
            self._write_head(self._heads.title if is_line or not self._heads.is_said else "")
            del lines[:is_line]
        if rule is not None and ((head := write_byline(self._heads.posts[rule], "\n".join(lines))) or lines):
            is_below = self._posts or any(line[:1] not in ("", "#") for line in self._lines)
            self._write_head(_RULE if is_below and not self._lines[-1].endswith(_RULE) else "")
            self._posts[rule] = len(self._lines) + bool(self._lines)
            self._write_head(head)
            self.gap = APART
        return bool(lines)

    def _write_head(self, line: str) -> None:
        if line:
            self._lines += ["", line] if self._lines else [line]
            self.gap = APART

    def _place_images(self, line: str, number: int) -> str:
        """Return a line with its image marks replaced by `![`, and record their positions."""
        written, *images = _IMAGE.split(line)
        for element, text in zip(images[::2], images[1::2], strict=True):
            self._images[int(element)] = number, len(written)
            written += f"![{text}"
        return written

    def begin_post(self, rule: int) -> None:
        """Begin the Markdown of a post, unless an item or a quotation is open."""
        if not self._containers:
            if self._rule is not None:
                self._begin([])
            self._rule, self.gap, self.ended = rule, APART, ""
            self.n_blocks += 1

    def refuse(self, size: int) -> None:
        """Raise PageError if `size` more characters would exceed the limit."""
        refuse_large("Markdown", self._size + size, self._limit)

    def open(self, first: str, rest: str) -> None:
        """Begin a container."""
        self._containers.append(_Container(first, rest))
        self._pending += 1
        self.mark = first

    def go_on(self, rest: str) -> None:
        """Continue the preceding item, a container that already has a line."""
        if self._pending:
            self.open(rest, rest)
            return
        self._containers.append(_Container("", rest))
        self._prefix += rest

    def close(self) -> None:
        """End the innermost container."""
        container = self._containers.pop()
        if self._pending:
            self._pending -= 1
            self.mark = self._containers[-1].first if self._pending else ""
        else:
            self._prefix = self._prefix.removesuffix(container.rest)

    def finish(self) -> Markdown:
        """Return the finished Markdown."""
        if self._rule is not None:
            self._begin([])
        if self._lines:
            self._lines[-1] = self._lines[-1].rstrip()
        return Markdown(self._lines, self._images, self._posts)


def write_byline(post: Post, text: str) -> str:
    """Return the line above a post, with the post's author and date; "" if the post begins with its
    author's name."""
    author = write_inert_line(post.author, "") if post.author else ""
    if author and author in text[: 2 * len(author) + 8]:
        return ""
    return " · ".join(filter(None, (author and f"**{author}**", (post.published or "")[:16].replace("T", " "))))
