"""The view of a page shows the decisions about it."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pytest

from dripper.blocks.page import Page
from dripper.errors import ErrorCode, PageError
from dripper.inspect.views import LEAST_REASON, REASONS, PageInput, to_stored_page, view_page
from dripper.labels import Labels
from dripper.page.extraction import Extractor
from dripper.settings import LabelerSettings, Settings
from support.labelled import labelled_pages
from support.warcs import page

URL, HTML = page(3)


class Nothing:
    """A labeler that finds nothing."""

    name, version = "nothing", "1"

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        return [Labels.certain(np.zeros(len(page.blocks), bool)) for page in pages]


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor()


def test_blocks_stand_in_order_with_what_was_decided(extractor: Extractor) -> None:
    seen = view_page(extractor, PageInput("a", "a.html", HTML, URL))
    told = extractor.examine(HTML, URL)
    assert told.page is not None
    assert told.main is not None
    assert [block.text for block in seen.blocks] == [block.text for block in told.page.blocks]
    assert [block.main for block in seen.blocks] == told.main.tolist()
    assert (seen.markdown, seen.main_html) == (told.extraction.markdown, told.extraction.main_html)
    assert (seen.title, seen.method, seen.url, seen.language) == ("Article 3", "cpu", URL, "en")
    assert seen.labeler == f"cpu {extractor.labeler.version}"
    paragraph = next(block for block in seen.blocks if block.text.startswith("Paragraph 0"))
    assert paragraph.path == "html > body > article > p"
    assert paragraph.probability is not None
    assert paragraph.probability > 0.5


def test_reasons_are_few_and_the_strongest_first(extractor: Extractor) -> None:
    seen = view_page(extractor, PageInput("a", "a.html", HTML))
    assert any(block.reasons for block in seen.blocks)
    for block in seen.blocks:
        sizes = [abs(says) for _, says in block.reasons]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) <= REASONS
        assert all(size >= LEAST_REASON for size in sizes)


def test_a_labeler_without_probabilities_or_reasons_has_none() -> None:
    rule = Extractor(Settings(labeler=LabelerSettings(name="all")))
    seen = view_page(rule, PageInput("a", "a.html", HTML))
    assert all(block.main for block in seen.blocks)
    assert {(block.probability, tuple(block.reasons)) for block in seen.blocks} == {(None, ())}


def test_the_blocks_of_a_fallback_are_shown_as_main() -> None:
    seen = view_page(
        Extractor(Settings(labeler=LabelerSettings(fallback="body")), Nothing()),
        PageInput("a", "a.html", b"<p>one<p>two"),
    )
    assert seen.method == "fallback:body"
    assert [block.main for block in seen.blocks] == [True, True]
    assert [block.changed_by for block in seen.blocks] == ["fallback:body", "fallback:body"]


def test_a_block_that_is_not_as_labelled_says_why(extractor: Extractor) -> None:
    mark, note = '<sup><a href="#fn1">1</a></sup>', '<footer><ol><li id="fn1">Sheet 12.</ol></footer>'
    text = "The wheel had rusted into its bed, and two willows grew where the carts had stood in the old days."
    seen = view_page(
        extractor, PageInput("a", "a.html", f"<h1>Mills</h1><p>{text}{mark}</p><p>{text}</p>{note}".encode())
    )
    assert [(block.main, block.changed_by) for block in seen.blocks][-1] == (True, "footnote")


def test_every_block_of_real_pages_that_is_not_as_labelled_says_why(extractor: Extractor) -> None:
    found = set()
    for labelled in labelled_pages():
        examined = extractor.examine(labelled.html, labelled.url)
        assert examined.labels is not None
        assert examined.main is not None
        assert set(np.flatnonzero(examined.main != examined.labels.main).tolist()) == set(examined.reasons)
        found |= set(examined.reasons.values())
    assert found


def test_an_image_shows_its_markup(extractor: Extractor) -> None:
    seen = view_page(extractor, PageInput("a", "a.html", HTML + b'<p><img src="/x.png" onerror="alert(1)"></p>'))
    (image,) = [block for block in seen.blocks if block.is_markup]
    assert image.text.startswith('<p><img src="/x.png"')


def test_other_pictures_have_a_reason(extractor: Extractor) -> None:
    pictures = b'<img src="/spacer.gif"><img src="b.jpg"><img class=avatar src=/c.jpg><img src=/d.jpg width=20>'
    seen = view_page(extractor, PageInput("a", "a.html", HTML.replace(b"</article>", b"%s</article>" % pictures), URL))
    assert [image["address"] for image in seen.images] == ["http://example.org/b.jpg"]
    assert seen.refused == [
        ("http://example.org/spacer.gif", "a tracker"),
        ("http://example.org/c.jpg", "named as no content"),
        ("http://example.org/d.jpg", "small"),
    ]
    assert seen.metadata == asdict(extractor.extract(HTML, URL).metadata)  # type: ignore[arg-type]


@pytest.mark.parametrize(("html", "code"), [(b"<script>x</script>", "empty_page"), (b"%PDF-1.4\nx", "not_html")])
def test_an_error_is_shown_with_its_code(extractor: Extractor, html: bytes, code: str) -> None:
    seen = view_page(extractor, PageInput("a", "a.html", html))
    assert (seen.error_code, seen.blocks, seen.html) == (code, (), b"")
    assert seen.error_detail


def test_a_page_that_could_not_be_read_keeps_its_error(extractor: Extractor) -> None:
    broken = PageError(ErrorCode.BODY_UNREADABLE, "no gzip")
    seen = view_page(extractor, PageInput("a", "a.html", b"", URL, error=broken))
    assert (seen.error_code, seen.error_detail, seen.url) == ("body_unreadable", "no gzip", URL)


def test_a_page_is_stored_as_it_was_served_unless_its_header_decoded_it() -> None:
    latin = "<meta charset=latin1><p>caf\u00e9".encode("latin-1")
    assert to_stored_page(latin, "text/html") == (latin, "windows-1252")
    bare = "<p>caf\u00e9 \u00fc".encode("latin-1")
    utf8, encoding = to_stored_page(bare, "text/html; charset=latin1")
    assert utf8.decode() == "<p>caf\u00e9 \u00fc"
    assert encoding == "utf-8 (stored as characters; served as windows-1252)"
    assert hashlib.sha256(to_stored_page(HTML, None)[0]).digest() == hashlib.sha256(HTML).digest()
