"""What a choice of blocks can be expected to reach."""

import numpy as np

from dripper.labels.base import expected_f1


def test_it_is_1_where_all_is_certain_and_0_where_there_is_nothing() -> None:
    main, words = np.array([True, False]), np.array([3, 9])
    assert expected_f1(main, np.array([1.0, 0.0]), words) == 1.0
    assert expected_f1(main, np.array([1.0, 0.0]), np.array([0, 0])) == 0.0
    assert expected_f1(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.int64)) == 0.0


def test_words_weigh() -> None:
    main, probability = np.array([True, True]), np.array([1.0, 0.0])
    assert expected_f1(main, probability, np.array([9, 1])) > expected_f1(main, probability, np.array([1, 9]))
