"""Labels all leaves of a page together (paper 3.5): computes the most probable label sequence, and
each leaf's marginal probability."""

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray

# Probabilities are rounded to multiples of 1/4096, as in the `cpu` labeler.
PROBABILITY_STEPS = 4096


def choose_most_probable(leaves: FloatArray, pairs: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether each leaf is main in the most probable label sequence (Viterbi 1967). In a
    tie, the label is `other`.

    Args:
        leaves: The log potentials of `other` and `main`, (n, 2).
        pairs: The weighted log potentials of other-other, other-main, main-other and main-main, (n
            - 1, 4).

    >>> leaves = np.log([[0.4, 0.6], [0.4, 0.6], [0.6, 0.4]])
    >>> choose_most_probable(leaves, np.log([[0.97, 0.01, 0.01, 0.01]] * 2))
    array([False, False, False])
    """
    main = np.zeros(len(leaves), bool)
    if not len(leaves):
        return main
    (other, mainly), *rest = leaves.tolist()
    steps = []
    for (own_other, own_main), (oo, om, mo, mm) in zip(rest, pairs.tolist(), strict=True):
        to_other, to_main = (other + oo, mainly + mo), (other + om, mainly + mm)
        steps.append((to_other[1] > to_other[0], to_main[1] > to_main[0]))
        other, mainly = max(to_other) + own_other, max(to_main) + own_main
    state = mainly > other
    main[-1] = state
    for place in range(len(steps) - 1, -1, -1):
        state = steps[place][state]
        main[place] = state
    return main


def compute_marginals(leaves: FloatArray, pairs: FloatArray) -> FloatArray:
    """Return the marginal probability of main for each leaf, (n,), in multiples of 1/4096. The
    arguments are the same as for :func:`choose_most_probable`."""
    if not len(leaves):
        return np.zeros(0)
    own, between = np.exp(leaves).tolist(), np.exp(pairs).tolist()
    before, after = (
        _pass_messages(own, between),
        _pass_messages(own[::-1], [(oo, mo, om, mm) for oo, om, mo, mm in between[::-1]]),
    )
    main = np.array(before) * np.array(after[::-1]) * np.array(own)
    return np.asarray(np.rint(main[:, 1] / main.sum(axis=1) * PROBABILITY_STEPS) / PROBABILITY_STEPS)


def _pass_messages(
    own: list[list[float]], between: list[tuple[float, float, float, float]]
) -> list[tuple[float, float]]:
    """Return each leaf's message from all earlier leaves: weights for `other` and `main` that sum
    to 1."""
    messages = [(0.5, 0.5)]
    for (own_other, own_main), (oo, om, mo, mm) in zip(own, between, strict=False):
        other, main = messages[-1][0] * own_other, messages[-1][1] * own_main
        to_other, to_main = other * oo + main * mo, other * om + main * mm
        messages.append((to_other / (to_other + to_main), to_main / (to_other + to_main)))
    return messages
