"""Labelers without a model, and the fallback made of them."""

import numpy as np

from dripper.html import Page, preprocess
from dripper.labels import Labels
from dripper.labels.baselines import AllLabeler, TrafilaturaLabeler
from labelled import pages

STORY = "The river rose over night, and the lower town was under water by morning. Forty houses have to be rebuilt. "
ARTICLE = (
    "<html><head><title>Flood</title></head><body><nav><a href='/'>Home</a> <a href='/n'>News</a></nav>"
    f"<article><h1>Flood in the lower town</h1><p>{STORY * 3}</p><p>{STORY.upper() * 2}</p></article>"
    "<footer>Copyright The Paper</footer></body></html>"
)


def main_text(page: Page, labels: Labels) -> str:
    return " ".join(block.text for block, is_main in zip(page.blocks, labels.main, strict=True) if is_main)


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
