"""Titles, authors, dates and sites of pages of every kind, against labels that correct what this
program read.

    python benchmarks/metadata_kinds.py --data ../shared/data [--wrong]

The labels, `lib/dripper_lab/evaluation/metadata_labels.jsonl`, are of 98 pages of web-kinds,
web-kinds-more and web-kinds-2, ten of each kind; they name people only, and null where a page has
none. A field that is missing was left open. One reader went through what the program read beside
the page's headings, `meta` elements, bylines and the start of its text, and changed what was wrong;
rules were then mended by these pages. So the figures flatter, and that of the site, which nobody
looked up elsewhere, says nothing but that it does not change. Right is the same title but for case,
blanks and punctuation, the same set of authors, the same day, the same site. Precision is over the
values that are given.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dripper_lab.evaluation
from dripper.errors import InputError
from dripper.html import preprocess_utf8
from dripper.html.metadata import Metadata
from dripper.warc import to_utf8
from dripper_lab.datasets import read_pages

SETS = ("web-kinds", "web-kinds-more", "web-kinds-2")
FIELDS = ("title", "authors", "published", "site")
LABELS = Path(dripper_lab.evaluation.__file__).with_name("metadata_labels.jsonl")


def main(argv: list[str]) -> int:
    """Print a line a field."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--wrong", action="store_true", help="print what is wrong")
    options = parser.parse_args(argv)
    labels = {row["id"]: row for row in map(json.loads, LABELS.read_text().splitlines())}
    counts = Counter[tuple[str, str]]()
    for name in SETS:
        try:
            for page in read_pages(options.data, name):
                if page.id in labels:
                    told = preprocess_utf8(to_utf8(page.html, page.content_type)[0]).metadata or Metadata()
                    count_right(counts, labels[page.id], told, options.wrong)
        except InputError as error:
            print(f"left out: {error}")
    for field in FIELDS:
        pages, given = counts[field, "pages"], counts[field, "given"]
        if pages:
            right, precise = counts[field, "right"] / pages, counts[field, "given and right"] / max(1, given)
            print(f"{field:10} right {right:.3f} of {pages} pages, precision {precise:.3f} of {given}")
    return 0


def count_right(counts: Counter[tuple[str, str]], label: Mapping[str, Any], told: Metadata, prints: bool) -> None:
    """Count a page's fields: all, those given, those right."""
    values = {
        "title": _plain(told.title),
        "authors": sorted(told.authors),
        "published": (told.published or "")[:10] or None,
        "site": told.site,
    }
    wanted = {**label, "title": _plain(label.get("title")), "authors": sorted(label.get("authors", ()))}
    for field in FIELDS:
        if field not in label:
            continue
        is_right = values[field] == wanted[field]
        counts[field, "pages"] += 1
        counts[field, "right"] += is_right
        counts[field, "given"] += bool(values[field])
        counts[field, "given and right"] += bool(values[field]) and is_right
        if prints and not is_right:
            print(label["id"], field, values[field], wanted[field], sep="\t")


def _plain(text: str | None) -> str | None:
    return re.sub(r"[\W_]+", "", text.casefold()) if text else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
