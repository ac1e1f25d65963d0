"""Scores our metadata against labels, and compares quality and CPU time with Trafilatura and
htmldate.

    python benchmarks/metadata.py --data ../shared/data --labels LABELS [--sets a,b]
        [--wrong published]

LABELS is a folder with label files from the repositories of the data sets (each META.json names the
commit): `wcxb-dev/` dev/ground-truth/*.json, `fundus/` tests/resources/parser/test_data/**/*.json,
and `article-extraction-dataset/articles.json`.

A value is right if it is the same calendar day, the same set of authors or the same title, ignoring
case, white space and punctuation. A site's name is right if it contains the name of fundus's
publisher, or the reverse; only fundus labels sites. Only pages with a label count. A cell `a of b`
means that the extractor returns a value for the fraction b of these pages, and a right value for
the fraction a. Our time excludes parsing, which extraction needs anyway; the others receive text
and parse it.
"""

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import trafilatura
from htmldate import find_date

from dripper.decode.charset import to_utf8
from dripper.errors import PageError
from dripper.facts.metadata import Metadata, read_metadata
from dripper.html import preprocess_utf8
from dripper.tree.head import HEAD, read_head
from dripper.tree.parser import Reading, parse_document
from dripper_lab.datasets import LabelledPage, read_pages

SETS = ("wcxb-dev", "fundus", "article-extraction-dataset")
FIELDS = ("published", "authors", "title", "site")


class Label(NamedTuple):
    """The labels of a page; None means no label."""

    published: str | None = None
    authors: frozenset[str] | None = None
    title: str | None = None
    site: str | None = None


def main(argv: list[str]) -> int:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--pages", type=int, help="that many of each set, evenly drawn")
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--wrong", choices=FIELDS, help="print where ours is wrong")
    options = parser.parse_args(argv)
    for name in options.sets.split(","):
        _score_set(name, options)
    return 0


def _score_set(name: str, options: argparse.Namespace) -> None:
    labels = LABELS[name](options.labels / name)
    right, found, seconds, labelled = Counter[Any](), Counter[Any](), Counter[str](), Counter[str]()
    pages = 0
    extractors = {"dripper": _ours} if options.only_ours else EXTRACTORS
    for page in read_pages(options.data, name, sample=options.pages):
        label = labels(page)
        if label is None:
            continue
        pages += 1
        labelled.update(field for field in FIELDS if getattr(label, field))
        utf8 = to_utf8(page.html, page.content_type)[0]
        for extractor, extract in extractors.items():
            told, taken = extract(utf8, page.url)
            seconds[extractor] += taken
            for field in FIELDS:
                if getattr(label, field) and _told(told, field):
                    found[extractor, field] += 1
                    is_right = _is_right(field, getattr(label, field), _told(told, field))
                    right[extractor, field] += is_right
                    if not is_right and extractor == "dripper" and options.wrong == field:
                        print(page.id, repr(getattr(label, field)), repr(_told(told, field)), sep="\t")
                elif getattr(label, field) and extractor == "dripper" and options.wrong == field:
                    print(page.id, repr(getattr(label, field)), None, sep="\t")
    print(f"\n{name}, {pages} pages\n| | " + " | ".join(f"{field} ({labelled[field]})" for field in FIELDS) + " | ms |")
    for extractor in extractors:
        cells = [
            f"{right[extractor, field] / labelled[field]:.3f} of {found[extractor, field] / labelled[field]:.3f}"
            if labelled[field] and found[extractor, field]
            else ""
            for field in FIELDS
        ]
        print(f"| {extractor} | {' | '.join(cells)} | {1000 * seconds[extractor] / pages:.2f} |")


def _told(metadata: Metadata, field: str) -> Any:
    """Return an extractor's value for a field. If no person is named as author, organisations count
    as authors."""
    return getattr(metadata, field) or (metadata.organisations if field == "authors" else None)


def _is_right(field: str, label: Any, told: Any) -> bool:
    if field == "published":
        return bool(told[:10] == label)
    if field == "authors":
        return _people(told) == _people(label)
    if field == "site":
        one, other = _plain(label), _plain(told)
        return one in other or other in one
    return _plain(label) == _plain(told)


def _people(names: Iterable[str]) -> set[str]:
    """Return the names in `names`, normalized. A string may contain several names."""
    return {name for text in names for part in re.split(r",|;|&|\band\b", text) if (name := _plain(part))}


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _ours(utf8: bytes, url: str | None) -> tuple[Metadata, float]:
    try:
        page = preprocess_utf8(utf8, reading=Reading(url))
    except PageError:
        return Metadata(), 0.0
    nodes = parse_document(utf8).css(HEAD)
    start = time.process_time()
    read_metadata(read_head(nodes), page.elements, page.title)
    return page.metadata or Metadata(), time.process_time() - start


def _trafilatura(utf8: bytes, url: str | None) -> tuple[Metadata, float]:
    text, start = utf8.decode(), time.process_time()
    told = trafilatura.extract_metadata(text, default_url=url)
    taken = time.process_time() - start
    if told is None:
        return Metadata(), taken
    authors = tuple(name.strip() for name in (told.author or "").split(";") if name.strip())
    return Metadata(title=told.title, authors=authors, published=told.date, site=told.sitename), taken


def _htmldate(utf8: bytes, url: str | None) -> tuple[Metadata, float]:
    text, start = utf8.decode(), time.process_time()
    try:
        day = find_date(text, url=url, original_date=True)
    except Exception:  # a page that htmldate cannot read counts as a page without a date
        day = None
    return Metadata(published=day), time.process_time() - start


EXTRACTORS: dict[str, Callable[[bytes, str | None], tuple[Metadata, float]]] = {
    "dripper": _ours,
    "trafilatura": _trafilatura,
    "htmldate": _htmldate,
}


def _wcxb(folder: Path) -> Callable[[LabelledPage], Label | None]:
    def label(page: LabelledPage) -> Label | None:
        told = json.loads((folder / f"{page.id.removeprefix('dev-')}.json").read_text())["ground_truth"]
        return Label(_day(told.get("publish_date")), _names([told.get("author") or ""]), told.get("title"))

    return label


def _articles(folder: Path) -> Callable[[LabelledPage], Label | None]:
    told = json.loads((folder / "articles.json").read_text())

    def label(page: LabelledPage) -> Label | None:
        row = told[page.id]
        return Label(_day(row["date"]), _names(row["authors"].strip(" |").split(",")), row["title"])

    return label


def _fundus(folder: Path) -> Callable[[LabelledPage], Label | None]:
    told = {(publisher, row.get("title")): row for publisher, row in _versions(folder)}

    def label(page: LabelledPage) -> Label | None:
        publisher = page.id.partition("-")[2].partition("_")[0]
        row = told.get((publisher, page.more.get("title")))
        if row is None:
            return None
        return Label(_day(row.get("publishing_date")), _names(row.get("authors") or []), row.get("title"), publisher)

    return label


def _versions(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted(folder.rglob("*.json")):
        for row in json.loads(file.read_text()).values():
            if isinstance(row, dict):
                yield file.stem, row


def _day(text: str | None) -> str | None:
    return text[:10] if text and re.match(r"\d{4}-\d\d-\d\d", text) else None


def _names(names: list[str]) -> frozenset[str] | None:
    return frozenset(name.strip() for name in names if name.strip()) or None


LABELS = {"wcxb-dev": _wcxb, "fundus": _fundus, "article-extraction-dataset": _articles}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
