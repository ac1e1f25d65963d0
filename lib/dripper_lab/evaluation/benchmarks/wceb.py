"""Reads WCEB, the combined benchmark of the SIGIR'23 study: pages and ground truth from our data
sets, and published scores."""

import csv
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dripper.errors import InputError
from dripper_lab.datasets import LabelledPage

PARTS: Mapping[str, int] = {
    "cetd": 700,
    "cleaneval": 738,
    "cleanportaleval": 71,
    "dragnet": 1379,
    "google-trends-2017": 180,
    "l3s-gn1": 621,
    "readability": 115,
    "scrapinghub": 181,
}
"""The parts of the study and their page counts (its Table 1)."""

OUR_SETS: Mapping[str, str] = {
    "cleaneval-en": "cleaneval",
    "cleanportaleval": "cleanportaleval",
    "dragnet": "dragnet",
    "l3s-gn1": "l3s-gn1",
    "readability": "readability",
    "scrapinghub": "scrapinghub",
}


@dataclass(frozen=True, slots=True)
class Reference:
    """Published scores of another group, which reran the study's extractors on WCEB. Over all eight
    parts, the scores reproduce the means and medians in the study's Table 3 (`test_study`)."""

    ids: Mapping[str, Mapping[str, str]]
    """Our set → our page id → the published page id."""
    f1: Mapping[tuple[str, str], Mapping[str, float]]
    """(part, extractor) → published page id → ROUGE-LSum F1."""

    def published(self, page: LabelledPage, extractor: str) -> float | None:
        """Return the published F1 of an extractor on one of our pages, or None."""
        their_id = self.ids.get(page.data_set, {}).get(page.id)
        part = OUR_SETS.get(page.data_set, "")
        return self.f1.get((part, extractor), {}).get(their_id or "")

    def extractors(self) -> list[str]:
        """Return the sorted names of the published extractors."""
        return sorted({extractor for _, extractor in self.f1})


def is_part(page: LabelledPage, reference: Reference) -> bool:
    """Return whether a page belongs to WCEB."""
    return page.id in reference.ids.get(page.data_set, {})


def truth_of(page: LabelledPage) -> str:
    """Return a page's ground truth as in WCEB. For dragnet, it includes comments; for l3s-gn1, it
    follows WCEB's own rule."""
    if page.data_set == "dragnet" and (comments := page.more.get("truth_comments")):
        # WCEB's files contain dragnet's separator between text and comments.
        return f"{page.truth_text}\n!@#$%^&*()\n{comments}"
    return str(page.more.get("truth_text_wceb") or page.truth_text)


def coverage(pages_here: Mapping[str, int]) -> list[str]:
    """Return a sentence for each part of WCEB that is incomplete here.

    Args:
        pages_here: Part → number of available pages.
    """
    return [
        f"{part}: {pages_here.get(part, 0)} of {pages} pages"
        for part, pages in PARTS.items()
        if pages_here.get(part, 0) != pages
    ]


def read_reference(folder: Path) -> Reference:
    """Read `wceb_reference.tar.xz` in a data folder. Raises InputError if it is missing or
    malformed."""
    archive = folder / "wceb_reference.tar.xz"
    ids: dict[str, dict[str, str]] = {}
    f1: dict[tuple[str, str], dict[str, float]] = {}
    try:
        for name, text in _files(archive):
            if name.endswith("wceb_page_ids_to_normalized.json"):
                ids = {
                    data_set: {own: their_id for their_id, own in pairs.items()}
                    for data_set, pairs in json.loads(text).items()
                }
            elif "__rouge_" in name and name.endswith(".csv"):
                for row in csv.DictReader(io.StringIO(text)):
                    f1.setdefault((row["dataset"], row["model"]), {})[row["hash_key"]] = float(row["f1"])
    except (OSError, EOFError, tarfile.TarError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"{archive} cannot be read: {error!r}") from error
    if not ids or not f1:
        raise InputError(f"{archive} holds no page ids or no scores")
    return Reference(ids, f1)


def _files(archive: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(archive, "r:xz") as tar:
        for member in tar:
            stream = tar.extractfile(member)
            if stream is not None:
                yield member.name, stream.read().decode()
