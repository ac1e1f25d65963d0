"""The shipped labeler."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dripper.errors import MachineError
from dripper.html import preprocess
from dripper.labels import load
from dripper_labelers.web2text.features import compute_block_features
from dripper_labelers.web2text.labeler import Web2TextLabeler, compute_potentials, decide
from dripper_labelers.web2text.weights import load_weights, save_weights
from support.flood import ARTICLE, main_text
from support.labelled import labelled_pages, pages


def test_it_finds_the_article() -> None:
    page = preprocess(ARTICLE)
    (labels,) = load("web2text").label([page])
    assert "The river rose" in main_text(page, labels)
    assert "Home" not in main_text(page, labels)


def test_on_real_pages_it_finds_most_of_the_truth() -> None:
    found = []
    for labelled, page, labels in zip(labelled_pages(), pages(), load("web2text").label(pages()), strict=True):
        truth, said = set(labelled.truth_text.split()), set(main_text(page, labels).split())
        found.append(len(truth & said) / max(len(truth | said), 1))
        assert labels.main.dtype == bool
        assert labels.probability.dtype == np.float32
        assert ((labels.probability >= 0) & (labels.probability <= 1)).all()
        assert 0 < labels.confidence <= 1
    assert np.mean(found) > 0.6


def test_labels_do_not_depend_on_what_else_is_labelled() -> None:
    labeler = load("web2text")
    together = labeler.label(pages())
    for page, labels in zip(pages(), together, strict=True):
        (alone,) = labeler.label([page])
        assert np.array_equal(alone.main, labels.main)
        assert np.array_equal(alone.probability, labels.probability)


@pytest.mark.parametrize("html", ["", "<p>one", "<img src=i.png>", "<p>" * 3000 + "deep", "<div>1" * 3000])
def test_odd_pages(html: str) -> None:
    page = preprocess(html)
    (labels,) = load("web2text").label([page])
    assert labels.main.shape == labels.probability.shape == (len(page.blocks),)


def test_without_pairs_each_block_is_labelled_by_itself() -> None:
    weights = replace(load_weights(), pair_weight=0.0)
    for page, labels in zip(pages(), Web2TextLabeler(weights).label(pages()), strict=True):
        said = compute_potentials(weights, compute_block_features(page))
        assert labels.main.tolist() == (said.leaves[:, 1] > said.leaves[:, 0]).tolist() == decide(said)[0].tolist()


def test_a_page_longer_than_a_window_is_labelled_as_if_there_was_none(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = load_weights()
    whole = [compute_potentials(weights, compute_block_features(page)) for page in pages()]
    monkeypatch.setattr("dripper_labelers.web2text.labeler.WINDOW", 5)
    for page, said in zip(pages(), whole, strict=True):
        for ours, theirs in zip(compute_potentials(weights, compute_block_features(page)), said, strict=True):
            assert np.array_equal(ours, theirs)


def test_a_file_gives_back_what_was_saved(tmp_path: Path) -> None:
    weights, path = load_weights(), tmp_path / "w.npz"
    save_weights(weights, path)
    assert load_weights(path).version == weights.version
    assert path.stat().st_size < 200_000
    page = pages()[0]
    assert np.array_equal(
        Web2TextLabeler.load(path).label([page])[0].probability, Web2TextLabeler(weights).label([page])[0].probability
    )
    with pytest.raises(ValueError, match="weight leaf0 is outside"):
        save_weights(replace(weights, matrices={**weights.matrices, "leaf0": weights.matrices["leaf0"] + 40}), path)


def test_a_file_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04nonsense")
    for name in ("bad.npz", "missing.npz"):
        with pytest.raises(MachineError, match=r"weights of the labeler web2text: .* cannot be read"):
            load_weights(tmp_path / name)
