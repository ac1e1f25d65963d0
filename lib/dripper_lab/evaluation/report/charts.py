"""Draws the charts of the report as PNG bytes. Each kind of extractor has the same color in all
charts."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dripper_lab.evaluation.extractors.base import Standing
from dripper_lab.evaluation.results import MAIN, Line, ScoreTable
from dripper_lab.evaluation.statistics import Interval
from dripper_lab.extra import import_extra

COLOURS: Mapping[Standing, str] = {
    Standing.OURS: "#c2410c",
    Standing.PEER: "#1d4e89",
    Standing.TEXT: "#8a8f98",
    Standing.BOUND: "#15803d",
    Standing.ENSEMBLE: "#7c3aed",
    Standing.WCEB: "#1d4e89",
}
INK, FAINT = "#1f2328", "#d0d4da"
DOTS_PER_INCH = 150


def quality_and_cost(lines: Sequence[Line]) -> bytes:
    """Draw quality (macro mean, 95 % interval) against mean CPU milliseconds per page on a log
    scale. Each extractor is a point."""
    figure, axes = _figure(9.5, 5.6)
    for line in lines:
        colour = COLOURS[line.extractor.kind]
        spread = [[line.macro.value - line.macro.low], [line.macro.high - line.macro.value]]
        x, y = max(line.cpu_mean, 0.1), line.macro.value
        axes.errorbar(x, y, yerr=spread, fmt="o", color=colour, markersize=6, elinewidth=0.8, alpha=0.9, capsize=0)
    _label_points(axes, [(max(line.cpu_mean, 0.1), line.macro.value, line) for line in lines])
    axes.set_xscale("log")
    axes.set_xlabel("CPU milliseconds a page (mean, log scale)")
    axes.set_ylabel("ROUGE-5 F1, words (macro mean)")
    _legend(axes, {line.extractor.kind for line in lines})
    return _png(figure)


def kinds_and_cost(kinds: Sequence[str], rows: Sequence[tuple[Line, Sequence[Interval | None]]]) -> bytes:
    """Draw a panel per kind of page: quality (mean, 95 % interval) against mean CPU milliseconds
    per page. The names of this project's extractors and of the best three of each kind are
    shown."""
    columns = min(3, len(kinds))
    figure, grid = import_extra("matplotlib.pyplot").subplots(
        -(-len(kinds) // columns), columns, figsize=(4 * columns, 3.4 * -(-len(kinds) // columns)), sharex=True,
        squeeze=False, layout="constrained",
    )  # fmt: skip
    for number, axes in enumerate(grid.flat):
        axes.set_visible(number < len(kinds))
        points = [(line, score) for line, values in rows for score in values[number : number + 1] if score is not None]
        for line, score in points:
            spread = [[score.value - score.low], [score.high - score.value]]
            colour = COLOURS[line.extractor.kind]
            axes.errorbar(
                max(line.cpu_mean, 0.1), score.value, yerr=spread, fmt="o", color=colour, markersize=4, elinewidth=0.6
            )
        best = sorted(points, key=lambda each: -each[1].value)[:3]
        labelled_points = [each for each in points if each[0].extractor.kind is Standing.OURS or each in best]
        _plain(axes)
        axes.set_xscale("log")
        _label_points(axes, [(max(line.cpu_mean, 0.1), score.value, line) for line, score in labelled_points])
        axes.set_title(kinds[number] if number < len(kinds) else "", fontsize=9, color=INK)
    figure.supxlabel("CPU milliseconds a page (mean, log scale)", fontsize=9)
    figure.supylabel("ROUGE-5 F1, words", fontsize=9)
    return _png(figure)


def ranking(lines: Sequence[Line]) -> bytes:
    """Draw macro means with their intervals, best on top. Hollow markers are medians over pages."""
    figure, axes = _figure(8.5, 0.8 + 0.3 * len(lines))
    for place, line in enumerate(reversed(lines)):
        colour = COLOURS[line.extractor.kind]
        axes.plot(
            [line.macro.low, line.macro.high], [place, place], color=colour, linewidth=2.5, solid_capstyle="round"
        )
        axes.plot(line.macro.value, place, "o", color=colour, markersize=6)
        axes.plot(line.median, place, "o", markerfacecolor="white", markeredgecolor=colour, markersize=5)
    axes.set_yticks(range(len(lines)), [line.extractor.name for line in reversed(lines)])
    axes.set_xlabel("ROUGE-5 F1, words: macro mean with 95 % interval by site; hollow: median page")
    axes.set_ylim(-0.7, len(lines) - 0.3)
    return _png(figure)


def distributions(frame: ScoreTable, lines: Sequence[Line]) -> bytes:
    """Draw a small histogram of each extractor's page scores, in the order of the ranking."""
    columns = 6
    rows = -(-len(lines) // columns)
    figure, grid = import_extra("matplotlib.pyplot").subplots(
        rows, columns, figsize=(11, 1.5 * rows + 0.4), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for axes, line in zip(grid.flat, lines, strict=False):
        values = frame.loc[frame["extractor"] == line.extractor.name, MAIN]
        axes.hist(
            values,
            bins=np.linspace(0, 1, 21),
            color=COLOURS[line.extractor.kind],
            weights=np.full(len(values), 1 / len(values)),
        )
        axes.axvline(line.median, color=INK, linewidth=1)
        axes.set_title(line.extractor.name, fontsize=8, color=INK)
        _plain(axes)
        axes.set_yticks([])
        axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    for axes in list(grid.flat)[len(lines) :]:
        axes.set_visible(False)
    return _png(figure)


def by_complexity(table: ScoreTable, lines: Sequence[Line]) -> bytes:
    """Draw the mean quality on pages of low, medium and high complexity, with a line per
    extractor."""
    levels = [level for level in ("low", "medium", "high") if level in table]
    figure, axes = _figure(8.0, 5.2)
    ends = []
    for line in lines:
        values = table.loc[line.extractor.name, levels].to_numpy(float)
        kind = line.extractor.kind
        emphasis = kind in (Standing.OURS, Standing.BOUND)
        axes.plot(
            values,
            "o-",
            color=COLOURS[kind],
            linewidth=2.4 if emphasis else 1,
            markersize=4,
            alpha=1 if emphasis else 0.65,
        )
        ends.append((len(levels) - 1, values[-1], line))
    _label_points(axes, ends)
    axes.set_xticks(range(len(levels)), [f"{level} complexity" for level in levels])
    axes.set_xlim(-0.1, len(levels) - 1 + 0.55)
    axes.set_ylabel("ROUGE-5 F1, words (mean)")
    _legend(axes, {line.extractor.kind for line in lines})
    return _png(figure)


def likeness(table: ScoreTable) -> bytes:
    """Draw the similarity between the outputs of each pair of extractors, as a matrix."""
    size = 2.2 + 0.33 * len(table)
    figure, axes = _figure(size + 0.8, size)
    image = axes.imshow(table.to_numpy(float), cmap="YlGnBu", vmin=0.2, vmax=1)
    axes.set_xticks(range(len(table)), table.columns, rotation=60, ha="right", rotation_mode="anchor", fontsize=7)
    axes.set_yticks(range(len(table)), table.index, fontsize=7)
    for i, j in np.ndindex(table.shape):
        value = table.iat[i, j]
        axes.text(
            j, i, f"{100 * value:.0f}", ha="center", va="center", fontsize=5.5, color="white" if value > 0.7 else INK
        )
    figure.colorbar(image, shrink=0.6, label="ROUGE-5 F1 of one output against the other")
    axes.grid(False)
    return _png(figure)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    import_extra("matplotlib").use("Agg")
    figure, axes = import_extra("matplotlib.pyplot").subplots(figsize=(width, height), layout="constrained")
    _plain(axes)
    return figure, axes


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=8, length=0)
    axes.grid(True, color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)


def _label_points(axes: Any, points: Sequence[tuple[float, float, Line]]) -> None:
    """Write names beside points. Names that would overlap are moved down."""
    axes.figure.canvas.draw()
    places: list[tuple[float, float]] = []
    for x, y, line in sorted(points, key=lambda point: -point[1]):
        place = axes.transData.transform((x, y))
        shift = 0.0
        while any(abs(place[0] - px) < 95 and abs(place[1] + shift - py) < 11 for px, py in places):
            shift -= 3
        places.append((place[0], place[1] + shift))
        bold = "bold" if line.extractor.kind is Standing.OURS else "normal"
        axes.annotate(
            line.extractor.name, (x, y), (7, shift * 72 / axes.figure.dpi - 3), textcoords="offset points", fontsize=7,
            color=COLOURS[line.extractor.kind], fontweight=bold,
        )  # fmt: skip


def _legend(axes: Any, kinds: set[Standing]) -> None:
    handle = import_extra("matplotlib.lines").Line2D
    drawn_kinds = [kind for kind in COLOURS if kind in kinds]
    handles = [handle([], [], marker="o", linestyle="", color=COLOURS[kind], label=kind.value) for kind in drawn_kinds]
    axes.legend(handles=handles, fontsize=8, frameon=False, loc="lower left")


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, facecolor="white")
    import_extra("matplotlib.pyplot").close(figure)
    return buffer.getvalue()
