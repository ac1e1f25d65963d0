"""Creates crowded pages: the article is shortened, and lists, teasers and other sections of other
pages are placed around it.

A fifth of the training pages are listings, collections, products and forums, in which lists are
main, and most articles are long. Short articles among many teasers, which are typical of blogs and
news sites, are rare. They are therefore created from existing pages.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from dripper.blocks.page import Page
from dripper.labels.arrays import IntArray
from dripper.labels.cpu.features.places import link_chars
from dripper.labels.words import words_of
from dripper_lab.train.edits import (
    find_marked_blocks,
    is_unspaced,
    leave_unchanged,
    place_after,
    place_before,
    split_parts,
    stands_free,
)
from dripper_lab.train.examples import Example, example_from

MARK = ' data-made="section"'
"""The attribute that marks a section of another page: the blocks inside are not main. No feature
uses it."""
KINDS = frozenset({"", "article", "documentation", "service"})
"""The page types that are crowded (sets of articles declare no type)."""
LISTS = frozenset({"listing", "collection", "product"})
"""Page types from which any section can be taken, because their main content is not main when
placed beside an article."""
CUT = 0.5
"""The probability that an article is shortened. Its length is drawn so that short articles are as
frequent as long ones."""
MOST_SECTIONS = 4
SECTIONS_KEPT = 4
"""The number of sections of a page to remember for other pages."""
# The number of words in a section, such as a sidebar or ten teasers. Anything smaller is not a
# section, and anything larger would be a page.
_SECTION_WORDS = range(20, 500)
_LEAST_BLOCKS = 3
# Every page already has menus, so a section needs this many characters outside links.
_LEAST_CHARS = 80
# The minimum number of words of an article.
_LEAST_WORDS = 40


@dataclass(slots=True)
class Crowder:
    """Crowds pages with sections of earlier pages."""

    draw: np.random.Generator
    """The source of randomness for every choice."""
    finish: Callable[[Page], Page] = leave_unchanged
    """A function that is applied to every resulting page."""
    sections: dict[bool, list[str]] = field(default_factory=lambda: {False: [], True: []})
    """The HTML of remembered sections: `True` → sections in a script written without spaces,
    `False` → others."""

    def __call__(self, page: Page, example: Example, _truth: str = "") -> Example | None:
        """Return the crowded page, and remember sections of the original for later pages."""
        crowded = self.crowd(page, example)
        self.read(page, example)
        return crowded

    def read(self, page: Page, example: Example) -> None:
        """Remember some sections of a page."""
        sections = list(_sections(page, example))
        chosen = self.draw.permutation(len(sections))[:SECTIONS_KEPT]
        self.sections[_script(page)] += [sections[index] for index in chosen]

    def crowd(self, page: Page, example: Example) -> Example | None:
        """Return the example of the crowded page. Return None if the page's type is not in KINDS,
        or no sections have been read yet."""
        sections = self.sections[_script(page)]
        main = np.flatnonzero(example.main)
        if example.page_type not in KINDS or not len(main) or not sections:
            return None
        remaining = self._cut_main(main, example)
        parts = list(page.elements.parts)
        for block in set(main.tolist()) - set(remaining.tolist()):
            first, last = page.blocks[block].first, page.blocks[block].last
            parts[first : last + 1] = [""] * (last + 1 - first)
        for _ in range(int(self.draw.integers(1, MOST_SECTIONS + 1))):
            section = sections[int(self.draw.integers(len(sections)))]
            before, levels = self.draw.random() < 0.3, int(self.draw.integers(4))
            at = (
                place_before(page, int(remaining[0]), levels)
                if before
                else place_after(page, int(remaining[-1]), levels)
            )
            parts[at] += f"<div{MARK}>{section}</div>"
        edited = replace(split_parts(parts, page.title), hints=page.hints)
        return _example(self.finish(edited), page, example, remaining)

    def _cut_main(self, main: IntArray, example: Example) -> IntArray:
        words = np.cumsum(example.words[main])
        least = int(np.searchsorted(words, _LEAST_WORDS)) + 1
        if len(main) <= least or self.draw.random() >= CUT:
            return main
        length = _LEAST_WORDS * (words[-1] / _LEAST_WORDS) ** self.draw.random()
        return main[: max(least, int(np.searchsorted(words, length)))]


def _sections(page: Page, example: Example) -> Iterator[str]:
    """Yield the outermost elements that qualify as sections. Unless the page is a list, they
    contain nothing main."""
    tree = page.elements
    firsts = [block.first for block in page.blocks]
    words, main = (np.concatenate([[0], np.cumsum(part)]) for part in (example.words, example.main))
    chars = np.array([len(block.text) for block in page.blocks], np.int64)
    plain = np.concatenate([[0], np.cumsum(chars - np.array(link_chars(page), np.int64))])
    element = 0
    while element < len(tree):
        start, end = bisect_left(firsts, tree.opens[element]), bisect_left(firsts, tree.closes[element])
        if (
            stands_free(page, element)
            and end - start >= _LEAST_BLOCKS
            and int(words[end] - words[start]) in _SECTION_WORDS
            and plain[end] - plain[start] >= _LEAST_CHARS
            and (example.page_type in LISTS or main[end] == main[start])
            and example.page_type != "forum"
        ):
            yield "".join(tree.parts[tree.opens[element] : tree.closes[element] + 1])
            element = tree.lasts[element]
        element += 1


def _example(edited: Page, page: Page, example: Example, main_blocks: IntArray) -> Example:
    truth = [word for block in main_blocks.tolist() for word in words_of(page.blocks[block].text)]
    labelled = example_from(edited, truth, example.key, example.host, example.page_type)
    return replace(labelled, matched=np.where(find_marked_blocks(edited, MARK), 0.0, labelled.matched))


def _script(page: Page) -> bool:
    return is_unspaced("".join(block.text for block in page.blocks))
