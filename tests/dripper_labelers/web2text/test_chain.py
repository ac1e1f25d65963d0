"""The most probable labels of a chain, and the probability of each, against all sequences."""

from itertools import product

import numpy as np
import pytest

from dripper_labelers.web2text.chain import choose_most_probable, compute_marginals


def scores(leaves: np.ndarray, pairs: np.ndarray) -> dict[tuple[int, ...], float]:
    """The logarithm of the score of every sequence (paper, equation 3)."""
    return {
        labels: sum(leaves[place, label] for place, label in enumerate(labels))
        + sum(pairs[place, 2 * labels[place] + labels[place + 1]] for place in range(len(pairs)))
        for labels in product((0, 1), repeat=len(leaves))
    }


@pytest.mark.parametrize("seed", range(20))
def test_against_all_sequences(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 8))
    leaves, pairs = draw.normal(size=(n, 2)), 2 * draw.normal(size=(n - 1, 4))
    known = scores(leaves, pairs)
    assert tuple(choose_most_probable(leaves, pairs).astype(int)) == max(known, key=known.__getitem__)
    total = sum(map(np.exp, known.values()))
    expected = [sum(np.exp(score) for labels, score in known.items() if labels[place]) / total for place in range(n)]
    assert compute_marginals(leaves, pairs) == pytest.approx(expected, abs=1 / 4000)


def test_nothing_has_no_labels() -> None:
    assert choose_most_probable(np.zeros((0, 2)), np.zeros((0, 4))).shape == (0,)
    assert compute_marginals(np.zeros((0, 2)), np.zeros((0, 4))).shape == (0,)


def test_without_pairs_each_leaf_is_by_itself_and_a_tie_is_other() -> None:
    leaves = np.log([[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]])
    assert choose_most_probable(leaves, np.zeros((2, 4))).tolist() == [False, True, False]
    assert compute_marginals(leaves, np.zeros((2, 4))) == pytest.approx([0.4, 0.6, 0.5], abs=1e-3)


def test_a_long_chain_of_certain_labels_neither_overflows_nor_vanishes() -> None:
    leaves = np.tile([-40.0, 0.0], (20_000, 1))
    assert choose_most_probable(leaves, np.full((19_999, 4), -30.0)).all()
    assert compute_marginals(leaves, np.full((19_999, 4), -30.0)).tolist() == [1.0] * 20_000
