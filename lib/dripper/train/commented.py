"""Pages with readers' comments put under their main content: of these the switch learns what
comments are.

The page's tree is edited, then split as any page is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dripper.blocks.page import Page
from dripper.html import restore
from dripper.labels.words import words_of
from dripper.train.comments import MARK, comment_section
from dripper.train.edits import find_marked_blocks, is_unspaced, leave_unchanged, place_after
from dripper.train.examples import Example, example_from

KINDS = frozenset({"", "article", "documentation", "service"})
"""Types of pages that get comments (sets of articles name none): a forum's posts are its content,
lists have other things below."""
MOST_COMMENTS = 40
# Lines of truths that could be a paragraph of a comment.
_LINE_CHARS = range(25, 600)


@dataclass(slots=True)
class Commenter:
    """Puts comments under pages; their texts are lines of the truths that it has read before."""

    draw: np.random.Generator
    """Random numbers, of every choice."""
    finish: Callable[[Page], Page] = leave_unchanged
    """What is done to every page made."""
    lines: dict[bool, list[str]] = field(default_factory=lambda: {False: [], True: []})
    """Scripts written without spaces apart from the others."""

    def __call__(self, page: Page, example: Example, truth: str) -> Example | None:
        """Return the page with comments, then remember the lines of its truth for the pages to
        come."""
        made = self.add_comments(page, example)
        self.read(truth)
        return made

    def read(self, truth: str) -> None:
        """Remember the lines of a truth."""
        for line in map(str.strip, truth.splitlines()):
            if len(line) in _LINE_CHARS:
                self.lines[is_unspaced(line)].append(line)

    def add_comments(self, page: Page, example: Example) -> Example | None:
        """Return the example of the page with comments; None for a page of other KINDS, and while
        nothing was read."""
        lines = self.lines[is_unspaced("".join(block.text for block in page.blocks))]
        if example.page_type not in KINDS or not example.main.any() or not lines:
            return None
        parts = list(page.elements.parts)
        place = place_after(page, int(np.flatnonzero(example.main)[-1]), int(self.draw.integers(3)))
        parts[place] += comment_section(self._texts(lines), page.title, self.draw)
        edited = replace(restore("".join(parts), page.title), hints=page.hints)
        return _example(self.finish(edited), page, example)

    def _texts(self, lines: Sequence[str]) -> list[str]:
        """One comment as often as forty, of one to three lines."""
        count = int(MOST_COMMENTS ** self.draw.random())
        sizes = self.draw.integers(1, 4, count)
        return ["\n".join(lines[at] for at in self.draw.integers(len(lines), size=size)) for size in sizes]


def _example(edited: Page, page: Page, example: Example) -> Example:
    truth = [word for block in np.flatnonzero(example.main).tolist() for word in words_of(page.blocks[block].text)]
    made = example_from(edited, truth, example.key, example.host, example.page_type)
    comments = find_marked_blocks(edited, MARK)
    return replace(made, comments=comments | made.comments, matched=np.where(comments, 0.0, made.matched))
