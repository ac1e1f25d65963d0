"""Marks rows of a data set as `bad`, with a reason, if training works better without them.

The paper (4.1) removes pages without main content. This filter also removes pages on which
annotators disagree or are unsure. Marked rows stay in the data set, but `dripper_lab.datasets`
never yields them.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dripper.blocks.page import Page
from dripper.errors import InputError, PageError
from dripper.labels import Labeler
from dripper_lab.annotation.agreement import Agreement, agree
from dripper_lab.annotation.answers import from_ranges
from dripper_lab.annotation.importing import NO_MAIN
from dripper_lab.annotation.sources import page_of_row, read_rows, split_known, split_page
from dripper_lab.datasets import LabelledPage

DISAGREE, UNSURE, DOUBTED = "low agreement", "annotator unsure", f"{NO_MAIN}, but the labeler is sure"
OTHERWISE = "labelled otherwise"
_OURS = (DISAGREE, UNSURE, NO_MAIN, OTHERWISE)


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions that a row must meet to be kept."""

    least_agreement: float = 0.8
    """The minimum F1 over words between two annotators, if there are two."""
    least_sure: int = 2
    """The minimum certainty of the annotator."""
    labeler: Labeler | None = None
    """Checks pages without main content. If this labeler is confident that the page has main
    content, the annotation is doubtful. None disables the check."""
    least_confidence: float = 0.85
    """The minimum confidence at which the labeler counts as confident."""
    least_shared: float = 0.0
    """The minimum fraction of a page's blocks on which labeler and annotator agree; 0 disables the
    check. It removes wrong annotations, but also pages that are hard for the labeler."""

    def reason(self, row: Mapping[str, Any], folder: Path) -> str | None:
        """Return the reason for leaving out a row, or None to keep it."""
        if not row.get("truth_text"):
            return self._of_empty(page_of_row(folder, row))
        sure = row.get("sure")
        if isinstance(sure, int) and sure < self.least_sure:
            return f"{UNSURE} (sure {sure})"
        agreement = agreement_of(row, folder)
        if agreement is not None and agreement.words < self.least_agreement:
            return f"{DISAGREE} ({agreement.words:.2f})"
        if self.labeler is not None and self.least_shared > 0 and "main_blocks" in row:
            shared = _compare_with(self.labeler, row, folder)
            if shared < self.least_shared:
                return f"{OTHERWISE} ({shared:.2f})"
        return None

    def _of_empty(self, labelled: LabelledPage) -> str:
        if self.labeler is not None:
            try:
                (labels,) = self.labeler.label([split_page(labelled)])
            except PageError:
                return NO_MAIN
            if labels.main.any() and labels.confidence >= self.least_confidence:
                return f"{DOUBTED} ({labels.confidence:.2f})"
        return NO_MAIN


def filter_data_set(folder: Path, by: Filter) -> tuple[int, Counter[str]]:
    """Mark the rows in a data set's truth.jsonl. Return the number of kept rows, and the number of
    other rows by reason.

    Marks of an earlier filter are removed first. Other `bad` reasons and `duplicate` are kept.
    Raises InputError if the data set is invalid.
    """
    rows = read_rows(_truth(folder))
    left_out: Counter[str] = Counter()
    for row in rows:
        if str(row.get("bad") or "").startswith(_OURS):
            del row["bad"]
        reason = row.get("bad") or ("duplicate" if row.get("duplicate") else by.reason(row, folder))
        if reason:
            left_out[str(reason).partition(" (")[0]] += 1
            if reason != "duplicate":
                row["bad"] = reason
    _replace(_truth(folder), "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return len(rows) - left_out.total(), left_out


def agreements(folder: Path) -> Iterator[Agreement]:
    """Yield the agreement of the annotators on each page with two annotators. Raises InputError if
    the data set is invalid."""
    for row in read_rows(_truth(folder)):
        agreement = agreement_of(row, folder)
        if agreement is not None:
            yield agreement


def agreement_of(row: Mapping[str, Any], folder: Path) -> Agreement | None:
    """Return the agreement of a row's two annotators, or None if there is only one. Raises
    InputError if the row is invalid."""
    if "main_blocks_second" not in row:
        return None
    page, (one, two) = _annotated(row, folder, "main_blocks", "main_blocks_second")
    return agree(page, (str(row.get("page_type") or ""), row.get("page_type_second")), (one, two))


def _compare_with(labeler: Labeler, row: Mapping[str, Any], folder: Path) -> float:
    """Return the fraction of blocks with text on which labeler and annotator agree."""
    page, (annotated,) = _annotated(row, folder, "main_blocks")
    try:
        (labels,) = labeler.label([page])
    except PageError:
        return 0.0
    has_text = np.array([bool(block.text.strip()) for block in page.blocks], bool)
    return float((labels.main == np.isin(page.item_ids, annotated))[has_text].mean()) if has_text.any() else 1.0


def _annotated(row: Mapping[str, Any], folder: Path, *names: str) -> tuple[Page, list[list[int]]]:
    """Return the page of a row, and the main blocks from each of the named columns. Raises
    InputError if the row is invalid."""
    page = split_known(page_of_row(folder, row))
    n_blocks = len(page.blocks)
    if row.get("n_blocks", n_blocks) != n_blocks:
        raise InputError(
            f"{folder}: the row {row['id']} was annotated on {row['n_blocks']} blocks, and its page has {n_blocks} today: "
            "its numbers say nothing any more"
        )
    try:
        return page, [from_ranges(str(row.get(name) or ""), n_blocks) for name in names]
    except InputError as error:
        raise InputError(f"{folder}: the row {row['id']}: {error}") from None


def _truth(folder: Path) -> Path:
    file = folder / "truth.jsonl"
    if not file.is_file():
        raise InputError(f"{folder} is not a data set: it has no truth.jsonl")
    return file


def _replace(file: Path, text: str) -> None:
    part = file.with_name(f".{file.name}.part")
    part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    part.replace(file)
