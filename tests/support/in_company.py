"""Labels of pages that share forward passes with others."""

from collections.abc import Sequence

import numpy as np

from dripper.labels import Labels, SimplifiedLabeler, SimplifiedPage


def equal(one: Labels, other: Labels) -> bool:
    """Whether two pages have the same labels and probabilities, to the bit."""
    return bool((one.main == other.main).all() and (one.probability == other.probability).all())


def assert_company_changes_nothing(labeler: SimplifiedLabeler, some: Sequence[SimplifiedPage]) -> None:
    """Equal to the bit, in any order, alone or together. some: five pages."""
    together = labeler.label_simplified(some)
    for order in np.random.default_rng(0).permutation(len(some)), [4], [2, 3]:
        for index, labels in zip(order, labeler.label_simplified([some[i] for i in order]), strict=True):
            assert equal(labels, together[index])
