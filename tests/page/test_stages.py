"""The extraction of a page by its labels, and the stages of a page with rows between them, which
give the extraction of one pass."""

from dataclasses import replace

import numpy as np
import pytest

import dripper
from dripper.errors import ErrorCode, PageError
from dripper.html import PROFILES, Page
from dripper.labels import Labels, load
from dripper.labels.cpu.entry import CpuSettings
from dripper.page.extraction import Extractor
from dripper.page.finish import Extraction, Finisher
from dripper.page.rows import Row, label_columns
from dripper.page.split import Decoded
from dripper.page.stages import finish_row, preprocess_page, preprocessed_columns
from dripper.settings import LabelsSettings, Settings
from support.labelled import labelled_pages

HTML = "<title>T</title><ul><li>menu</ul><article><p>The river rose over night.<p>Forty houses are lost.</article>"


def settings_of(fallback: str, profile: str = "dripper") -> Settings:
    return Settings.model_validate({"profile": profile, "labeler": {"fallback": fallback}})


CPU = load("cpu")


def staged(html: str | bytes, settings: Settings, **changed: object) -> Extraction:
    """Return the extraction of a page in stages, labelled by `cpu`."""
    page = preprocess_page(html, None, "https://e.org/a/", settings, first=CPU)
    if page.error_code is not None or page.labels is None:
        return Extraction(error_code=page.error_code)
    labels = label_columns(page.labels)
    row: Row = preprocessed_columns(page, settings.profile) | {
        "url": page.url, "main": labels["main"], "label_confidence": labels["confidence"], "page_kind": labels["page_kind"],
        "windows": 1, "labeler": "cpu", "label_error": None,
    }  # fmt: skip
    return finish_row(Finisher(settings), row | changed)


@pytest.mark.parametrize("profile", PROFILES)
def test_stages_give_what_one_pass_gives(profile: str) -> None:
    settings = settings_of("body", profile)
    extractor = Extractor(settings, CPU)
    for page in labelled_pages():
        whole = extractor.extract(page.html, "https://e.org/a/")
        assert replace(whole, charset=None, charset_source=None, encoding_errors=None) == staged(page.html, settings)


def test_stages_keep_and_drop_what_one_pass_does() -> None:
    settings = Settings.model_validate({"html": {"keep": [".side"], "drop": ["#from"]}})
    html = f'{HTML}<div class="side">Open <b id="from">from nine</b> to five.</div>'
    assert staged(html, settings).main_html == Extractor(settings, CPU).extract(html, "https://e.org/a/").main_html
    assert "Open  to five." in staged(html, settings).main_html


def test_mhtml_and_compressed_pages_go_through_stages() -> None:
    mhtml = "Snapshot-Content-Location: https://e.org/b\nContent-Type: multipart/related; boundary=B\n\n--B\n"
    page = preprocess_page(f"{mhtml}Content-Type: text/html\n\n<p>one\n--B--", None, None)
    assert (page.url, page.source, page.n_blocks) == ("https://e.org/b", "<p>one", 1)
    assert preprocess_page(b"%PDF-1.7", None, None).error_code is ErrorCode.NOT_HTML


@pytest.mark.parametrize("changed", [{"dripper": "0.0.9"}, {"n_blocks": 7}])
def test_a_row_of_another_version_or_of_other_blocks_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(PageError, match="run all stages with one version") as caught:
        staged(HTML, Settings(), **changed)
    assert caught.value.code is ErrorCode.INTERNAL
    assert dripper.__version__ in caught.value.detail


def test_bytes_are_decoded_and_an_empty_page_keeps_its_charset() -> None:
    assert preprocess_page("<p>é".encode("latin-1"), "text/html; charset=iso-8859-1", None).charset == "windows-1252"
    empty = preprocess_page(b"<p>", "text/html; charset=utf-8", None)
    assert (empty.charset, empty.error_code, empty.error_detail) == ("utf-8", ErrorCode.EMPTY_PAGE, "no visible text")


def finish(labels: Labels | None, fallback: str) -> Extraction:
    finisher = Finisher(settings_of(fallback))
    examined = finisher.examine(Decoded.of(HTML), None, "dripper", "lm", lambda _: (labels, "no answer"))
    return examined.extraction


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
    with_title, without = (
        Finisher(settings_of("cpu").model_copy(update={"labels": LabelsSettings(cpu=CpuSettings(title=title))}))
        .examine(Decoded.of(text), None, "dripper", "lm", lambda _: (None, ""))
        .extraction
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


class Failing:
    """A labeler that gives up on every page."""

    name = "failing"
    version = "1"

    def label(self, pages: list[Page]) -> list[Labels]:
        raise PageError(ErrorCode.LABELER_FAILED, "no answer")


def test_a_labeler_that_gives_up_has_the_same_end_in_one_process() -> None:
    body = Extractor(settings_of("body"), Failing()).extract(HTML)
    assert body.method == "fallback:body"
    empty = Extractor(settings_of("empty"), Failing()).extract(HTML)
    assert (empty.error_code, empty.error_detail) == (ErrorCode.LABELER_FAILED, "no answer")
