"""Creates training examples from labelled pages: the features of each block, and how many of its
words belong to the ground truth."""

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

# A block under "Comments" with fewer than COMMENT_WORDS is a button or a name. Comments with fewer
# than SECTION_WORDS in all do not show whether the ground truth leaves comments out.
COMMENT_WORDS, SECTION_WORDS = 15, 60


@dataclass(frozen=True, slots=True)
class Example:
    """One page, ready to train on. Arrays are in the order of the blocks."""

    key: tuple[str, str]
    """The data set, and the page's ID in it."""
    host: str
    page_type: str
    blocks: BlockSequence
    """The features of the page's blocks, before standardisation."""
    words: IntArray
    """(n_blocks,), the number of words in each block."""
    matched: FloatArray
    """(n_blocks,), the number of these words that belong to the ground truth."""
    truth_words: int
    """The number of words in the ground truth, matched or not."""
    title: npt.NDArray[np.bool_]
    """(n_blocks,), whether a block repeats the page's title. At most one block does."""
    comments: npt.NDArray[np.bool_]
    """(n_blocks,), whether a block is a comment, either an added one or one that
    :func:`find_left_out_comments` detected."""
    texts: Texts
    """The strings for computing ROUGE-5 as in the report. A window has the strings of the whole
    page."""
    structure: FloatArray
    """The values named in `page_features.STRUCTURE_NAMES`. A window has the values of the whole
    page."""
    variants: "Mapping[str, tuple[Example, ...]]" = field(default_factory=dict)
    """Variants of the same page, keyed by kind of change. The kinds are the fields of
    `dripper_lab.train.recipe.Shares`. Features are in half precision."""

    @property
    def kind(self) -> str:
        """The page's type: `nothing` if the page has no main content, and `article` if the data set
        states no type."""
        return (self.page_type or "article") if self.truth_words else "nothing"

    @property
    def commented(self) -> "Example | None":
        """The same page with added comments; None if there is no such variant."""
        return next(iter(self.variants.get("commented", ())), None)

    @property
    def main(self) -> npt.NDArray[np.bool_]:
        """Whether each block is main: the ground truth contains at least half of its words."""
        return (self.matched >= 0.5 * self.words) & (self.words > 0)

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """Return the F1 over words of these main blocks, compared with the ground truth."""
        return f1_of(self.words, self.matched, self.truth_words, main)

    def window(self, start: int, end: int) -> "Example":
        """Return an example with only the blocks from `start` up to, but not including, `end`. The
        number of ground-truth words that match no block is reduced in proportion."""
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
"""Creates a variant from a page, the page's example and the text of the page's ground truth.
Returns None if there can be no variant."""


def read_examples(
    pages: Iterable[LabelledPage], makers: Mapping[str, Sequence[Maker]] | None = None
) -> Iterator[Example]:
    """Yield one example per page. A page is logged and left out if it has a ground truth but no
    main block. A page with an empty ground truth gives an example without main blocks.

    Args:
        makers: The functions that create a page's variants, keyed by kind of variant.
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
    """Return the example with features in half precision. Otherwise, seven variants per page would
    take 4 GB. Training adds noise to features anyway."""
    return replace(example, blocks=example.blocks._replace(features=example.blocks.features.astype(np.float16)))


def example_of(page: Page, labelled: LabelledPage) -> Example:
    """Return the example of a page that is already split into blocks."""
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
    """Return a mask of the block that repeats the page's title. This block is the first `h1` or
    `h2` that has at least two words and shares most of its words with the title."""
    names = page.blocks.features
    heading = (names[:, NAMES.index("own_h1")] > 0) | (names[:, NAMES.index("own_h2")] > 0)
    shared = (names[:, NAMES.index("of_title")] >= 0.6) & (names[:, NAMES.index("title_covered")] >= 0.4)
    is_title = np.zeros(len(page.words), bool)
    is_title[np.flatnonzero(heading & shared & (page.words > 1))[:1]] = True
    return is_title


def find_left_out_comments(page: PageFeatures, matched: FloatArray) -> npt.NDArray[np.bool_]:
    """Return a mask of the blocks that the markup or a heading calls comments and that the ground
    truth leaves out. No block is marked if these blocks have hardly any text, or most of the page's
    text (`<body class="has-comments">`).
    """
    features = page.blocks.features
    called = features[:, NAMES.index("named_comment")] + features[:, NAMES.index("under_comments")] > 0
    is_left_out = called & (matched < 0.3 * page.words)
    long = page.words[is_left_out & (page.words >= COMMENT_WORDS)].sum()
    return is_left_out if SECTION_WORDS <= long < 0.7 * page.words.sum() else np.zeros(len(is_left_out), bool)
