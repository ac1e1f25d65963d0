"""Redraws Figures 1 to 3 of the SIGIR'23 study, and prints their values:

    python -m dripper_lab.evaluation.benchmarks.study_figures --data DATA --output DIR [--run DIR]

Uses the published scores of the study's extractors or, with --run, the scores in the folder of our
own evaluation.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dripper.errors import InputError, UsageError
from dripper_lab.datasets import available, read_pages
from dripper_lab.evaluation.benchmarks.complexity import complexity
from dripper_lab.evaluation.benchmarks.study import METRIC, TABLE_3
from dripper_lab.evaluation.benchmarks.wceb import OUR_SETS, Reference, is_part, read_reference, truth_of
from dripper_lab.evaluation.results import THRESHOLDS
from dripper_lab.evaluation.store import decode_page, read_lines
from dripper_lab.extra import import_extra

NAMES: Mapping[str, str] = {
    **{their_file: name for name, their_file, _, _ in TABLE_3.values()},
    "go_domdistiller": "DOM Distiller",
    "web2text": "Web2Text",
    "dragnet": "Dragnet",
    "boilernet": "BoilerNet",
    "extractnet": "ExtractNet",
}
"""Name in the published files → name in the study's figures."""
BASELINES = frozenset({"lxml Cleaner", "html_text", "BS4", "inscriptis", "XPath Text"})
PANELS = ("all pages", "low complexity", "high complexity")
ENSEMBLE, BASELINE, MODEL = "#4c72b0", "#b0b4ba", "#dd8452"

PageKey = tuple[str, str]
"""Part of WCEB, page id within the part."""


class Scored(NamedTuple):
    """The score of an extractor on one page."""

    part: str
    page: str
    extractor: str
    f1: float


class Spread(NamedTuple):
    """The quartiles in a box plot."""

    low: float
    """First quartile."""
    median: float
    high: float
    """Third quartile."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Compute the quartiles of some values."""
        return cls(*(float(value) for value in np.quantile(values, [0.25, 0.5, 0.75])))


class Mean(NamedTuple):
    """A bar in Figure 3: the mean and quartiles of each part, averaged over the parts."""

    mean: float
    low: float
    high: float


def read_complexities(data: Path, reference: Reference, sample: int | None) -> dict[PageKey, float]:
    """Return the complexity of the WCEB pages in a data folder.

    Args:
        sample: The maximum number of pages per set; None means all.
    """
    complexities = {}
    for name in (name for name in available(data) if name in OUR_SETS):
        for page in read_pages(data, name, sample=sample):
            if is_part(page, reference):
                key = OUR_SETS[name], reference.ids[name][page.id]
                complexities[key] = complexity(decode_page(page), truth_of(page))
    return complexities


def published_scores(reference: Reference) -> Iterator[Scored]:
    """Yield the published scores of the study's extractors on all pages of the eight parts."""
    for (part, extractor), pages in reference.f1.items():
        if extractor in NAMES:
            yield from (Scored(part, page, NAMES[extractor], f1) for page, f1 in pages.items())


def scores_of_run(folder: Path, reference: Reference) -> Iterator[Scored]:
    """Yield the scores of an evaluation on WCEB's pages. Raises InputError if there are none."""
    their_names = {name: their_name for name, (their_name, *_) in TABLE_3.items()}
    any_there = False
    for data_set, part in OUR_SETS.items():
        rows = {row["id"]: row for row in read_lines(folder / "scores" / f"{data_set}.jsonl")}
        for row in rows.values():
            key = reference.ids.get(data_set, {}).get(row["id"])
            for name, scores in row["scores"].items() if key else ():
                if name in their_names and scores.get(METRIC) is not None:
                    any_there = True
                    yield Scored(part, str(key), their_names[name], scores[METRIC])
    if not any_there:
        raise InputError(f"--run {folder}: there are no scores of WCEB's pages; an evaluation has to end there first")


def boxes(scores: Iterable[Scored], complexities: Mapping[PageKey, float]) -> dict[str, dict[str, list[float]]]:
    """Return panel of Figure 2 → extractor → F1 values of pages. Extractors with the highest median
    come first.

    A page of unknown complexity is only in the first panel.
    """
    panels: dict[str, dict[str, list[float]]] = {panel: {} for panel in PANELS}
    low, high = THRESHOLDS
    for scored in scores:
        value = complexities.get((scored.part, scored.page))
        inside = (True, value is not None and value < low, value is not None and value >= high)
        for panel in (panel for panel, is_in in zip(PANELS, inside, strict=True) if is_in):
            panels[panel].setdefault(scored.extractor, []).append(scored.f1)
    return {
        panel: dict(sorted(of.items(), key=lambda item: -statistics.median(item[1]))) for panel, of in panels.items()
    }


def means(scores: Iterable[Scored]) -> dict[str, Mean]:
    """Return extractor → bar of Figure 3, highest first. Bars are macro averages, so that large
    parts do not dominate."""
    parts: dict[str, dict[str, list[float]]] = {}
    for scored in scores:
        parts.setdefault(scored.extractor, {}).setdefault(scored.part, []).append(scored.f1)
    bars = {}
    for extractor, of_part in parts.items():
        spreads = [Spread.of(values) for values in of_part.values()]
        bars[extractor] = Mean(
            statistics.fmean(map(statistics.fmean, of_part.values())),
            statistics.fmean(spread.low for spread in spreads),
            statistics.fmean(spread.high for spread in spreads),
        )
    return dict(sorted(bars.items(), key=lambda item: -item[1].mean))


def draw_complexities(by_part: Mapping[str, Sequence[float]], path: Path) -> None:
    """Draw Figure 1: a box per part, with whiskers of 1.5 times the interquartile range."""
    with _drawn(path, len(by_part), 1) as (axes,):
        _boxes(axes, by_part, lambda name: MODEL)
        axes.set_ylabel("page complexity")


def draw_boxes(panels: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Draw Figure 2: panels for all pages, simple pages and complex pages."""
    drawn_panels = {panel: of for panel, of in panels.items() if of}
    with _drawn(path, max(map(len, drawn_panels.values())), len(drawn_panels)) as grid:
        for axes, (panel, of) in zip(grid, drawn_panels.items(), strict=True):
            _boxes(axes, of, colour_of)
            axes.set_ylabel(f"ROUGE-LSum F1,\n{panel}")


def draw_means(bars: Mapping[str, Mean], path: Path) -> None:
    """Draw Figure 3: bars for mean F1, with the interquartile range as error bars."""
    with _drawn(path, len(bars), 1) as (axes,):
        places = range(len(bars))
        axes.bar(places, [bar.mean for bar in bars.values()], color=[colour_of(name) for name in bars])
        for place, bar in zip(places, bars.values(), strict=True):
            axes.vlines(place, bar.low, bar.high, color="#1f2328", linewidth=1)
        _names(axes, bars)
        axes.set_ylabel("ROUGE-LSum mean F1")


def colour_of(extractor: str) -> str:
    """Return an extractor's color: blue for ensembles (their names are in parentheses), gray for
    baselines, orange for others."""
    return ENSEMBLE if extractor.startswith("(") else BASELINE if extractor in BASELINES else MODEL


@contextmanager
def _drawn(path: Path, columns: int, panels: int) -> Iterator[list[Any]]:
    """Yield the axes of vertically stacked panels, and write the image file at the end."""
    import_extra("matplotlib").use("Agg")
    size = (2 + 0.42 * columns, 3.2 * panels)
    pyplot = import_extra("matplotlib.pyplot")
    figure, grid = pyplot.subplots(panels, 1, figsize=size, squeeze=False, layout="constrained")
    yield list(grid.flat)
    for axes in grid.flat:
        axes.set_ylim(-0.02, 1.02)
    figure.savefig(path, format="png", dpi=150, facecolor="white")
    pyplot.close(figure)


def _boxes(axes: Any, values: Mapping[str, Sequence[float]], colour: Callable[[str], str]) -> None:
    places = list(range(len(values)))
    drawn = axes.boxplot(
        list(values.values()), positions=places, whis=1.5, widths=0.6, patch_artist=True, flierprops={"markersize": 1.5}
    )
    for box, name in zip(drawn["boxes"], values, strict=True):
        box.set_facecolor(colour(name))
    for line in drawn["medians"]:
        line.set_color("#1f2328")
    _names(axes, values)


def _names(axes: Any, names: Iterable[str]) -> None:
    labels = list(names)
    axes.set_xticks(range(len(labels)), labels, rotation=60, ha="right", rotation_mode="anchor", fontsize=7)


def tables(
    by_part: Mapping[str, Sequence[float]],
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    bars: Mapping[str, Mean],
) -> str:
    """Return the values in the figures as Markdown: means with quartiles; medians for all, simple
    and complex pages; and complexity by part."""
    lines = ["| | mean | quartiles | median, all pages | low complexity | high |", "|---|---|---|---|---|---|"]
    for name, bar in bars.items():
        medians = [f"{statistics.median(of[name]):.3f}" if name in of else "" for of in panels.values()]
        lines.append(f"| {name} | {bar.mean:.3f} | {bar.low:.3f} to {bar.high:.3f} | {' | '.join(medians)} |")
    lines += ["", "| part | pages | complexity, median | quartiles |", "|---|---|---|---|"]
    for part, values in by_part.items():
        spread = Spread.of(values)
        lines.append(f"| {part} | {len(values)} | {spread.median:.2f} | {spread.low:.2f} to {spread.high:.2f} |")
    baselines = [f1 for name, values in panels[PANELS[0]].items() if name in BASELINES for f1 in values]
    if baselines:
        lines += ["", f"Median F1 of the baselines: {statistics.median(baselines):.3f}"]
    return "\n".join([*lines, ""])


def main(arguments: Sequence[str]) -> int:
    """Draw the figures and print their values. Return 0, or 2 for incorrect usage."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.evaluation.benchmarks.study_figures")
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of the data sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for the pictures")
    parser.add_argument("--run", type=Path, help="folder of an evaluation (default: the published scores)")
    parser.add_argument("--sample", type=int, help="pages a set whose complexity is computed (default: all)")
    options = parser.parse_args(arguments)
    try:
        reference = read_reference(options.data)
        scored = published_scores(reference) if options.run is None else scores_of_run(options.run, reference)
        scores = list(scored)
        complexities = read_complexities(options.data, reference, options.sample)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    by_part: dict[str, list[float]] = {}
    for (part, _), value in complexities.items():
        by_part.setdefault(part, []).append(value)
    panels, bars = boxes(scores, complexities), means(scores)
    options.output.mkdir(parents=True, exist_ok=True)
    draw_complexities(by_part, options.output / "figure-1.png")
    draw_boxes(panels, options.output / "figure-2.png")
    draw_means(bars, options.output / "figure-3.png")
    sys.stdout.write(tables(by_part, panels, bars))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
