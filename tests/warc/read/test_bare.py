"""Pages that come without an HTTP header."""

import gzip

import pytest
import zstandard

from dripper.decode.body import inflate_page
from dripper.errors import ErrorCode, PageError

HTML = b"<!DOCTYPE html><p>one"


@pytest.mark.parametrize("stored", [HTML, gzip.compress(HTML), zstandard.compress(HTML)])
def test_a_page_is_inflated(stored: bytes) -> None:
    assert inflate_page(stored) == HTML


def test_of_a_damaged_one_the_start_is_kept() -> None:
    page = HTML + b"".join(b"<p>%d" % number for number in range(9999))
    assert page.startswith(inflate_page(gzip.compress(page)[:5000]))


def test_a_bomb_is_stopped() -> None:
    with pytest.raises(PageError) as caught:
        inflate_page(gzip.compress(b" " * 200_000), max_bytes=100_000)
    assert caught.value.code is ErrorCode.PAGE_TOO_LARGE


@pytest.mark.parametrize("other", ["%PDF-1.7", b"%PDF-1.7", gzip.compress(b"%PDF-1.7")])
def test_what_is_no_html_is_refused(other: str | bytes) -> None:
    with pytest.raises(PageError, match="not_html: it is a PDF document"):
        inflate_page(other)
