"""Writes the report: a self-contained HTML file, and its charts as PNG files in the same folder."""

import base64
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from dripper_lab.datasets import DATA_SETS, PageCounts, Role
from dripper_lab.evaluation.benchmarks.agreement import STUDY_VERSIONS, agreements
from dripper_lab.evaluation.benchmarks.pulpie import ARCHIVE, PublishedLine, published_lines, read_published
from dripper_lab.evaluation.benchmarks.study import findings, table_3
from dripper_lab.evaluation.benchmarks.wceb import OUR_SETS, PARTS, coverage
from dripper_lab.evaluation.extractors.base import MARKDOWN_TRUTHS, Contender, Standing
from dripper_lab.evaluation.report import charts
from dripper_lab.evaluation.report.worst import worst_pages
from dripper_lab.evaluation.results import (
    Line,
    ScoreTable,
    intervals_by,
    mean_similarities,
    means_by,
    overall,
    pages_by,
    read_scores,
    with_difficulty,
)
from dripper_lab.evaluation.run import RunSettings
from dripper_lab.evaluation.score_set import SetScoring
from dripper_lab.evaluation.statistics import Interval
from dripper_lab.extra import import_extra

BASELINE = "trafilatura"
MIN_PAGES = 10
"""Groups with fewer pages are not shown, because their means are meaningless."""

STRATUM_METRIC = "rouge5_jieba_f1"
"""The Dripper paper's metric, which is used for the groups of WebMainBench."""

OTHER_METRICS: Mapping[str, str] = {
    "rouge5_words_f1": "ROUGE-5, words",
    "rouge5_jieba_f1": "ROUGE-5, jieba (Dripper)",
    "rouge5_split_f1": "ROUGE-5, split (Pulpie)",
    "rouge_lsum_f1": "ROUGE-LSum (WCEB)",
    "levenshtein": "Levenshtein (WCEB)",
    "word_f1": "word F1 (WCXB)",
}


@dataclass(frozen=True, slots=True)
class Heat:
    """A table of means with a row per extractor and a column per group of pages, and the number of
    pages in each group."""

    columns: Sequence[str]
    pages: Mapping[str, int]
    rows: Sequence[tuple[Contender, Sequence[float | None]]]

    def shade(self, column: int, value: float | None) -> float:
        """Return the position of a value between the lowest and highest value in its column, 0 to
        1. Bounds are ignored."""
        values = [row[column] for one, row in self.rows if one.kind is not Standing.BOUND]
        numbers = [other for other in values if other is not None]
        if value is None or not numbers or max(numbers) == min(numbers):
            return 0.0
        return min(1.0, max(0.0, (value - min(numbers)) / (max(numbers) - min(numbers))))


@dataclass(frozen=True, slots=True)
class KindTable:
    """Quality by kind of page, and cost, with a row per extractor, best first."""

    columns: Sequence[str]
    pages: Mapping[str, int]
    rows: Sequence[tuple[Line, Sequence[Interval | None]]]


def write_report(settings: RunSettings, jobs: Sequence[SetScoring], folder: Path) -> Path:
    """Write `report.html` and its PNG files to `folder`. Return the path of the HTML file."""
    folder.mkdir(parents=True, exist_ok=True)
    context, pictures = _context(settings, jobs)
    for name, picture in pictures.items():
        (folder / f"{name}.png").write_bytes(picture)
    environment = import_extra("jinja2").Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(
        files("dripper_lab.evaluation.report").joinpath("report.html.j2").read_text(encoding="utf-8")
    )
    inline = {name: base64.b64encode(picture).decode() for name, picture in pictures.items()}
    path = folder / "report.html"
    html = template.render(**context, pictures=inline)
    path.write_text(html.encode("utf-8", "replace").decode(), encoding="utf-8")
    return path


def _context(settings: RunSettings, jobs: Sequence[SetScoring]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the values for the template, and the charts, keyed by name."""
    frame = read_scores(jobs)
    extractors = [one for one in settings.everyone() if one.kind is not Standing.WCEB]
    counted = frame[frame["data_set"].map(_is_counted)]
    if counted.empty:
        counted = frame  # only training sets were requested; the report says so
    lines = overall(counted, extractors, BASELINE)
    order = [line.extractor for line in lines]
    names = [one.name for one in order]
    similar = mean_similarities([job for job in jobs if _is_counted(job.data_set)] or jobs, names)
    stated = _that_state_a_kind(counted, frame)
    kinds = _kinds(stated, lines)
    context = {
        "lines": lines,
        "baseline": BASELINE,
        "kinds": {kind: charts.COLOURS[kind] for kind in Standing},
        "sets": [_set_row(settings, job, frame) for job in jobs],
        "by_set": _heat(frame, "data_set", order),
        "by_language": _heat(frame, "language", order),
        "by_type": _heat(stated, "page_type", order),
        "kinds_and_cost": kinds,
        "kinds_seen": not stated["data_set"].map(_is_counted).all(),
        "min_pages": MIN_PAGES,
        "by_level": _heat(counted, "level", order, ["low", "medium", "high"]),
        "by_difficulty": _heat(with_difficulty(counted), "difficulty", order, ["simple", "mid", "hard"]),
        "by_stratum": _strata(frame, order),
        "published": _read_published(settings.source.data),
        "metrics": _metrics(counted, order),
        "trained_on": [job.data_set for job in jobs if not _is_counted(job.data_set)],
        "worst": worst_pages(counted, jobs, names),
        "sample": settings.source.sample,
        "n_pages": len(counted.drop_duplicates(["data_set", "id"])),
        "n_hosts": counted["host"].nunique(),
        "machine": _machine(),
        "created": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        **_study(settings, frame, extractors),
    }
    return context, _draw_pictures(lines, counted, similar, kinds)


def _draw_pictures(
    lines: Sequence[Line], counted: ScoreTable, similar: ScoreTable, kinds: KindTable
) -> dict[str, bytes]:
    pictures = {
        "quality-and-cost": charts.quality_and_cost(lines),
        "ranking": charts.ranking(lines),
        "distributions": charts.distributions(counted, lines),
        "complexity": charts.by_complexity(means_by(counted, "level"), lines),
        "likeness": charts.likeness(similar),
    }
    if kinds.columns:
        pictures["kinds-and-cost"] = charts.kinds_and_cost(kinds.columns, kinds.rows)
    return pictures


def _study(settings: RunSettings, frame: ScoreTable, extractors: Sequence[Contender]) -> dict[str, Any]:
    """Return the comparison with the SIGIR'23 study. The lists are empty if the study's scores or
    pages are missing."""
    reference = settings.reference
    if reference is None or "wceb_f1" not in frame or not frame["is_wceb"].any():
        return {"agreements": [], "table_3": [], "findings": [], "missing_parts": []}
    here = dict.fromkeys(PARTS, 0)
    for name, ids in reference.ids.items():
        here[OUR_SETS[name]] = len(ids) if name in settings.sets else 0
    return {
        "agreements": agreements(frame, reference),
        "study_versions": STUDY_VERSIONS,
        "versions": {one.name: one.version for one in settings.extractors},
        "table_3": table_3(frame, reference),
        "findings": findings(frame, extractors),
        "missing_parts": coverage(here),
    }


def _is_counted(data_set: str) -> bool:
    """Return whether a set counts in overall results. Sets for training do not."""
    entry = DATA_SETS.get(data_set)
    return entry is None or entry.role in (Role.EVALUATION, Role.FORMAT_SAMPLE)


def _heat(frame: ScoreTable, column: str, order: Sequence[Contender], columns: Sequence[str] | None = None) -> Heat:
    pages = {str(key): count for key, count in pages_by(frame, column).items() if count >= MIN_PAGES}
    columns = [name for name in (columns or list(pages)) if name in pages]
    table = means_by(frame, column)
    rows = [(one, [_cell(table, one.name, name) for name in columns]) for one in order if one.name in table.index]
    return Heat(columns, pages, rows)


def _strata(frame: ScoreTable, order: Sequence[Contender]) -> Heat:
    """Return the table of WebMainBench as its authors report it. It shows their metric over all
    pages and over the groups that the records declare, including small groups."""
    rows = frame[frame["data_set"].isin(MARKDOWN_TRUTHS)]
    if rows.empty or STRATUM_METRIC not in rows:
        return Heat([], {}, [])
    grouped = rows.assign(strata=[["all", *groups] for groups in rows["strata"]]).explode("strata")
    pages = grouped.drop_duplicates(["data_set", "id", "strata"])["strata"].value_counts().to_dict()
    table = means_by(grouped, "strata", STRATUM_METRIC)
    extractors = [one for one in order if one.name in table.index]
    return Heat(list(pages), pages, [(one, [_cell(table, one.name, name) for name in pages]) for one in extractors])


def _read_published(data: Path) -> list[PublishedLine]:
    """Return Pulpie's published scores, or an empty list if they are not in the data folder."""
    return published_lines(read_published(data)) if (data / ARCHIVE).exists() else []


def _that_state_a_kind(counted: ScoreTable, frame: ScoreTable) -> ScoreTable:
    """Return the rows of pages with a declared kind. Only sets that no model was trained on are
    used, or all sets if those declare no kind."""
    stated = counted[counted["page_type"].notna()]
    return frame[frame["page_type"].notna()] if stated.empty else stated


def _kinds(stated: ScoreTable, lines: Sequence[Line]) -> KindTable:
    pages = {str(kind): count for kind, count in pages_by(stated, "page_type").items() if count >= MIN_PAGES}
    intervals = intervals_by(stated, "page_type", list(pages))
    rows = [(line, [intervals.get(line.extractor.name, {}).get(kind) for kind in pages]) for line in lines]
    return KindTable(list(pages), pages, rows)


def _cell(table: ScoreTable, row: str, column: str) -> float | None:
    value = float(table.at[row, column]) if column in table else float("nan")
    return None if value != value else value


def _metrics(frame: ScoreTable, order: Sequence[Contender]) -> Heat:
    columns = [column for column in OTHER_METRICS if column in frame]
    macro = frame.groupby(["extractor", "data_set"])[columns].mean().groupby("extractor").mean()
    rows = [(one, [_cell(macro, one.name, column) for column in columns]) for one in order]
    return Heat([OTHER_METRICS[column] for column in columns], {}, rows)


def _set_row(settings: RunSettings, job: SetScoring, frame: ScoreTable) -> dict[str, Any]:
    counts: PageCounts = settings.source.counts(job.data_set)
    rows = frame[frame["data_set"] == job.data_set].drop_duplicates("id")
    entry = DATA_SETS.get(job.data_set)
    return {
        "name": job.data_set,
        "counts": counts,
        "used": len(rows),
        "hosts": rows["host"].nunique(),
        "role": entry.role.value if entry else "not stated",
        "licence": entry.licence if entry else "not stated",
    }


def _machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
