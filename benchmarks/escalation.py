"""Measures the quality of a chain of labelers, by the fraction of pages that are passed on to the
second labeler (docs/escalation.md).

python benchmarks/escalation.py --data ../shared/data [--sets l3s-gn1 dragnet] [--sample 200]
    [--second trafilatura]

Each page is labelled by `cpu` and by each second labeler (--second). The pages to pass on are
chosen in three ways: by lowest `cpu` confidence, by chance, and by greatest gain, which is unknown
in practice. Using the ground truth as second labeler gives the upper bound. The figure is the F1
over words of a page's blocks, as a mean over pages. Sets on which `cpu` was trained show its
quality on pages it has seen.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dripper.labels import Labeler, Labels, load
from dripper_lab.datasets import LabelledPage, read_pages
from dripper_lab.truth import Truth, split_pages

SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
WAYS = ("confidence", "chance", "best")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one page: the F1 and confidence of the first labeler, and the F1 of each second
    labeler."""

    group: str
    first: float
    confidence: float
    second: Mapping[str, float]


def scored(pages: Iterator[LabelledPage], first: Labeler, seconds: Sequence[Labeler]) -> Iterator[Scored]:
    """Yield the scores of each page that can be split and has a ground truth."""
    for labelled, page in split_pages(pages):
        truth = Truth.of([block.text for block in page.blocks], labelled)
        if not page.blocks or not truth.truth_words:
            continue
        labels = first.label([page])[0]
        second = {each.name: truth.f1(_used(each.label([page])[0], labels)) for each in seconds}
        group = f"{labelled.data_set} {labelled.page_type}" if labelled.page_type else labelled.data_set
        yield Scored(group, truth.f1(labels.main), labels.confidence, {"truth": truth.f1(truth.main), **second})


def _used(answer: Labels, before: Labels) -> npt.NDArray[np.bool_]:
    """Return the labels that a chain would use: those in `answer`, or those in `before` if `answer`
    marks nothing as main."""
    return answer.main if answer.main.any() else before.main


def curve(pages: Sequence[Scored], second: str, way: str) -> list[float]:
    """Return the mean F1 if each fraction in SHARES of the pages is passed on."""
    first = np.array([page.first for page in pages])
    gain = np.array([page.second[second] for page in pages]) - first
    if way == "chance":
        return [float(first.mean() + share * gain.mean()) for share in SHARES]
    order = np.argsort([page.confidence for page in pages] if way == "confidence" else -gain, kind="stable")
    gained = np.concatenate([[0.0], np.cumsum(gain[order])])
    return [float((first.sum() + gained[round(share * len(pages))]) / len(pages)) for share in SHARES]


def table(title: str, pages: Sequence[Scored], seconds: Sequence[str]) -> list[str]:
    """Return a Markdown row for each second labeler and way of choosing pages."""
    lines = []
    for second in seconds:
        for way in WAYS:
            values = " | ".join(f"{value:.3f}" for value in curve(pages, second, way))
            lines.append(f"| {title} | {len(pages)} | {second} | {way} | {values} |")
    return lines


def below(pages: Sequence[Scored]) -> list[str]:
    """Return a Markdown table with a row per confidence threshold: the fraction of pages below, and
    the first labeler's F1 below and above."""
    confidence, first = (np.array([getattr(page, name) for page in pages]) for name in ("confidence", "first"))
    lines = ["| below | share | F1 below | F1 above |", "|---|---|---|---|"]
    for threshold in (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9):
        under = confidence < threshold
        parts = (f"{first[side].mean():.3f}" if side.any() else "" for side in (under, ~under))
        lines.append(f"| {threshold} | {under.mean():.1%} | {' | '.join(parts)} |")
    return lines


def main(argv: Sequence[str]) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["l3s-gn1", "dragnet", "cleaneval-en", "wcxb-dev"])
    parser.add_argument("--sample", type=int, help="at most so many pages of each set")
    parser.add_argument("--split", default="", help="only pages of this split, where a set has splits")
    parser.add_argument("--second", nargs="*", default=["trafilatura"], help="labelers of the registry")
    parser.add_argument("--out", type=Path, help="the scores of the pages as JSON")
    arguments = parser.parse_args(argv)
    first, seconds = load("cpu"), [load(name) for name in arguments.second]
    pages: list[Scored] = []
    for name in arguments.sets:
        found = read_pages(arguments.data, name, sample=arguments.sample)
        wanted = (page for page in found if page.more.get("split", arguments.split) in (arguments.split, ""))
        pages += scored(wanted if arguments.split else found, first, seconds)
        print(f"{name}: {len(pages)} pages so far", file=sys.stderr, flush=True)
    if arguments.out:
        told = [[page.group, page.first, page.confidence, dict(page.second)] for page in pages]
        arguments.out.write_text(json.dumps(told))
    print("\n".join(report(pages, ["truth", *arguments.second])))
    return 0


def report(pages: Sequence[Scored], seconds: Sequence[str]) -> list[str]:
    """Return the tables by data set and kind of page, as lines."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for page in pages:
        for name in {page.group, page.group.partition(" ")[0]}:
            groups[name].append(page)
    head = ["pages", "n", "second", "chosen by", *(f"{share:.0%}" for share in SHARES)]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for group in sorted(groups):
        if len(groups[group]) >= 10:
            lines += table(group, groups[group], seconds)
    for group in sorted({page.group.partition(" ")[0] for page in pages}):
        lines += ["", group, "", *below(groups[group])]
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
