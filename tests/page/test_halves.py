"""The two halves of a page's way: with nothing but what tables keep between them, the results are
those of one process."""

import hashlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import ErrorCode, PageError
from dripper.html import PROFILES, Page, preprocess
from dripper.labels import Labels
from dripper.labels.cpu.entry import CpuSettings
from dripper.page.extraction import Extractor
from dripper.page.finish import Extraction, Finisher, Splits
from dripper.page.prepare import BLOCK_SAMPLE, Decoded, prepare
from dripper.settings import LabelsSettings, Settings
from support.labelled import labelled_pages

HTML = "<title>T</title><ul><li>menu</ul><article><p>The river rose over night.<p>Forty houses are lost.</article>"


class Some:
    """A labeler whose choice is a hash of the block's number and the page's size: about half,
    sometimes none."""

    name = "some"
    version = "1"

    def label(self, pages: list[Page]) -> list[Labels]:
        return [Labels.certain(some(len(page.blocks))) for page in pages]


Choose = Callable[[int], "np.ndarray[tuple[int], np.dtype[np.bool_]]"]


def some(n_blocks: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return np.array([hashlib.sha256(b"%d %d" % (n_blocks, i)).digest()[0] % 2 == 0 for i in range(n_blocks)], bool)


class Nothing(Some):
    """A labeler that finds nothing main: every page falls back."""

    def label(self, pages: list[Page]) -> list[Labels]:
        return [Labels.certain(nothing(len(page.blocks))) for page in pages]


def nothing(n_blocks: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return np.zeros(n_blocks, bool)


def staged(html: str | bytes, profile: str, fallback: str = "body", choose: Choose = some) -> Extraction:
    """The page's way as it is with tables between the halves."""
    prepared = prepare(html, None, profile, keep_source=fallback == "trafilatura")
    if prepared.error_code is not None:
        return Extraction(error_code=prepared.error_code)
    finisher = Finisher(settings_of(fallback))
    labels = Labels.certain(choose(len(prepared.texts)))
    return finisher.finish(Splits.of_prepared(prepared, profile), labels, "some")


def settings_of(fallback: str, profile: str = "dripper") -> Settings:
    return Settings.model_validate({"profile": profile, "labeler": {"fallback": fallback}})


def shown(extraction: Extraction) -> tuple[object, ...]:
    made = extraction
    return (
        made.main_html,
        made.markdown,
        made.title,
        made.language,
        made.language_probability,
        made.n_blocks,
        made.method,
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_halves_give_what_the_whole_gives(profile: str) -> None:
    whole = Extractor(settings_of("body", profile), Some())
    for page in labelled_pages():
        assert shown(whole.extract(page.html)) == shown(staged(page.html, profile))


# The mapping HTML of MinerU-HTML 1.0 is written with line feeds, for people. Read again it has
# more of them, and `cpu` counts lines: on one of these pages it takes another block.
@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "mineru-1.0"])
@pytest.mark.parametrize("fallback", ["cpu", "trafilatura"])
def test_a_fallback_sees_what_it_sees_in_one_process(profile: str, fallback: str) -> None:
    """The labeler `cpu` reads metadata and Trafilatura the head, comments and hidden parts: none is
    in the mapping HTML."""
    whole = Extractor(settings_of(fallback, profile), Nothing())
    methods = set()
    for page in labelled_pages():
        expected = whole.extract(page.html)
        assert shown(staged(page.html, profile, fallback, nothing)) == shown(expected)
        methods.add(expected.method)
    assert f"fallback:{fallback}" in methods


def test_what_a_page_says_of_itself_reaches_the_fallback() -> None:
    head = '<meta property="og:type" content="product"><meta name="description" content="A boat.">'
    prepared = prepare(f"{head}<p>one<p>two")
    assert prepared.hints == (("product",), "A boat.", "", "", (), "")
    assert Splits.of_prepared(prepared, "dripper").whole()[0].hints == prepared.hints
    assert prepared.source is None
    kept = prepare(f"{head}<p>one<p>two", keep_source=True)
    assert Splits.of_prepared(kept, "dripper").whole()[1].text == f"{head}<p>one<p>two"


@given(st.text(alphabet="<>/pdivbr &;abc\n\x00", max_size=80))
def test_any_text_has_the_same_end(html: str) -> None:
    whole = Extractor(settings_of("empty"), Some()).extract(html, content_type="text/html")
    halves = staged(html, "dripper", "empty")
    assert shown(whole) == shown(halves)
    assert whole.error_code == halves.error_code


def test_a_prepared_page_keeps_the_start_of_every_text() -> None:
    prepared = prepare(f"<p>short<p>{'long ' * 2000}")
    assert [len(text) for text in prepared.texts] == [5, BLOCK_SAMPLE]
    assert prepared.simplified_html.count("_item_id") == 2


def test_bytes_are_decoded_and_an_empty_page_keeps_its_charset() -> None:
    assert prepare("<p>é".encode("latin-1"), "text/html; charset=iso-8859-1").charset == "windows-1252"
    empty = prepare(b"<p>", "text/html; charset=utf-8")
    assert (empty.charset, empty.error_code, empty.error_detail) == ("utf-8", ErrorCode.EMPTY_PAGE, "no visible text")


def finish(labels: Labels | None, fallback: str) -> Extraction:
    page = preprocess(HTML)
    finisher = Finisher(settings_of(fallback))
    return finisher.finish(Splits.of_page(page, Decoded.of(HTML)), labels, "lm", "no answer")


@pytest.mark.parametrize("fallback", ["cpu", "trafilatura", "body"])
def test_a_page_without_usable_labels_goes_to_the_fallback(fallback: str) -> None:
    result = finish(None, fallback)
    assert (result.method or "").startswith("fallback:")
    assert (result.n_main, result.n_blocks, result.title) == (0, 3, "T")
    assert "river" in result.markdown


def test_the_fallback_labeler_has_the_settings_of_its_section() -> None:
    text = (
        "<title>The ferry is back</title><h1>The ferry is back</h1>" + "<p>The ferry leaves at noon, as it did.</p>" * 9
    )
    page = preprocess(text)
    with_title, without = (
        Finisher(settings_of("cpu").model_copy(update={"labels": LabelsSettings(cpu=CpuSettings(title=title))})).finish(
            Splits.of_page(page, Decoded.of(text)), None, "lm"
        )
        for title in ("include", "exclude")
    )
    assert "ferry is back" in with_title.main_html
    assert "ferry is back" not in without.main_html
    assert "ferry leaves" in without.markdown


def test_without_labels_and_without_a_fallback_the_page_has_failed() -> None:
    with pytest.raises(PageError) as caught:
        finish(None, "empty")
    assert (caught.value.code, caught.value.detail) == (ErrorCode.LABELER_FAILED, "no answer")


def test_nothing_main_is_not_a_failure() -> None:
    assert finish(Labels.certain(np.zeros(3, bool)), "empty").method == "fallback:empty"


def test_the_method_tells_of_windows() -> None:
    main = np.array([False, True, True])
    assert finish(Labels(main, main.astype(np.float32), 0.5, 3, 2), "empty").method == "lm:windowed"
    result = finish(Labels(main, main.astype(np.float32), 0.5, 3, 1), "empty")
    assert (result.method, result.confidence, result.n_main, result.page_kind) == ("lm", 0.5, 2, None)


def test_the_kind_of_the_page_is_the_labelers_even_where_a_fallback_decides() -> None:
    nothing = replace(Labels.certain(np.zeros(3, bool)), page_kind="nothing")
    assert finish(nothing, "body").page_kind == "nothing"
    assert finish(replace(nothing, main=np.array([True, False, False])), "body").page_kind == "nothing"


class Failing(Some):
    """A labeler that gives up on every page."""

    def label(self, pages: list[Page]) -> list[Labels]:
        raise PageError(ErrorCode.LABELER_FAILED, "no answer")


def test_a_labeler_that_gives_up_has_the_same_end_in_one_process() -> None:
    body = Extractor(settings_of("body"), Failing()).extract(HTML)
    assert body.method == "fallback:body"
    empty = Extractor(settings_of("empty"), Failing()).extract(HTML)
    assert (empty.error_code, empty.error_detail) == (ErrorCode.LABELER_FAILED, "no answer")
