"""Decodes, splits and labels a page. `dripper.page.finish` then creates the extraction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dripper.blocks.page import Page
from dripper.blocks.profiles.registry import preprocess_utf8
from dripper.decode.charset import to_utf8
from dripper.decode.double import mend_double_encoding
from dripper.decode.saved import SavedPage, close_empty_elements, open_page
from dripper.errors import ErrorCode, PageError
from dripper.labels import Labeler, Labels
from dripper.page.declared import read_declared
from dripper.tree.parser import DEFAULT_READING, Reading
from dripper.tree.selectors import drop_elements


def _mend(utf8: bytes, content_type: str | None) -> bytes:
    return close_empty_elements(mend_double_encoding(utf8), content_type)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page as UTF-8. charset, source and errors are set if the page was given as bytes."""

    utf8: bytes
    charset: str | None = None
    source: str | None = None
    """The source of `charset`: bom, http, meta or detector."""
    errors: int | None = None
    """The number of characters that could not be decoded."""
    url: str | None = None
    """The page's URL, if MHTML states it."""

    @classmethod
    def open(cls, html: str | bytes, content_type: str | None, max_bytes: int) -> "Decoded":
        """Decode a page with its HTTP `content_type`. Without a content type, bytes are
        decompressed to at most `max_bytes`, and MHTML is opened. Raises PageError as `open_page`
        does."""
        saved = open_page(html, max_bytes) if content_type is None else SavedPage(html)
        return replace(cls.of(saved.html, saved.content_type or content_type), url=saved.url)

    @classmethod
    def of(cls, html: str | bytes, content_type: str | None = None) -> "Decoded":
        """Decode bytes as browsers do, with the HTTP `content_type` if given. A `str` only loses
        its lone surrogates. Text that was certainly encoded twice is repaired."""
        if isinstance(html, str):
            return cls(_mend(html.encode("utf-8", "ignore"), content_type))
        utf8, charset, source, errors = to_utf8(html, content_type)
        return cls(_mend(utf8, content_type), charset, source, errors)

    def without(self, selectors: Sequence[str]) -> "Decoded":
        """Return the page without the elements that CSS selectors match."""
        return replace(self, utf8=drop_elements(self.utf8, selectors)) if selectors else self

    @property
    def text(self) -> str:
        """The page's HTML as a `str`."""
        return self.utf8.decode()


def split_into_blocks(decoded: Decoded, profile: str, reading: Reading = DEFAULT_READING) -> Page:
    """Split a page into at least one block. If the page shows little or no text but declares text
    in JSON-LD, the declared text is split. Raises PageError as `preprocess` does, and with
    EMPTY_PAGE if there is no visible text."""
    page = preprocess_utf8(decoded.utf8, profile, reading)
    if page.hints.declared:
        page = read_declared(page)
    if not page.blocks:
        raise PageError(ErrorCode.EMPTY_PAGE, "no visible text")
    return page


def label_page(labeler: Labeler, page: Page) -> tuple[Labels | None, str]:
    """Return a page's labels, or None and the reason if the labeler gives no usable labels."""
    try:
        return labeler.label([page])[0], ""
    except PageError as error:
        if error.code is not ErrorCode.LABELER_FAILED:
            raise
        return None, error.detail
