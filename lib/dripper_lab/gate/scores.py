"""Scores the `cpu` labeler: ROUGE-5 F1 of the text that `dripper.extract` returns, for each kind of
page and overall."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

import dripper
from dripper.eval import rouge_n
from dripper_lab.datasets import LabelledPage, available, read_pages
from dripper_lab.gate.bounds import Figures

SAMPLE = {
    "web-kinds-evaluation": 170,
    "l3s-gn1": 60,
    "cleaneval-en": 60,
    "dragnet": 60,
    "cleanportaleval": 20,
    "llm-webkit-bench": 30,
}
"""Evaluation set → number of pages to score. The pages with the smallest hashes are taken, so that
every machine scores the same 400 pages."""
FEWEST = 8
"""Kinds with fewer pages get no figure of their own, because a single page would change the figure
by more than its floor allows."""


def measure_repository(folder: Path, data_set: str) -> Figures:
    """Return the mean score of the repository's pages. `cpu` was trained on these pages."""
    return {"scores.repository.all": fmean(map(score, read_pages(folder, data_set)))}


def measure_evaluation(data: Path) -> Figures:
    """Return the mean score of each evaluation set, of each kind of page, and of all pages. No
    training data contains these pages. Raises InputError if a set is missing."""
    return average(page for name, size in SAMPLE.items() for page in read_pages(data, name, sample=size))


def average(pages: Iterable[LabelledPage]) -> Figures:
    """Return the mean score of each group: all pages, each data set, and each kind of page."""
    values = defaultdict[str, list[float]](list)
    for page in pages:
        f1 = score(page)
        for group in ("all", page.data_set, *([page.page_type] if page.page_type else [])):
            values[group].append(f1)
    return {f"scores.evaluation.{group}": fmean(of) for group, of in values.items() if len(of) >= FEWEST}


def score(page: LabelledPage) -> float:
    """Return the score of a page."""
    return rouge_n(extract(page, page.url).text, page.truth_text, tokens="words").f1


def extract(page: LabelledPage, url: str | None) -> dripper.Extraction:
    """Extract a page in the way a user would."""
    return dripper.extract(page.html, url=url)


def missing_sets(data: Path) -> list[str]:
    """Return the sets that are missing in a folder."""
    return sorted(SAMPLE.keys() - set(available(data)))
