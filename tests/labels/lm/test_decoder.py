"""From logits to labels and probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.lm.decoder import DecisionRule

MARGINS = st.lists(st.floats(-50, 50), min_size=1).map(np.array)
OPEN = st.floats(0.01, 0.99)


def test_the_default_is_the_arg_max_and_a_tie_is_other() -> None:
    assert DecisionRule().main(np.array([-1.0, 0.0, 1e-9])).tolist() == [False, False, True]


@given(MARGINS, OPEN, st.floats(0.1, 10))
def test_main_is_what_is_above_the_threshold(margins: np.ndarray, threshold: float, temperature: float) -> None:
    decision = DecisionRule(threshold, temperature)
    probability = decision.probability(margins).astype(float)
    main = decision.main(margins)
    assert (probability[main] >= threshold - 1e-6).all()
    assert (probability[~main] <= threshold + 1e-6).all()


@given(MARGINS, OPEN, OPEN)
def test_a_higher_threshold_takes_fewer(margins: np.ndarray, one: float, two: float) -> None:
    low, high = DecisionRule(min(one, two)).main(margins), DecisionRule(max(one, two)).main(margins)
    assert not (high & ~low).any()


def test_temperature_calms_probabilities_and_keeps_the_arg_max() -> None:
    margins = np.array([-4.0, -0.5, 0.5, 4.0])
    plain, calm = DecisionRule(), DecisionRule(temperature=3.0)
    assert (abs(calm.probability(margins) - 0.5) < abs(plain.probability(margins) - 0.5)).all()
    assert (calm.main(margins) == plain.main(margins)).all()


def test_no_margin_has_no_probability() -> None:
    assert np.isnan(DecisionRule().probability(np.array([np.nan]))).all()


@pytest.mark.filterwarnings("error")
def test_extreme_margins_do_not_overflow() -> None:
    assert DecisionRule().probability(np.array([-1e30, 1e30, -np.inf, np.inf])).tolist() == pytest.approx([0, 1, 0, 1])
