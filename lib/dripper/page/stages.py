"""Takes a page through the stages `preprocess`, `label` and `extract`. Between stages, the page is
a row in a table or in a pipeline's batches.

The row contains the decoded page, and the `extract` stage splits the page again. Therefore
`Finisher.examine` can finish every page, whether the run is staged or not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import dripper
from dripper.blocks.page import Page
from dripper.errors import ErrorCode, PageError
from dripper.labels import Labeler, Labels
from dripper.labels.chain import name_substitute
from dripper.labels.cost import estimate_tokens
from dripper.labels.entry import CountTokens
from dripper.layouts import PageLayout
from dripper.page.finish import DEFAULT_SETTINGS, Extraction, Finisher
from dripper.page.rows import Row, charset_columns, label_columns
from dripper.page.split import Decoded, label_page, split_into_blocks
from dripper.settings import Settings
from dripper.tree.parser import Reading

_NO_LABELS = "the table labels has no row that fits the page's blocks"


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """A page between the stages `preprocess` and `extract`, or the reason why it cannot be
    split."""

    source: str = ""
    """The input of the `extract` stage: the decoded page without the elements that `html.drop`
    matches."""
    simplified_html: str = ""
    """An input of the `label` stage, as are `n_blocks` and `tokens`."""
    n_blocks: int = 0
    tokens: int = 0
    """Tokens of the simplified HTML."""

    charset: str | None = None
    charset_source: str | None = None
    encoding_errors: int | None = None
    error_code: ErrorCode | None = None
    error_detail: str | None = None
    labels: Labels | None = None
    """The labels of a chain's first labeler; None if there is no first labeler or it failed."""
    layout: PageLayout | None = None
    """None if layouts are not enabled, or if there are no labels."""
    url: str | None = None
    """The page's URL as given. If none was given, the URL in the MHTML file."""


def preprocess_page(
    html: str | bytes,
    content_type: str | None,
    url: str | None,
    settings: Settings = DEFAULT_SETTINGS,
    count_tokens: CountTokens = estimate_tokens,
    first: Labeler | None = None,
) -> Preprocessed:
    """Decode and split a page for the stages `label` and `extract`. If this fails, `error_code` is
    set.

    Args:
        url: The page's URL, for its metadata.
        first: The first labeler of a chain, which already labels the page in this stage.

    >>> preprocess_page("<title>T</title><p>one<p>two", None, None).n_blocks
    2
    """
    read = Preprocessed()
    try:
        decoded = Decoded.open(html, content_type, settings.reading.page_bytes)
        read = Preprocessed(
            charset=decoded.charset,
            charset_source=decoded.source,
            encoding_errors=decoded.errors,
            url=url or decoded.url,
        )
        decoded = decoded.without(settings.html.drop)
        page = split_into_blocks(
            decoded, settings.profile, Reading(read.url, keeps_hidden=settings.html.hidden == "keep")
        )
        simplified = page.simplified_html
    except PageError as error:
        return replace(read, error_code=error.code, error_detail=error.detail or None)
    labels = label_page(first, page)[0] if first is not None else None
    return replace(
        read,
        source=decoded.text,
        simplified_html=simplified,
        n_blocks=len(page.blocks),
        tokens=count_tokens(simplified),
        labels=labels,
        layout=PageLayout.of(page, labels) if settings.layouts.enabled and labels is not None else None,
    )


def preprocessed_columns(page: Preprocessed, profile: str, first: tuple[str, str] | None = None) -> Row:
    """Return the columns that the later stages read, including `finish_row`. Together with
    `record_columns`, they form a row of the `pages` table, except `simplified_html` and `tokens`,
    which belong to the `blocks` table.

    Args:
        first: The name and the version of the labeler that labelled the page in this stage.
    """
    is_good = page.error_code is None
    return charset_columns(page) | {
        "source": page.source if is_good else None,
        "n_blocks": page.n_blocks if is_good else None,
        "profile": profile,
        "dripper": dripper.__version__,
        "error_code": page.error_code.value if page.error_code else None,
        "error_detail": page.error_detail,
        "simplified_html": page.simplified_html if is_good else None,
        "tokens": page.tokens if is_good else None,
        "first_labels": _make_first_labels(page.labels, *first) if page.labels is not None and first else None,
        "fingerprints": _make_fingerprints(page.layout),
        "layout_id": page.layout.skeleton.layout_id if page.layout else None,
    }


def _make_fingerprints(layout: PageLayout | None) -> Row | None:
    if layout is None:
        return None
    blocks, prints = layout.blocks, layout.blocks.fingerprints
    return {
        "paths": prints.paths.tolist(),
        "texts": prints.texts.tolist(),
        "words": blocks.words.tolist(),
        "signature": layout.skeleton.signature.tolist(),
    }


def _make_first_labels(labels: Labels, labeler: str, version: str) -> Row:
    by = {"method": labels.method or labeler, "labeler": labeler, "labeler_version": version}
    return label_columns(labels) | by


def read_first_labels(first: Mapping[str, Any]) -> Labels:
    """Return the labels of a chain's first labeler from a value of the `first_labels` column."""
    main, probability, confidence = np.array(first["main"], bool), first["probability"], first["confidence"]
    return Labels(
        main,
        np.full(len(main), np.nan, np.float32) if probability is None else np.array(probability, np.float32),
        math.nan if confidence is None else confidence,
        method=first["method"] or "",
        page_kind=first["page_kind"],
    )


def finish_row(finisher: Finisher, row: Row) -> Extraction:
    """Return the extraction of a page from its row in `pages`, joined with its labels.

    Raises PageError as `Finisher.examine` does. The code is INTERNAL if another version of dripper
    wrote the row, or if the page now splits into a different number of blocks.
    """

    def read_labels(page: Page) -> tuple[Labels | None, str]:
        if (row["dripper"], row["n_blocks"]) != (dripper.__version__, len(page.blocks)):
            was, now = f"{row['n_blocks']} by dripper {row['dripper']}", f"{len(page.blocks)} by {dripper.__version__}"
            raise PageError(
                ErrorCode.INTERNAL,
                f"the page was split into {was}, and now into {now}: run all stages with one version",
            )
        labels = labels_of(row)
        return labels, row["label_error"] or ("" if labels is not None else _NO_LABELS)

    decoded = Decoded(row["source"].encode("utf-8", "ignore"))
    return finisher.examine(decoded, row["url"], row["profile"], row["labeler"] or "", read_labels).extraction


def with_first_labels(row: Row) -> Row:
    """Return the row with the labels to use. If the next labeler of a chain did not get the page or
    marked no block as main, these are the labels of the first labeler. In that case, only `method`
    may name the next labeler."""
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
    """Return the labels of a row, or None if the row does not have exactly one label per block."""
    if not _fits(row["main"], row):
        return None
    main = np.array(row["main"], bool)
    confidence = math.nan if row["label_confidence"] is None else row["label_confidence"]
    return Labels(
        main, np.full(len(main), np.nan, np.float32), confidence, 0, row["windows"] or 1,
        method=row.get("method") or "", page_kind=row.get("page_kind"),
    )  # fmt: skip
