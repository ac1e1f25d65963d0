"""The interface of labelers, and the F1 that a choice of blocks can be expected to reach."""

import numpy as np
import pytest

from dripper.labels import Labeler, Labels, load
from dripper.labels.base import expected_f1
from dripper.labels.registry import own_names
from support.checkpoints import NEED_A_CHECKPOINT


def test_certain_labels_have_no_probability() -> None:
    labels = Labels.certain(np.array([True, False]))
    assert labels.main.tolist() == [True, False]
    assert labels.probability.dtype == np.float32
    assert np.isnan(labels.probability).all()
    assert np.isnan(labels.confidence)


def test_labels_cannot_be_changed() -> None:
    labels = Labels.certain(np.array([True]))
    with pytest.raises(AttributeError):
        labels.confidence = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("name", sorted(set(own_names()) - NEED_A_CHECKPOINT))
def test_every_labeler_has_the_interface(name: str) -> None:
    labeler: Labeler = load(name)
    assert isinstance(labeler.name, str)
    assert isinstance(labeler.version, str)
    assert callable(labeler.label)


def test_it_is_1_where_all_is_certain_and_0_where_there_is_nothing() -> None:
    main, words = np.array([True, False]), np.array([3, 9])
    assert expected_f1(main, np.array([1.0, 0.0]), words) == 1.0
    assert expected_f1(main, np.array([1.0, 0.0]), np.array([0, 0])) == 0.0
    assert expected_f1(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.int64)) == 0.0


def test_words_weigh() -> None:
    main, probability = np.array([True, True]), np.array([1.0, 0.0])
    assert expected_f1(main, probability, np.array([9, 1])) > expected_f1(main, probability, np.array([1, 9]))
