"""What a labelled page's truth says of its blocks."""

import numpy as np

from dripper_lab.train.truth import between, read_truths
from support.labelled import labelled_pages, pages


def test_leaves_without_words_at_the_ends_are_other() -> None:
    assert between(np.array([False, True, False]), [0, 3, 0]).tolist() == [False, True, False]
    assert between(np.zeros(2, bool), [0, 0]).tolist() == [False, False]


def test_a_truth_a_page() -> None:
    truths = list(read_truths(labelled_pages()))
    assert [len(truth.words) for _, truth in truths] == [len(page.blocks) for page in pages()]
    for _, truth in truths:
        assert truth.f1(truth.main) > 0.8
        assert truth.f1(~truth.main) < truth.f1(truth.main)
