"""Labelers without a model, and the fallback made of them."""

import numpy as np

from dripper.html import preprocess
from dripper.labels.fallback import AllLabeler, TrafilaturaLabeler
from support.flood import ARTICLE, main_text
from support.labelled import pages


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
