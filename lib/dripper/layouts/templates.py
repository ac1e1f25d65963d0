"""Labels the pages of a layout by a few of them that have good labels.

The labels that an expensive labeler gives some representatives become a template: for each path,
and for each text that repeats on them, the share of main content. If the template says nothing of a
block, or contradicts itself, the labeler that has seen the page (`cpu`) decides. A page that the
template does not fit keeps its own labels.
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
"""Pages of a layout that has representatives: of fewer pages nearly all would be."""
PRIOR_WORDS = 2.0
"""A path's share of main words is counted as if one word more of each kind had been seen."""
MOST_ODDS = 4.0
"""Log odds of a path on which the representatives agree, at most."""
OWN_SHARE = 0.5
"""Weight of the page's own log odds beside the log odds by the template."""
LEAST_COVERED = 0.85
"""Share of a page's words on paths that the template knows, at least."""
LEAST_CONSISTENT = 0.7
"""Agreement of the representatives of a layout; below it, its template is not used. A guard: in the
middle between layouts with right templates and layouts with wrong ones. On labelled pages nearly
all are above 0.9."""
LEAST_AGREED = 0.5
"""Share of a page's words on which the template and the page's own labels agree, at least."""


@dataclass(slots=True)
class _Vote:
    main: float = 0.0
    words: float = 0.0

    @property
    def log_odds(self) -> float:
        """The log-odds of main content, by the words seen."""
        odds = np.log((self.main + PRIOR_WORDS / 2) / (self.words - self.main + PRIOR_WORDS / 2))
        return float(np.clip(odds, -MOST_ODDS, MOST_ODDS))


@dataclass(slots=True)
class Template:
    """The labels of representatives, summed by path and by text of a layout."""

    paths: dict[int, _Vote] = field(default_factory=dict)
    texts: dict[int, _Vote] = field(default_factory=dict)
    """Votes of texts that two representatives or more have."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A page as its template labels it."""

    labels: Labels
    covered: float
    """Share of the page's words on paths that the template knows, 0 to 1."""
    agreed: float
    """Share of the page's words on which both labels agree, 0 to 1."""

    @property
    def fits(self) -> bool:
        """Whether the page is to take the template's labels."""
        return self.covered >= LEAST_COVERED and self.agreed >= LEAST_AGREED and bool(self.labels.main.any())


def learn(representatives: Iterable[tuple[PageBlocks, npt.NDArray[np.bool_]]]) -> Template:
    """Return the template of pages with good labels: the blocks of each, and which are main, shape
    (n_blocks,)."""
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
    """Return a page as the template labels it.

    Args:
        template: Made by `learn` from representatives of the page's layout.
        page: The blocks of the page.
        labels: The page's own, of a labeler with probabilities.
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
    """Return the labels that other log odds of the blocks give, shape (n_blocks,), with the
    confidence of that choice; all else as in `labels`."""
    probability = np.rint(PROBABILITY_STEPS / (1 + np.exp(-log_odds))) / PROBABILITY_STEPS
    decision = decide(probability, page.words.astype(np.int64))
    return replace(
        labels, main=decision.main, probability=probability.astype(np.float32), confidence=decision.expected_f1
    )


def _ask_template(template: Template, page: PageBlocks) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return which blocks the template has a path or a text of, and its log odds of them."""
    prints = page.fingerprints
    votes = [
        template.texts.get(text) or template.paths.get(path)
        for path, text in zip(prints.paths.tolist(), prints.texts.tolist(), strict=True)
    ]
    is_covered = np.array([vote is not None for vote in votes], bool)
    return is_covered, np.array([vote.log_odds if vote is not None else 0.0 for vote in votes])


def measure_consistency(pages: Sequence[tuple[PageBlocks, Labels, npt.NDArray[np.bool_]]]) -> float:
    """Return how well the representatives of a layout agree: the mean F1 over words, 0 to 1, of
    each as the template of the others labels it; 1 for a single one, which has no others.

    Args:
        pages: For each its blocks, its own labels, and the good ones, shape (n_blocks,).
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
"""Pages of a layout that the next labeler of a chain labels, for the others to be labelled by. More
of them cost calls and hardly add to F1 (docs/research/layouts.md)."""


def choose_representatives(pages: Mapping[str, PageBlocks], k: int = REPRESENTATIVES) -> list[str]:
    """Return the ids of k pages of a layout, or of all if there are fewer, which together show
    the most of it.

    A path counts as many words as all pages have on it. The page that adds most comes first; of
    equal ones, the one with the lowest id. When all paths are shown, they are shown again by
    others: the same template may hold other content.

    Args:
        pages: By id.
        k: How many pages to choose at most.
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
