"""Builds the view of a page: its labelled blocks, its main content, and the fields for its row in
exported ground truth."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.decode.body import inflate_page
from dripper.decode.charset import to_utf8
from dripper.errors import PageError
from dripper.keep.place_media import explain_images
from dripper.labels import ExplainingLabeler, Labels
from dripper.page.extraction import Examination, Extractor
from dripper.tree.urls import Base

REASONS = 4
"""Maximum number of reasons to show for a block. The fifth reason rarely has a tenth of the first
reason's weight."""
LEAST_REASON = 0.1
"""Minimum weight of a reason to show, in log odds. Weaker reasons are noise from the network's
rounding."""
_REPLACED = "an icon, a bullet or a tracker in main text, or the settings leave pictures out"
"""The reason given for an image that is missing although no rule refuses its position."""
TAG_CHARS = 300
"""Maximum number of markup characters to show for a block without text (an image)."""

Reasons = Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class PageInput:
    """A page to inspect."""

    id: str
    """The id of the page's row in exported ground truth, unique in the document."""
    name: str
    """A readable name: the file, or the position in an archive."""
    html: bytes = b""
    url: str | None = None
    content_type: str | None = None
    """The value of the HTTP header. If None, the type is detected from the bytes."""
    error: PageError | None = None
    """Set if the page could not be read."""


@dataclass(frozen=True, slots=True)
class BlockView:
    """One block of a page."""

    text: str
    path: str
    """The block's element and its ancestors, outermost first: `body > main > p`."""
    main: bool
    """Whether the block is in the extraction."""
    probability: float | None
    """The block's probability of being main; None if the labeler gives no probabilities."""
    reasons: Sequence[tuple[str, float]] = ()
    """The labeler's strongest reasons, each with its weight for `main` in log odds."""
    changed_by: str | None = None
    """The reason why `main` differs from the block's label; None if both are equal."""
    is_markup: bool = False
    """Whether `text` is markup, because the block has no text."""


@dataclass(frozen=True, slots=True)
class PageView:
    """One page. A page has no blocks if its extraction failed or its archive cannot be read."""

    id: str
    name: str
    url: str | None = None
    title: str = ""
    labeler: str = ""
    """The labeler's name and version."""
    profile: str = "dripper"
    """The rules for splitting the page."""
    method: str | None = None
    """The labeler or fallback that chose the main content; see `Extraction.method`."""
    confidence: float | None = None
    page_kind: str | None = None
    language: str | None = None
    error_code: str | None = None
    error_detail: str | None = None
    notes: Sequence[str] = ()
    """Notes for the reader, such as that the archive cannot be read."""
    blocks: Sequence[BlockView] = ()
    markdown: str = ""
    main_html: str = ""
    metadata: Mapping[str, Any] | None = None
    """The value of the `metadata` column; `images` and `posts` are the values of their columns."""
    images: Sequence[Mapping[str, Any]] = ()
    refused: Sequence[tuple[str, str]] = ()
    """The URL of each image that is not in the extraction, and the reason."""
    posts: Sequence[Mapping[str, Any]] = ()
    comments: str | None = None
    html: bytes = field(default=b"", repr=False)
    """The page's bytes as exported ground truth stores them."""
    encoding: str | None = None
    """The encoding of `html` to record in exported ground truth."""


def view_page(extractor: Extractor, page: PageInput) -> PageView:
    """Return the view of a page, with the labeler's reasons if the labeler can give reasons."""
    labeler = f"{extractor.labeler.name} {extractor.labeler.version}".strip()
    if page.error is not None:
        code, detail = page.error.code, page.error.detail or None
        return PageView(page.id, page.name, page.url, labeler=labeler, error_code=code, error_detail=detail)
    examination = extractor.examine(page.html, page.url, page.content_type)
    extraction = examination.extraction
    blocks: Sequence[BlockView] = ()
    refused: Sequence[tuple[str, str]] = ()
    if examination.page is not None:
        refused = find_refused(examination.page, examination)
        labels_why = isinstance(extractor.labeler, ExplainingLabeler)
        why = extractor.labeler.reasons(examination.page) if labels_why else {}  # type: ignore[attr-defined]
        blocks = _view_blocks(examination.page, examination, why)
    html, encoding = to_stored_page(page.html, page.content_type) if blocks else (b"", None)
    return PageView(
        id=page.id, name=page.name, url=page.url, title=extraction.title, labeler=labeler,
        profile=examination.page.profile if examination.page else "", method=extraction.method, confidence=extraction.confidence,
        page_kind=extraction.page_kind, language=extraction.language, error_code=extraction.error_code,
        error_detail=extraction.error_detail, blocks=blocks,
        markdown=extraction.markdown, main_html=extraction.main_html, html=html, encoding=encoding, refused=refused,
        metadata=asdict(extraction.metadata) if extraction.metadata else None, comments=extraction.comments,
        images=list(map(asdict, extraction.images)), posts=list(map(asdict, extraction.posts)),
    )  # fmt: skip


def find_refused(page: Page, examination: Examination) -> list[tuple[str, str]]:
    """Return the URL of each image that is missing from a page's extraction, and the reason."""
    base = Base.of(examination.extraction.url, page.hints.base)
    main = () if examination.main is None else examination.main.tolist()
    ids = {block.item_id for block, is_main in zip(page.blocks, main, strict=False) if is_main}
    picture = page.metadata.image if page.metadata else None
    shown = {image.address for image in examination.extraction.images}
    explained = explain_images(page.elements, page.blocks, ids, picture)
    addresses = [(base.join(address) if base else address) or address for address, _ in explained]
    found = dict(zip(addresses, (fault or _REPLACED for _, fault in explained), strict=True))
    return [(address, why) for address, why in found.items() if address not in shown]


def to_stored_page(html: bytes, content_type: str | None) -> tuple[bytes, str | None]:
    """Return a page's bytes as data sets store them, and the encoding to record in the page's row.

    The page is stored as served, but decompressed. If the HTTP header stated the encoding, the page
    is stored as UTF-8, because a data set does not keep the header.
    """
    payload = inflate_page(html) if content_type is None else html
    served = payload.encode("utf-8", "replace") if isinstance(payload, str) else payload
    utf8, charset, source, _ = to_utf8(served, content_type)
    if source == "http":
        return utf8, f"utf-8 (stored as characters; served as {charset})"
    return served, charset


def _view_blocks(page: Page, examination: Examination, why: Reasons) -> list[BlockView]:
    main = np.zeros(len(page.blocks), bool) if examination.main is None else examination.main
    probabilities = _round_probabilities(examination.labels, len(page.blocks))
    views = []
    for at, block in enumerate(page.blocks):
        text = block.text or "".join(page.elements.parts[block.first : block.last + 1])[:TAG_CHARS]
        path = " > ".join(page.elements.tags[element] for element in page.elements.path(block.element))
        reasons, changed_by = find_strongest_reasons(why, at), examination.reasons.get(at)
        views.append(BlockView(text, path, bool(main[at]), probabilities[at], reasons, changed_by, not block.text))
    return views


def _round_probabilities(labels: Labels | None, n_blocks: int) -> list[float | None]:
    if labels is None or len(labels.probability) != n_blocks:
        return [None] * n_blocks
    return [None if math.isnan(value) else round(value, 4) for value in labels.probability.tolist()]


def find_strongest_reasons(why: Reasons, at: int) -> Sequence[tuple[str, float]]:
    """Return the strongest reasons for or against the block at index `at`, strongest first.

    >>> why = {"links": np.array([-2.04]), "tags": np.array([0.01]), "length": np.array([3.0])}
    >>> find_strongest_reasons(why, 0)
    [('length', 3.0), ('links', -2.0)]
    """
    reasons = [(name, round(float(values[at]), 1)) for name, values in why.items()]
    strong = [reason for reason in reasons if abs(reason[1]) >= LEAST_REASON]
    return sorted(strong, key=lambda reason: -abs(reason[1]))[:REASONS]
