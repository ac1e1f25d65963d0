"""A page without main blocks: the labelers without a model, and which of them decides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.html import preprocess
from dripper.labels import Fallback, fall_back, load
from dripper.labels.fallback import AllLabeler, TrafilaturaLabeler
from support.flood import ARTICLE, main_text
from support.labelled import pages

CPU = load("cpu")


def test_fallback_to_trafilatura() -> None:
    page = preprocess(ARTICLE)
    labels, method = fall_back(page, ARTICLE, Fallback.TRAFILATURA)
    assert method == "fallback:trafilatura"
    assert "The river rose" in main_text(page, labels)
    assert not labels.main.all()


def test_fallback_goes_on_to_the_body_where_trafilatura_finds_nothing() -> None:
    page = preprocess("<p>x</p>")
    labels, method = fall_back(page, "<p>x</p>", Fallback.TRAFILATURA)
    assert method == "fallback:body"
    assert labels.main.all()


def test_fallback_to_the_labeler_cpu() -> None:
    page = preprocess(ARTICLE)
    labels, method = fall_back(page, ARTICLE, Fallback.CPU, CPU)
    assert method == "fallback:cpu"
    assert np.array_equal(labels.main, CPU.label([page])[0].main)
    with pytest.raises(ValueError, match="needs its labeler"):
        fall_back(page, ARTICLE, Fallback.CPU)


@pytest.mark.parametrize(("fallback", "share"), [(Fallback.BODY, 1.0), (Fallback.EMPTY, 0.0)])
def test_the_other_fallbacks(fallback: Fallback, share: float) -> None:
    page = preprocess(ARTICLE)
    labels, method = fall_back(page, ARTICLE, fallback)
    assert method == f"fallback:{fallback.value}"
    assert labels.main.mean() == share


@pytest.mark.parametrize("fallback", list(Fallback))
def test_a_page_without_blocks_is_empty_whatever_the_setting(fallback: Fallback) -> None:
    labels, method = fall_back(preprocess(""), "", fallback, load("cpu"))
    assert method == "fallback:empty"
    assert labels.main.shape == (0,)


@settings(deadline=None)
@given(st.text(alphabet="<>/pdiv ab\n", max_size=60), st.sampled_from(list(Fallback)))
def test_any_page_gets_labels_of_its_length_and_a_method(html: str, fallback: Fallback) -> None:
    page = preprocess(html)
    labels, method = fall_back(page, html, fallback, CPU)
    assert labels.main.shape == (len(page.blocks),)
    assert np.isnan(labels.probability).all() == (method != "fallback:cpu" or not page.blocks)
    assert method.removeprefix("fallback:") in list(Fallback)
    if page.blocks and fallback is not Fallback.EMPTY:
        assert labels.main.any()


def test_all_is_all() -> None:
    for page, labels in zip(pages(), AllLabeler().label(pages()), strict=True):
        assert labels.main.all()
        assert len(labels.main) == len(page.blocks)
        assert np.isnan(labels.probability).all()
        assert np.isnan(labels.confidence)


def test_trafilatura_labels_what_trafilatura_extracts() -> None:
    page = preprocess(ARTICLE)
    labeler = TrafilaturaLabeler()
    (labels,) = labeler.label([page])
    assert "The river rose" in main_text(page, labels)
    assert "Home" not in main_text(page, labels)
    assert labeler.version[0].isdigit()


def test_trafilatura_on_a_real_page_marks_some_blocks_but_not_all() -> None:
    (labels,) = TrafilaturaLabeler().label([pages()[1]])
    assert 0 < labels.main.sum() < len(labels.main)


def test_trafilatura_on_nothing() -> None:
    assert TrafilaturaLabeler().label([preprocess("")])[0].main.shape == (0,)
