"""Titles, authors, dates and sites of pages of every kind, against labels.

    python benchmarks/metadata_kinds.py --data ../shared/data [--wrong]

The labels, `lib/dripper_lab/evaluation/metadata_labels.jsonl`, are of 403 pages of web-kinds,
web-kinds-more and web-kinds-2, of every kind; they name people only, and null where a page has
none. A field that is missing was left open. They have three parts:

- `corrected`: 98 pages. One reader changed what was wrong in this program's own output.
- `read`: 238 pages, labelled by language models that read the page's title, `meta` elements,
  headings, bylines and text, and no program's output. The rules were improved with both parts, so
  these figures flatter.
- `kept`: 67 pages, labelled in the same way, and not used to improve the rules.

Right is the same title but for case, blanks and punctuation, or another one that the reader would
take, too; the same set of authors; the same day, or the same year and month where either states no
more; the same site. Precision is over the values that are given.
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
PARTS = ("corrected", "read", "kept")
FIELDS = ("title", "authors", "published", "site")
LABELS = Path(dripper_lab.evaluation.__file__).with_name("metadata_labels.jsonl")


def main(argv: list[str]) -> int:
    """Print a line a field."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--wrong", action="store_true", help="print what is wrong")
    options = parser.parse_args(argv)
    labels = {row["id"]: row for row in map(json.loads, LABELS.read_text().splitlines())}
    counts: dict[str, Counter[tuple[str, str]]] = {part: Counter() for part in PARTS}
    for name in SETS:
        try:
            for page in read_pages(options.data, name):
                if page.id in labels:
                    told = (
                        preprocess_utf8(to_utf8(page.html, page.content_type)[0], url=page.url).metadata or Metadata()
                    )
                    count_right(counts[labels[page.id]["part"]], labels[page.id], told, options.wrong)
        except InputError as error:
            print(f"left out: {error}")
    for part, of_part in counts.items():
        for field in FIELDS:
            pages, given = of_part[field, "pages"], of_part[field, "given"]
            if pages:
                right, precise = of_part[field, "right"] / pages, of_part[field, "given and right"] / max(1, given)
                print(f"{part:9} {field:9} right {right:.3f} of {pages} pages, precision {precise:.3f} of {given}")
    return 0


def count_right(counts: Counter[tuple[str, str]], label: Mapping[str, Any], told: Metadata, prints: bool) -> None:
    """Count a page's fields: all, those given, those right."""
    values = {
        "title": _plain(told.title),
        "authors": sorted(filter(None, map(_plain, told.authors))),
        "published": (told.published or "")[:10] or None,
        "site": _plain(told.site),
    }
    wanted: dict[str, list[Any]] = {
        "title": [_plain(title) for title in (label.get("title"), *label.get("also", ()))],
        "authors": [sorted(filter(None, map(_plain, label.get("authors", ()))))],
        "published": _days(label.get("published"), values["published"]),
        "site": [_plain(label["site"])],
    }
    for field in FIELDS:
        if field not in label:
            continue
        is_right = values[field] in wanted[field]
        counts[field, "pages"] += 1
        counts[field, "right"] += is_right
        counts[field, "given"] += bool(values[field])
        counts[field, "given and right"] += bool(values[field]) and is_right
        if prints and not is_right:
            print(label["id"], field, values[field], wanted[field], sep="\t")


def _days(stated: str | None, told: Any) -> list[Any]:
    """Return the stated day, and the told one if one of them is the other's month or year."""
    is_part = stated and told and (stated.startswith(told) or told.startswith(stated))
    return [stated, told] if is_part else [stated]


def _plain(text: str | None) -> str | None:
    return re.sub(r"[\W_]+", "", text.casefold()) if text else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
