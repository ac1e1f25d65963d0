"""Reads the scores of a run as tables: a row per page and extractor, and summary figures per
extractor."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dripper.errors import InputError
from dripper_lab.evaluation.extractors.base import Contender
from dripper_lab.evaluation.score_set import SetScoring
from dripper_lab.evaluation.statistics import Bootstrap, Interval, difference, interval
from dripper_lab.evaluation.store import read_lines
from dripper_lab.extra import import_extra

THRESHOLDS = (0.174, 0.596)
"""Quartiles of page complexity over the 3,985 pages of the WCEB study. The study does not publish
them. For all five parts available here, these values reproduce the counts in its Table 1 to within
2 % of the pages."""

ScoreTable = Any
"""A pandas DataFrame. pandas has no type annotations of its own."""

MAIN = "rouge5_words_f1"
"""The column of the main metric."""

PAGE_COLUMNS = ("data_set", "id", "host", "language", "page_type", "complexity", "is_wceb", "level_score", "strata")


@dataclass(frozen=True, slots=True)
class Line:
    """An extractor in the overall table. Quality refers to `MAIN`, CPU time is in milliseconds per
    page, and fractions are 0 to 1."""

    extractor: Contender
    pages: int
    macro: Interval
    """The mean of the data sets' means: every data set has the same weight, and so has every page
    within a set. The 95 % interval is from draws of sites."""
    gain: Interval
    """This extractor's macro mean minus the baseline's. Both are computed from the same draws of
    sites."""
    mean: float
    median: float
    precision: float
    recall: float
    empty: float
    """The fraction of pages without any text, including failures."""
    failed: Mapping[str, int]
    """Error code → number of pages."""
    cpu_mean: float
    cpu_median: float


def read_scores(jobs: Iterable[SetScoring]) -> ScoreTable:
    """Return a row per page and extractor with the page's properties, complexity level, metrics,
    cost and error.

    Raises InputError if scores of a set are missing.
    """
    pandas: Any = import_extra("pandas")
    frames = []
    for job in jobs:
        pages = {row["id"]: row for row in read_lines(job.path)}  # the last line for a page counts
        ids = {page.id for page in job.source.pages(job.data_set)}
        missing = ids - pages.keys()
        if missing:
            raise InputError(f"{job.path} lacks {len(missing)} pages: run the evaluation to its end first")
        frames.append(pandas.DataFrame([row for id in sorted(ids) for row in _flat(pages[id])]))
    frame = pandas.concat(frames, ignore_index=True)
    edges = [-np.inf, *THRESHOLDS, np.inf]
    frame["level"] = pandas.cut(frame["complexity"], edges, right=False, labels=["low", "medium", "high"]).astype(str)
    return frame


def overall(frame: ScoreTable, extractors: Sequence[Contender], baseline: str, draws: int = 2000) -> list[Line]:
    """Return a line for each extractor that has scores for all pages of `frame`, best first.

    Args:
        baseline: The extractor relative to which gains are computed.

    Raises:
        InputError: The baseline was not run.
    """
    wide = frame.pivot(index=["data_set", "id", "host"], columns="extractor", values=MAIN).dropna(axis="columns")
    if baseline not in wide:
        raise InputError(f"the baseline {baseline} was not run on these pages")
    bootstrap = Bootstrap(wide.index.get_level_values("data_set"), wide.index.get_level_values("host"), draws)
    drawn = {name: bootstrap.macro_mean(wide[name].to_numpy(float)) for name in wide}
    groups = dict(list(frame.groupby("extractor")))
    lines = [
        _line(one, groups[one.name], interval(drawn[one.name]), difference(drawn[one.name], drawn[baseline]))
        for one in extractors
        if one.name in drawn
    ]
    return sorted(lines, key=lambda line: -line.macro.value)


def means_by(frame: ScoreTable, column: str, metric: str = MAIN) -> ScoreTable:
    """Return the mean of a metric, with a row per extractor and a column per value of `column`."""
    return frame.pivot_table(index="extractor", columns=column, values=metric, aggfunc="mean", observed=True)


def intervals_by(
    frame: ScoreTable, column: str, values: Sequence[str], draws: int = 2000
) -> Mapping[str, Mapping[str, Interval]]:
    """Return extractor → value of `column` → mean over pages with its 95 % interval. For each
    value, only extractors with scores for all of its pages are included."""
    intervals: dict[str, dict[str, Interval]] = {}
    for value in values:
        part = frame[frame[column] == value]
        wide = part.pivot(index=["data_set", "id", "host"], columns="extractor", values=MAIN).dropna(axis="columns")
        bootstrap = Bootstrap(wide.index.get_level_values("data_set"), wide.index.get_level_values("host"), draws)
        for name in wide:
            intervals.setdefault(str(name), {})[value] = interval(bootstrap.mean(wide[name].to_numpy(float)))
    return intervals


def with_difficulty(frame: ScoreTable) -> ScoreTable:
    """Add the `difficulty` column: simple, mid or hard, divided at the 30th and 70th percentiles of
    the pages' level scores (Dripper paper, A.5)."""
    scores = frame.drop_duplicates(["data_set", "id"])["level_score"].to_numpy(float)
    low, high = np.quantile(scores, [0.3, 0.7])
    levels = np.where(frame["level_score"] < low, "simple", np.where(frame["level_score"] < high, "mid", "hard"))
    return frame.assign(difficulty=levels)


def pages_by(frame: ScoreTable, column: str) -> Mapping[str, int]:
    """Return the number of pages per value of `column`."""
    counts: Mapping[str, int] = frame.drop_duplicates(["data_set", "id"])[column].value_counts().to_dict()
    return counts


def mean_similarities(jobs: Iterable[SetScoring], names: Sequence[str]) -> ScoreTable:
    """Return the mean similarity between the outputs of each pair of extractors over all pages; 1
    on the diagonal."""
    pandas: Any = import_extra("pandas")
    total, count = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    place = {name: index for index, name in enumerate(names)}
    for job in jobs:
        for row in {row["id"]: row for row in read_lines(job.path)}.values():
            for one, similarities in row["similarity"].items():
                for other, value in similarities.items():
                    if one in place and other in place:
                        i, j = place[one], place[other]
                        total[[i, j], [j, i]] += value
                        count[[i, j], [j, i]] += 1
    np.fill_diagonal(total, 1)
    np.fill_diagonal(count, 1)
    with np.errstate(invalid="ignore"):
        return pandas.DataFrame(total / count, index=list(names), columns=list(names))


def _flat(row: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    page = {column: row[column] for column in PAGE_COLUMNS}
    empty = set(row["empty"])
    for name, scores in row["scores"].items():
        yield {**page, "extractor": name, **scores, **row["costs"][name], "is_empty": name in empty}


def _line(extractor: Contender, rows: ScoreTable, macro: Interval, gain: Interval) -> Line:
    return Line(
        extractor=extractor,
        pages=len(rows),
        macro=macro,
        gain=gain,
        mean=float(rows[MAIN].mean()),
        median=float(rows[MAIN].median()),
        precision=float(rows["rouge5_words_precision"].mean()),
        recall=float(rows["rouge5_words_recall"].mean()),
        empty=float(rows["is_empty"].mean()),
        failed=rows["error_code"].dropna().value_counts().to_dict(),
        cpu_mean=float(rows["cpu_ms"].mean()),
        cpu_median=float(rows["cpu_ms"].median()),
    )
