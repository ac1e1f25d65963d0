"""Checks whether the findings of the SIGIR'23 study hold for today's tools on the available
pages."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dripper_lab.evaluation.benchmarks.wceb import OUR_SETS, Reference
from dripper_lab.evaluation.extractors.base import Contender, Standing
from dripper_lab.evaluation.results import ScoreTable

METRIC = "wceb_f1"

TABLE_3: Mapping[str, tuple[str, str, float, float]] = {
    "majority-weighted": ("(Best weighted)", "ensemble_weighted", 0.899, 0.970),
    "majority-best": ("(Best only)", "ensemble_best", 0.889, 0.973),
    "majority-all": ("(Majority all)", "ensemble_majority", 0.885, 0.974),
    "trafilatura-wceb": ("Trafilatura", "trafilatura", 0.883, 0.957),
    "readability-lxml": ("Readability", "readability", 0.861, 0.970),
    "resiliparse": ("Resiliparse", "resiliparse", 0.859, 0.942),
    "boilerpy3": ("Boilerpipe", "boilerpipe", 0.834, 0.946),
    "bte": ("BTE", "bte", 0.817, 0.936),
    "newspaper4k": ("Newspaper3k", "newspaper3k", 0.816, 0.958),
    "news-please": ("news-please", "news_please", 0.815, 0.958),
    "goose3": ("Goose3", "goose3", 0.810, 0.940),
    "justext-wceb": ("jusText", "justext", 0.759, 0.904),
    "lxml-cleaner": ("lxml Cleaner", "lxml_cleaner", 0.717, 0.798),
    "html-text": ("html_text", "html_text", 0.683, 0.667),
    "beautifulsoup": ("BS4", "bs4", 0.680, 0.669),
    "inscriptis": ("inscriptis", "inscriptis", 0.673, 0.649),
    "xpath-text": ("XPath Text", "xpath_text", 0.664, 0.674),
}
"""Our name → (the name in Table 3, the name in the published files, macro mean F1, macro median
F1). Both values are over all eight parts."""


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A row of Table 3, and the corresponding row of our results."""

    name: str
    their_name: str
    study_mean: float
    study_median: float
    here_theirs: float | None
    """The macro mean of the extractor's published scores (see `Reference`) over the available parts
    and pages; None if there are none."""
    ours_mean: float
    ours_median: float


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the study, and the same measurement on our data."""

    study: str
    here: str
    holds: bool


def table_3(frame: ScoreTable, reference: Reference) -> list[StudyLine]:
    """Return the rows of the study's Table 3, each with our macro mean and median of the same
    metric over the available parts.

    The study's macro mean is the mean of the parts' means. Its macro median is the median of the
    parts' medians.
    """
    lines = []
    for name, (their_name, their_file, mean, median) in TABLE_3.items():
        rows = frame[(frame["extractor"] == name) & frame[METRIC].notna()]
        if len(rows):
            by_set = rows.groupby("data_set")[METRIC]
            published = _published_macro(rows, reference, their_file)
            lines.append(
                StudyLine(
                    name,
                    their_name,
                    mean,
                    median,
                    published,
                    *macro([scores for _, scores in by_set]),
                )
            )
    return lines


def macro(parts: Iterable[Iterable[float]]) -> tuple[float, float]:
    """Return the mean of the parts' means, and the median of the parts' medians, as in the study's
    Table 3.

    Args:
        parts: The page scores of each part.

    >>> macro([[0.0, 0.5, 0.7], [0.8], [1.0]])
    (0.7333333333333334, 0.8)
    """
    scores = [list(part) for part in parts]
    return statistics.fmean(map(statistics.fmean, scores)), statistics.median(map(statistics.median, scores))


def findings(frame: ScoreTable, extractors: Sequence[Contender]) -> list[Finding]:
    """Check four findings of the study's section 4 on the available WCEB pages."""
    scored = frame[frame[METRIC].notna()]
    means = scored.pivot_table(index="extractor", columns="data_set", values=METRIC, aggfunc="mean")
    singles = [one.name for one in extractors if one.kind is Standing.PEER and one.name in means.index]
    checks = [_no_best(means, singles), _check_skew(scored, singles), _whole_pages(scored, extractors, singles)]
    votes = [one.name for one in extractors if one.kind is Standing.ENSEMBLE and one.name in means.index]
    return [*([_ensembles(means, singles, votes)] if votes else []), *checks]


def _ensembles(means: ScoreTable, singles: Sequence[str], votes: Sequence[str]) -> Finding:
    macro = means.mean(axis=1)
    best, vote = macro[list(singles)].idxmax(), macro[list(votes)].idxmax()
    beaten = sum(macro[name] > macro[best] for name in votes)
    return Finding(
        "All three majority votes beat every single extractor in macro mean F1 (4.5).",
        f"{beaten} of {len(votes)} votes beat the best single one ({best}, {macro[best]:.3f}); the best vote is {vote} "
        f"({macro[vote]:.3f}).",
        bool(beaten == len(votes)),
    )


def _no_best(means: ScoreTable, singles: Sequence[str]) -> Finding:
    winners = means.loc[list(singles)].idxmax()
    names = ", ".join(f"{data_set}: {name}" for data_set, name in winners.items())
    return Finding(
        "No single extractor is best on all data sets (4.4).", f"Best by set: {names}.", winners.nunique() > 1
    )


def _check_skew(scored: ScoreTable, singles: Sequence[str]) -> Finding:
    by_extractor = scored[scored["extractor"].isin(singles)].groupby("extractor")[METRIC]
    gap = float((by_extractor.median() - by_extractor.mean()).mean())
    return Finding(
        "Scores are skewed: medians lie well above means, and zeros from empty answers are over-represented (4.4).",
        f"The median is {gap:.3f} above the mean, on average over {len(singles)} extractors.",
        gap > 0.02,
    )


def _whole_pages(scored: ScoreTable, extractors: Sequence[Contender], singles: Sequence[str]) -> Finding:
    levels = scored.pivot_table(index="extractor", columns="level", values=METRIC, aggfunc="mean", observed=True)
    texts = [one.name for one in extractors if one.kind is Standing.TEXT and one.name in levels.index]
    if not texts or not {"low", "high"} <= set(levels.columns):
        return Finding(
            "Whole-page converters win on simple pages and fall off on complex ones (4.4).", "Not enough pages.", False
        )
    low, high = levels["low"], levels["high"]
    return Finding(
        "Whole-page converters do well on pages of low complexity, better than many extractors, and fall off on high (4.4).",
        f"Converters: {low[texts].mean():.3f} low, {high[texts].mean():.3f} high; extractors: {low[list(singles)].mean():.3f} low, "
        f"{high[list(singles)].mean():.3f} high.",
        bool(low[texts].mean() - high[texts].mean() > low[list(singles)].mean() - high[list(singles)].mean()),
    )


def _published_macro(rows: ScoreTable, reference: Reference, their_file: str) -> float | None:
    means = []
    for data_set, pages in rows.groupby("data_set"):
        published = reference.f1.get((OUR_SETS[data_set], their_file), {})
        values = [published[key] for id in pages["id"] if (key := reference.ids[data_set][id]) in published]
        if not values:
            return None
        means.append(sum(values) / len(values))
    return sum(means) / len(means)
