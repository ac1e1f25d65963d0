"""From logits to probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.lm.decoder import probability_of

MARGINS = st.lists(st.floats(-50, 50), min_size=1).map(np.array)


@given(MARGINS)
def test_main_is_what_is_above_one_half(margins: np.ndarray) -> None:
    probability = probability_of(margins)
    assert (probability[margins > 0] >= 0.5).all()
    assert (probability[margins <= 0] <= 0.5).all()


def test_no_margin_has_no_probability() -> None:
    assert np.isnan(probability_of(np.array([np.nan]))).all()


@pytest.mark.filterwarnings("error")
def test_extreme_margins_do_not_overflow() -> None:
    assert probability_of(np.array([-1e30, 1e30, -np.inf, np.inf])).tolist() == pytest.approx([0, 1, 0, 1])
