"""Makes examples of labelled pages: features of the blocks, and how much of each block the truth
contains."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.labels.align import match_shares
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.features.page_features import NAMES, PageFeatures, compute_features
from dripper.labels.cpu.network import BlockSequence
from dripper.labels.words import words_of
from dripper_lab.datasets import LabelledPage
from dripper_lab.truth import Texts, f1_of, split_pages

log = logging.getLogger(__name__)

# A block under "Comments" of fewer words is a button or a name; a section of fewer says nothing
# about the truth's habits.
COMMENT_WORDS, SECTION_WORDS = 15, 60


@dataclass(frozen=True, slots=True)
class Example:
    """One page, ready to train on; arrays in block order."""

    key: tuple[str, str]
    """Data set and id."""
    host: str
    page_type: str
    blocks: BlockSequence
    """Features, not yet standardised, of one page."""
    words: IntArray
    """(n_blocks,) words of each block."""
    matched: FloatArray
    """(n_blocks,) how many of them belong to the truth."""
    truth_words: int
    """Words of the truth, matched or not."""
    title: npt.NDArray[np.bool_]
    """(n_blocks,) the block that repeats the page's title."""
    comments: npt.NDArray[np.bool_]
    """(n_blocks,) blocks of comments, made up or (see :func:`find_left_out_comments`) plain."""
    texts: Texts
    """For the score of a choice of blocks as the report has it; of the whole page in a window
    too."""
    structure: FloatArray
    """Columns as in `page_features.STRUCTURE_NAMES`, of the whole page in a window too."""
    variants: "Mapping[str, tuple[Example, ...]]" = field(default_factory=dict)
    """Variants of the same page, by the kind of change (named as in
    `dripper_lab.train.recipe.Shares`), features in half precision."""

    @property
    def kind(self) -> str:
        """The page's type: `nothing` if it has no main content; sets that name none are of
        articles."""
        return (self.page_type or "article") if self.truth_words else "nothing"

    @property
    def commented(self) -> "Example | None":
        """The same page with made-up comments; None if it has no place for any."""
        return next(iter(self.variants.get("commented", ())), None)

    @property
    def main(self) -> npt.NDArray[np.bool_]:
        """The blocks that are main: the truth contains at least half of each."""
        return (self.matched >= 0.5 * self.words) & (self.words > 0)

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """F1 over words of a choice of blocks against the truth."""
        return f1_of(self.words, self.matched, self.truth_words, main)

    def window(self, start: int, end: int) -> "Example":
        """Return the example cut to a range of blocks; the unmatched part of the truth shrinks in
        proportion."""
        length = end - start
        blocks = BlockSequence(
            self.blocks.features[start:end],
            np.clip(self.blocks.starts[start:end] - start, 0, length - 1),
            np.clip(self.blocks.ends[start:end] - start, 1, length),
        )
        missing = (self.truth_words - self.matched.sum()) * length / len(self.words)
        matched = self.matched[start:end]
        return replace(
            self, blocks=blocks, words=self.words[start:end], matched=matched, title=self.title[start:end],
            comments=self.comments[start:end], truth_words=round(max(0.0, missing) + matched.sum()),
        )  # fmt: skip


Maker = Callable[[Page, Example, str], Example | None]
"""Makes another example from a page, its example and the text of its truth, or None."""


def read_examples(
    pages: Iterable[LabelledPage], makers: Mapping[str, Sequence[Maker]] | None = None
) -> Iterator[Example]:
    """Yield one example a page; pages that cannot teach (nothing of the truth in their blocks) are
    left out, logged. An example of a page without a truth has no main blocks.

    Args:
        makers: The makers of a page's variants, by their kind.
    """
    for labelled, page in split_pages(pages):
        example = example_of(page, labelled)
        if example.truth_words and not example.main.any():
            log.warning("%s/%s left out: no block holds its truth", labelled.data_set, labelled.id)
            continue
        variants = {
            kind: [make(page, example, labelled.truth_text) for make in of] for kind, of in (makers or {}).items()
        }
        yield replace(
            example, variants={kind: tuple(map(_halve_precision, filter(None, of))) for kind, of in variants.items()}
        )


def _halve_precision(example: Example) -> Example:
    """Return the example with features in half precision: seven variants a page would be 4 GB, and
    noise is added anyway."""
    return replace(example, blocks=example.blocks._replace(features=example.blocks.features.astype(np.float16)))


def example_of(page: Page, labelled: LabelledPage) -> Example:
    """Return the example of a page that is split already."""
    truth = words_of(labelled.truth_text)
    return example_from(page, truth, (labelled.data_set, labelled.id), labelled.host, labelled.page_type or "")


def example_from(page: Page, truth: Sequence[str], key: tuple[str, str], host: str, page_type: str) -> Example:
    """Return the example of a page. truth: the words of its main content."""
    features = compute_features(page)
    words = [words_of(block.text) for block in page.blocks]
    matched = match_shares(words, truth).astype(np.float64) * features.words
    comments = np.zeros(len(page.blocks), bool) if page_type == "forum" else find_left_out_comments(features, matched)
    title = title_block(features)
    return Example(
        key, host, page_type, features.blocks, features.words, matched, len(truth), title, comments,
        Texts.of(words, truth), features.structure,
    )  # fmt: skip


def title_block(page: PageFeatures) -> npt.NDArray[np.bool_]:
    """Return the block that repeats the page's title: the first `h1` or `h2` that shares most of
    its words with it."""
    names = page.blocks.features
    heading = (names[:, NAMES.index("own_h1")] > 0) | (names[:, NAMES.index("own_h2")] > 0)
    shared = (names[:, NAMES.index("of_title")] >= 0.6) & (names[:, NAMES.index("title_covered")] >= 0.4)
    is_title = np.zeros(len(page.words), bool)
    is_title[np.flatnonzero(heading & shared & (page.words > 1))[:1]] = True
    return is_title


def find_left_out_comments(page: PageFeatures, matched: FloatArray) -> npt.NDArray[np.bool_]:
    """Return the blocks that markup or a heading calls comments and the truth leaves out; none
    if that is hardly any text or most of the page (`<body class="has-comments">`).
    """
    features = page.blocks.features
    called = features[:, NAMES.index("named_comment")] + features[:, NAMES.index("under_comments")] > 0
    is_left_out = called & (matched < 0.3 * page.words)
    long = page.words[is_left_out & (page.words >= COMMENT_WORDS)].sum()
    return is_left_out if SECTION_WORDS <= long < 0.7 * page.words.sum() else np.zeros(len(is_left_out), bool)
