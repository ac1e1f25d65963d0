"""Draws random pages of every kind, and writes each page beside its extraction, for manual
inspection.

    python benchmarks/reading.py --data ../shared/data --out /tmp/reading [--seed 44]
        [--browser chromium]

Each page gets a folder with `page.html`, `screen.png` (with --browser; without network, and thus
without external style sheets), `main.md` (the Markdown) and `rest.json` (metadata, posts, images,
kind, confidence). The pages come from training sets, never from evaluation sets. The seed and the
available sets determine the pages. The labeler is `cpu`.
"""

import argparse
import dataclasses
import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import dripper
from dripper_lab.datasets import LabelledPage, Role, detect_language, names_with, read_pages

PAGES_OF: Mapping[str, int] = {
    "article": 9,
    "listing": 8,
    "product": 8,
    "forum": 8,
    "form": 6,
    "recipe": 6,
    "documentation": 6,
    "service": 4,
    "collection": 3,
    "other": 2,
}
"""The number of pages to draw of each kind. Half of them are in languages other than English."""


def main(argv: Sequence[str]) -> int:
    """Draw the pages, and write their folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=44)
    parser.add_argument("--browser", help="a Chromium that takes pictures; none without it")
    options = parser.parse_args(argv)
    for page in draw(options.data, options.seed):
        folder = options.out / f"{page.page_type}-{page.data_set}-{page.id}"
        write_page(page, folder)
        if options.browser:
            take_picture(options.browser, folder)
    return 0


def draw(data: Path, seed: int) -> Iterator[LabelledPage]:
    """Yield the pages drawn, kind by kind."""
    pages_of = defaultdict(list)
    for name in names_with(Role.TRAIN_SHIPS, folder=data):
        for page in read_pages(data, name):
            pages_of[page.page_type, detect_language(page) == "en"].append(page)
    for kind, count in PAGES_OF.items():
        for is_english in (False, True):
            pages = sorted(pages_of[kind, is_english], key=lambda page: (page.data_set, page.id))
            random.Random(seed).shuffle(pages)
            yield from pages[: (count + is_english) // 2]


def write_page(page: LabelledPage, folder: Path) -> None:
    """Write a page and its extraction."""
    found = dripper.extract(page.html, page.url)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "page.html").write_bytes(page.html)
    (folder / "main.md").write_text(found.markdown or "", encoding="utf-8")
    rest = dataclasses.asdict(found)
    for name in ("markdown", "main_html"):
        rest.pop(name, None)
    (folder / "rest.json").write_text(json.dumps({"url": page.url} | rest, ensure_ascii=False, indent=1, default=str))


def take_picture(browser: str, folder: Path) -> None:
    """Save a screenshot of the page with a headless browser."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,8000"]
    offline = ["--host-resolver-rules=MAP * ~NOTFOUND", "--timeout=8000"]
    target, page = folder / "screen.png", folder / "page.html"
    subprocess.run([browser, *options, *offline, f"--screenshot={target}", page.as_uri()], timeout=120, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
