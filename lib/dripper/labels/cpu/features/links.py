"""How much of each block's text is links: menus and teasers are little else."""

from itertools import accumulate

from dripper.blocks.page import Page
from dripper.markup.tree import Tree, unescape


def link_chars(page: Page) -> list[int]:
    """Return for each block how many characters of its text stand inside links, white space at the
    ends of a link's texts not counted. Linear in the page's parts.

    A link may hold blocks, or a block links: what counts is where the text is.
    """
    before = link_chars_before(page.elements)
    return [before[block.last // 2 + 1] - before[(block.first + 1) // 2] for block in page.blocks]


def link_chars_before(tree: Tree) -> list[int]:
    """Return how many characters stand inside links before each text of the page, and in all of it:
    one number more than texts. White space at the ends of a text is not counted."""
    counts, covered = [0] * (len(tree.parts) // 2 + 1), -1
    for element in [element for element, tag in enumerate(tree.tags) if tag == "a"]:
        first, last = tree.opens[element] + 1, tree.closes[element]
        if first > covered:
            covered = last
            for index in range(first, last, 2):
                if text := tree.parts[index].strip():
                    counts[index // 2] = len(unescape(text) if "&" in text else text)
    return list(accumulate(counts, initial=0))
