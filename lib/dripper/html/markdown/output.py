"""Collects lines of Markdown, with empty lines between blocks, and the prefix of each line in items
and quotations."""

from itertools import pairwise
from typing import NamedTuple

from dripper.html.tree.parser import refuse_large

TIGHT, AFTER_LIST, APART = range(3)
"""Gaps before the next block: none; an empty line, unless an item of the same list or of the list
around it follows; an empty line."""


class _Container(NamedTuple):
    first: str
    """Beginning of its first line."""
    rest: str
    """Beginning of all other lines."""


class Section(NamedTuple):
    """The Markdown of a post, or the Markdown before the first post."""

    text: str
    number: int | None = None
    """Number of the post; None: before the first one."""


class Output:
    """The Markdown that is written so far.

    Raises PageError(OUTPUT_TOO_LARGE) as soon as it has more than `limit` characters.
    """

    def __init__(self, limit: int) -> None:
        self.gap = TIGHT
        self.mark = ""
        """Mark of the item or quotation that the next line begins."""
        self.n_blocks = 0
        """Number of blocks written."""
        self.ended = ""
        """The number 1 in the style of the list that has just ended (`1.` or `1)`)."""
        self._limit = limit
        self._size = 0
        self._lines: list[str] = []
        self._prefix = ""
        """Beginning of each line in the containers that have one."""
        self._containers: list[_Container] = []
        self._pending = 0
        """Number of containers that have no line yet: the innermost ones."""
        self._posts: list[tuple[int, int]] = []
        """The number of each post, and the number of lines written before it."""

    def write(self, lines: list[str]) -> None:
        """Write a block."""
        before = self._prefix
        if self._pending:
            opened = self._containers[len(self._containers) - self._pending :]
            self._pending = 0
            self._prefix += "".join(container.rest for container in opened)
            lines[0] = "".join(container.first for container in opened) + lines[0]
            self.mark = ""
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
        self._lines += lines

    def begin_post(self, number: int) -> None:
        """Begin the Markdown of a post, unless an item or a quotation is open."""
        if not self._containers:
            self._posts.append((number, len(self._lines)))
            self.gap, self.ended = APART, ""
            self.n_blocks += 1

    def refuse(self, size: int) -> None:
        """Raise PageError if `size` more characters are too many."""
        refuse_large("Markdown", self._size + size, self._limit)

    def open(self, first: str, rest: str) -> None:
        """Begin a container."""
        self._containers.append(_Container(first, rest))
        self._pending += 1
        self.mark = first

    def go_on(self, rest: str) -> None:
        """Begin a container that already has a line: the preceding item."""
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

    def text(self) -> str:
        """Return all lines, with a line break at the end."""
        return "\n".join(self._lines).strip() + "\n"

    def sections(self) -> list[Section]:
        """Return the text in parts: before the first post, and each post."""
        if not self._posts:
            return [Section(self.text())]
        starts = [0, *(start for _, start in self._posts), len(self._lines)]
        texts = ["\n".join(self._lines[start:end]).strip("\n") for start, end in pairwise(starts)]
        texts[0], texts[-1] = texts[0].lstrip(), texts[-1].rstrip()
        return [
            Section(text, number)
            for text, number in zip(texts, [None, *(each for each, _ in self._posts)], strict=True)
        ]
