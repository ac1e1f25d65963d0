"""The two halves of a page's way where rows stand between them, in tables or in the batches of a
pipeline: how settings prepare a page, and how its row and its labels finish it.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from dripper.html.metadata import Metadata
from dripper.html.tree.head import Hints
from dripper.labels import Labeler, Labels
from dripper.labels.chain import name_substitute
from dripper.labels.entry import CountTokens
from dripper.labels.fallback import Fallback
from dripper.labels.registry import resolve_fallback
from dripper.page.finish import Extraction, Finisher, Splits
from dripper.page.prepare import Prepared, prepare
from dripper.page.rows import Row
from dripper.settings import Settings

_NO_LABELS = "the table labels has no row that fits the page's blocks"


def preparer(
    settings: Settings, count_tokens: CountTokens, first: Labeler | None
) -> Callable[[str | bytes, str | None, str | None], Prepared]:
    """Return the first half as the settings want it: from a page, its content type and its address.

    Args:
        first: Labels pages on the way.
    """
    keep_source = resolve_fallback(settings.labeler) == Fallback.TRAFILATURA
    with_layout, drop = settings.layouts.enabled, settings.html.drop
    return lambda html, content_type, url: prepare(
        html,
        content_type,
        settings.profile,
        count_tokens,
        keep_source,
        first,
        with_layout,
        drop,
        url,
        settings.html.hidden,
    )


def finish(finisher: Finisher, row: Row) -> Extraction:
    """Return the second half of a page's way, from a row of `pages` that has blocks, with its
    labels."""
    page = Splits.of_prepared(prepared_of(row), row["profile"], row["url"])
    labels = labels_of(row)
    detail = row["label_error"] or (_NO_LABELS if labels is None else "")
    return finisher.finish(page, labels, row["labeler"] or "", detail)


def prepared_of(row: Row) -> Prepared:
    """Return what the first half kept of a page that has blocks. `source` is not among the columns
    where no fallback reads it."""
    metadata = row["metadata"]
    # Rows of an earlier release have null in it.
    ingredients = tuple(metadata.get("ingredients") or ())
    hints = Hints(
        tuple(metadata["types"]), metadata["description"], metadata["body"], row.get("base_href") or "", ingredients
    )
    return Prepared(
        title=row["title"],
        mapping_html=row["mapping_html"],
        texts=row["texts"],
        hints=hints,
        source=row.get("source"),
        metadata=Metadata.of_row(row.get("page_metadata")),
        hidden_chars=row.get("hidden_chars") or 0,
    )


def with_first_labels(row: Row) -> Row:
    """Return the row of a page with the labels of a chain's first labeler in place of those of the
    next, where that was not asked or marked nothing: as if it had been alone, but for `method`."""
    first, last = row.get("first_labels"), row["labeler"]
    if first is None or (_fits(row["main"], row) and any(row["main"])):
        return row
    return row | {
        "main": first["main"],
        "label_confidence": first["confidence"],
        "page_kind": first["page_kind"],
        "windows": 1,
        "labeler": first["labeler"],
        "labeler_version": first["labeler_version"],
        "method": name_substitute(first["method"], last) if last else first["method"],
    }


def _fits(main: Sequence[bool] | None, row: Row) -> bool:
    return main is not None and len(main) == row["n_blocks"]


def labels_of(row: Row) -> Labels | None:
    """Return the labels of a row; None where there are none that fit its blocks."""
    if not _fits(row["main"], row):
        return None
    main = np.array(row["main"], bool)
    confidence = math.nan if row["label_confidence"] is None else row["label_confidence"]
    return Labels(
        main, np.full(len(main), np.nan, np.float32), confidence, 0, row["windows"] or 1,
        method=row.get("method") or "", page_kind=row.get("page_kind"),
    )  # fmt: skip
