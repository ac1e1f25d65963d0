"""Labels all pages of a layout, based on good labels of a few of these pages.

An expensive labeler labels a few representatives of the layout. The labels of the representatives
become a template: the fraction of main content for each path, and for each text that occurs on
several representatives. If the template does not know a block, or contradicts itself, the page's
own labels (from `cpu`) decide. A page that does not fit the template keeps its own labels.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from dripper.labels import Labels
from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import PROBABILITY_STEPS, decide
from dripper.layouts.page_blocks import PageBlocks

LEAST_PAGES = 3
"""Minimum number of pages in a layout that gets a template. In a smaller layout, nearly all pages
would be representatives."""
PRIOR_WORDS = 2.0
"""A path's fraction of main words is computed as if one more main word and one more other word had
been seen."""
MOST_ODDS = 4.0
"""Maximum absolute value of a path's log odds, even if all representatives agree."""
OWN_SHARE = 0.5
"""Weight of the page's own log odds; the template's log odds have weight 1."""
LEAST_COVERED = 0.85
"""Minimum fraction of a page's words in blocks that the template knows."""
LEAST_CONSISTENT = 0.7
"""Minimum agreement of a layout's representatives; below it, the layout's template is not used. The
value is midway between the agreement in layouts with right templates and the agreement in layouts
with wrong templates. In the labelled data, nearly all layouts are above 0.9."""
LEAST_AGREED = 0.5
"""Minimum fraction of a page's words on which the template and the page's own labels agree."""


@dataclass(slots=True)
class _Vote:
    main: float = 0.0
    words: float = 0.0

    @property
    def log_odds(self) -> float:
        """The log odds of main content, computed from the counted words."""
        odds = np.log((self.main + PRIOR_WORDS / 2) / (self.words - self.main + PRIOR_WORDS / 2))
        return float(np.clip(odds, -MOST_ODDS, MOST_ODDS))


@dataclass(slots=True)
class Template:
    """The label votes of a layout's representatives, summed for each path and for each text."""

    paths: dict[int, _Vote] = field(default_factory=dict)
    texts: dict[int, _Vote] = field(default_factory=dict)
    """Votes of strings that occur on two or more representatives."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The labels that a page gets from its layout's template."""

    labels: Labels
    covered: float
    """Fraction of the page's words in blocks that the template knows, 0 to 1."""
    agreed: float
    """Fraction of the page's words on which the new labels and the page's own labels agree, 0 to
    1."""

    @property
    def fits(self) -> bool:
        """Whether the page should use the template's labels."""
        return self.covered >= LEAST_COVERED and self.agreed >= LEAST_AGREED and bool(self.labels.main.any())


def learn(representatives: Iterable[tuple[PageBlocks, npt.NDArray[np.bool_]]]) -> Template:
    """Learn a template from pages with good labels.

    Args:
        representatives: Each page's blocks, and whether each block is main, shape (n_blocks,).
    """
    template = Template()
    page_counts = Counter[int]()
    for page, main in representatives:
        rows = (page.fingerprints.paths, page.fingerprints.texts, page.words, main)
        for path, text, words, is_main in zip(*(column.tolist() for column in rows), strict=True):
            for votes, key in ((template.paths, path), (template.texts, text)):
                vote = votes.setdefault(key, _Vote())
                vote.words += words
                vote.main += words * is_main
        page_counts.update(set(page.fingerprints.texts.tolist()))
    template.texts = {text: vote for text, vote in template.texts.items() if page_counts[text] > 1}
    return template


def fill(template: Template, page: PageBlocks, labels: Labels) -> Filled:
    """Label a page with a template.

    Args:
        template: Made by `learn` from representatives of the page's layout.
        labels: The page's own labels, from a labeler that gives probabilities.
    """
    is_covered, template_odds = _ask_template(template, page)
    own = page.log_odds.astype(np.float64)
    odds = np.where(is_covered, template_odds + OWN_SHARE * own, own)
    relabelled = _decide_again(page, labels, odds)
    n_words = max(1, int(page.words.sum()))
    return Filled(
        relabelled,
        float(page.words[is_covered].sum() / n_words),
        float(page.words[relabelled.main == labels.main].sum() / n_words),
    )


def _decide_again(page: PageBlocks, labels: Labels, log_odds: FloatArray) -> Labels:
    """Replace the decisions, probabilities and confidence of `labels`.

    Args:
        log_odds: The new log odds of the blocks, shape (n_blocks,).
    """
    probability = np.rint(PROBABILITY_STEPS / (1 + np.exp(-log_odds))) / PROBABILITY_STEPS
    decision = decide(probability, page.words.astype(np.int64))
    return replace(
        labels, main=decision.main, probability=probability.astype(np.float32), confidence=decision.expected_f1
    )


def _ask_template(template: Template, page: PageBlocks) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return two arrays: for each block, whether the template knows its path or text, and its log
    odds (0 if the template does not know it)."""
    prints = page.fingerprints
    votes = [
        template.texts.get(text) or template.paths.get(path)
        for path, text in zip(prints.paths.tolist(), prints.texts.tolist(), strict=True)
    ]
    is_covered = np.array([vote is not None for vote in votes], bool)
    return is_covered, np.array([vote.log_odds if vote is not None else 0.0 for vote in votes])


def measure_consistency(pages: Sequence[tuple[PageBlocks, Labels, npt.NDArray[np.bool_]]]) -> float:
    """Return how well a layout's representatives agree, from 0 to 1. For a single representative,
    return 1.

    Each representative is labelled with the template of the other representatives. The result is
    the mean F1 over words.

    Args:
        pages: Each representative's blocks, own labels and good labels, shape (n_blocks,).
    """
    if len(pages) < 2:
        return 1.0
    scores = []
    for i, (page, labels, good) in enumerate(pages):
        template = learn((other, main) for j, (other, _, main) in enumerate(pages) if j != i)
        main_by_template = fill(template, page, labels).labels.main
        n_words = page.words[main_by_template].sum() + page.words[good].sum()
        scores.append(2 * page.words[main_by_template & good].sum() / n_words if n_words else 1.0)
    return float(np.mean(scores))


REPRESENTATIVES = 2
"""Number of pages per layout that the next labeler of a chain labels. The other pages get their
labels from these pages. More representatives cost more calls and hardly improve F1
(docs/research/layouts.md)."""


def choose_representatives(pages: Mapping[str, PageBlocks], k: int = REPRESENTATIVES) -> list[str]:
    """Choose up to `k` pages that together show most of a layout, and return their ids.

    A path's weight is the number of words at this path on all pages. Each choice is the page that
    adds the most weight. If several pages add the same weight, the one with the lowest id is
    chosen. Once the chosen pages show all paths, the next page is chosen as if it were the first,
    because the same template may contain other content.

    Args:
        pages: The blocks of each page, keyed by page id.
        k: The maximum number of pages to choose.
    """
    weights = Counter[int]()
    of_page: dict[str, set[int]] = {}
    for page_id, page in pages.items():
        paths = page.fingerprints.paths.tolist()
        of_page[page_id] = set(paths)
        for path, words in zip(paths, page.words.tolist(), strict=True):
            weights[path] += words
    chosen: list[str] = []
    fingerprints: set[int] = set()
    while len(chosen) < min(k, len(pages)):
        gains = {page_id: sum(weights[path] for path in paths - fingerprints) for page_id, paths in of_page.items()}
        best = min(gains, key=lambda page_id: (-gains[page_id], page_id))
        if not gains[best] and fingerprints:
            fingerprints = set()
            continue
        chosen.append(best)
        fingerprints |= of_page.pop(best)
    return chosen
