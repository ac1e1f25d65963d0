"""Prepares a page for labelling: decodes its bytes and splits it into blocks. The step after
labelling is `dripper.page.finish`.

In one process they follow each other (`dripper.page.extraction`). In a staged run tables stand
between them: what `Prepared` holds is all that the second half gets to see.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from dripper import html as html_core
from dripper.decode.charset import to_utf8
from dripper.decode.double import mend_double_encoding
from dripper.decode.saved import close_empty_elements
from dripper.errors import ErrorCode, PageError
from dripper.html.blocks.page import Page
from dripper.html.metadata import Metadata
from dripper.html.selectors import drop_elements
from dripper.html.tree.head import Hints
from dripper.labels import Labeler, Labels
from dripper.labels.cost import estimate_tokens
from dripper.layouts import PageLayout
from dripper.page.declared import read_declared
from dripper.page.language import SAMPLE_CHARACTERS

BLOCK_SAMPLE = 4 * SAMPLE_CHARACTERS
"""Characters of a block's text that a `Prepared` keeps: the language detector looks at no more of a
page's text."""


def _mend(utf8: bytes, content_type: str | None) -> bytes:
    return close_empty_elements(mend_double_encoding(utf8), content_type)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page as UTF-8. charset, source (bom, http, meta, detector), errors (characters that could
    not be decoded): where bytes came in."""

    utf8: bytes
    charset: str | None = None
    source: str | None = None
    errors: int | None = None

    @classmethod
    def of(cls, html: str | bytes, content_type: str | None = None) -> "Decoded":
        """Read bytes as browsers do, with the HTTP `content_type` if given; of text only lone
        surrogates are lost. What was surely encoded twice is mended."""
        if isinstance(html, str):
            return cls(_mend(html.encode("utf-8", "ignore"), content_type))
        utf8, charset, source, errors = to_utf8(html, content_type)
        return cls(_mend(utf8, content_type), charset, source, errors)

    def without(self, selectors: Sequence[str]) -> "Decoded":
        """Return the page without what CSS selectors find."""
        return replace(self, utf8=drop_elements(self.utf8, selectors)) if selectors else self

    @property
    def text(self) -> str:
        """The page's text."""
        return self.utf8.decode()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A page after the first half, or why there is none. texts: of each block, the first
    BLOCK_SAMPLE characters. tokens: of the simplified HTML. hints: what the fallback `cpu` reads
    beside the mapping HTML. source: the decoded page, which the fallback `trafilatura` reads; None:
    not kept. labels: those of the first labeler of a chain; None: there is none, or it failed.
    layout: None: not wanted, or there are no labels."""

    title: str = ""
    simplified_html: str = ""
    mapping_html: str = ""
    texts: list[str] = field(default_factory=list)
    tokens: int = 0
    hints: Hints = field(default_factory=Hints)
    source: str | None = None
    charset: str | None = None
    charset_source: str | None = None
    encoding_errors: int | None = None
    error_code: ErrorCode | None = None
    error_detail: str | None = None
    metadata: Metadata | None = None
    labels: Labels | None = None
    layout: PageLayout | None = None
    hidden_chars: int = 0
    """Characters of hidden text that are left out."""


def split_into_blocks(
    decoded: Decoded, profile: str, url: str | None = None, hidden: Literal["drop", "keep"] = "drop"
) -> Page:
    """Return the page split into blocks, at least one; that of its declared text, if it shows
    nothing. Raises PageError(EMPTY_PAGE), or as `preprocess` does."""
    page = html_core.preprocess_utf8(decoded.utf8, profile, url=url, keeps_hidden=hidden == "keep")
    if page.hints.declared:
        page = read_declared(page)
    if not page.blocks:
        raise PageError(ErrorCode.EMPTY_PAGE, "no visible text")
    return page


def prepare(
    html: str | bytes,
    content_type: str | None = None,
    profile: str = "dripper",
    count_tokens: Callable[[str], int] = estimate_tokens,
    keep_source: bool = False,
    first: Labeler | None = None,
    with_layout: bool = False,
    drop: Sequence[str] = (),
    url: str | None = None,
    hidden: Literal["drop", "keep"] = "drop",
) -> Prepared:
    """Return the first half of a page's way. A page that cannot be split gives a Prepared with
    `error_code`.

    Args:
        keep_source: For a second half whose fallback is Trafilatura.
        first: Labels the page on the way.
        with_layout: Find the page's layout, too.
        drop: CSS selectors of what is taken out first.
        url: The page's address, for its metadata.
        hidden: See the setting `html.hidden`.

    >>> prepare("<title>T</title><p>one<p>two").texts
    ['one', 'two']
    """
    decoded = Decoded.of(html, content_type)
    read = Prepared(charset=decoded.charset, charset_source=decoded.source, encoding_errors=decoded.errors)
    try:
        decoded = decoded.without(drop)
        page = split_into_blocks(decoded, profile, url, hidden)
        simplified, mapping = page.simplified_html, page.mapping_html
    except PageError as error:
        return replace(read, error_code=error.code, error_detail=error.detail or None)
    labels = label_page(first, page)[0] if first is not None else None
    return replace(
        read,
        title=page.title,
        simplified_html=simplified,
        mapping_html=mapping,
        texts=[block.text[:BLOCK_SAMPLE] for block in page.blocks],
        tokens=count_tokens(simplified),
        hints=page.hints,
        source=decoded.text if keep_source else None,
        metadata=page.metadata,
        labels=labels,
        layout=PageLayout.of(page, labels) if with_layout and labels is not None else None,
        hidden_chars=page.hidden_characters,
    )


def label_page(labeler: Labeler, page: Page) -> tuple[Labels | None, str]:
    """Return a page's labels; None, and why, where the labeler gives no usable ones."""
    try:
        return labeler.label([page])[0], ""
    except PageError as error:
        if error.code is not ErrorCode.LABELER_FAILED:
            raise
        return None, error.detail
