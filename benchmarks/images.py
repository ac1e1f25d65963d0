"""Scores images and captions in our main content, and compares with Trafilatura (with images) and
readability-lxml.

    python benchmarks/images.py --data ../shared/data [--half choosing|judging|both]

`dripper_lab.evaluation.images` explains how images and captions are counted.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import trafilatura
from readability import Document  # type: ignore[import-untyped]

import dripper
from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.images import ADDRESS, HALVES, f1_of, read_shown


def main(argv: list[str]) -> int:
    """Print a table of precision, recall and F1 with a row per extractor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=(*HALVES, "both"), default="judging")
    options = parser.parse_args(argv)
    counts = {name: Counter[str]() for name in EXTRACTORS}
    pages = 0
    for page, truth in read_shown(options.data, *(HALVES if options.half == "both" else [options.half])):
        pages += 1
        for name, extract in EXTRACTORS.items():
            counts[name].update(truth.count(extract(page)))
    every = next(iter(counts.values()))
    print(f"{pages} pages, {every['images']} images, {every['captions']} captions; half: {options.half}\n")
    print("| | precision | recall | F1 | captions | of figures found |\n|---|---|---|---|---|---|")
    for name, count in counts.items():
        precision, recall, f1 = f1_of(count)
        share = count["told"] / max(1, count["captions"])
        captioned = f"{count['captioned']} of {count['figures']}"
        print(f"| {name} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {share:.3f} | {captioned} |")
    return 0


def _ours(page: LabelledPage) -> str:
    return dripper.extract(page.html, url=ADDRESS).main_html


def _trafilatura(page: LabelledPage) -> str:
    markup = trafilatura.extract(page.html, url=ADDRESS, include_images=True, output_format="xml") or ""
    return markup.replace("<graphic", "<img")


def _readability(page: LabelledPage) -> str:
    return str(Document(page.html.decode("utf-8", "replace"), url=ADDRESS).summary(html_partial=True))


EXTRACTORS: dict[str, Callable[[LabelledPage], str]] = {
    "dripper": _ours,
    "trafilatura with images": _trafilatura,
    "readability-lxml": _readability,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
