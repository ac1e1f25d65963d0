"""The interface."""

import numpy as np
import pytest

from dripper.labels import Labeler, Labels, load
from dripper.labels.registry import BUILT_IN
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


@pytest.mark.parametrize("name", sorted(set(BUILT_IN) - NEED_A_CHECKPOINT))
def test_every_labeler_has_the_interface(name: str) -> None:
    labeler: Labeler = load(name)
    assert isinstance(labeler.name, str)
    assert isinstance(labeler.version, str)
    assert callable(labeler.label)
