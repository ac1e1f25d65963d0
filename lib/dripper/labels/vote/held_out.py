"""What single labelers reach on pages that they were not trained on: the weights of a vote
`weighted:…`."""

import math
from collections.abc import Mapping

HELD_OUT_F1: Mapping[str, float] = {"cpu": 0.9029, "web2text": 0.8703}
"""Mean F1 over words on the same held-out pages of five sets, mostly articles, by labeler: of model
cards (cpu: that of its weights `e8066a984df9`), and of those that nobody trained by
`python -m dripper.train.held_out`. Members that are not here are given a weight."""


def weight_of(f1: float) -> float:
    """Return the weight of a voter whose F1 is between 0 and 1: its log odds.

    That is the best weight where voters err independently and are right with that probability
    (Nitzan and Paroush 1982); at least a hundredth, so that nobody is without a voice.

    >>> round(weight_of(0.9), 2), weight_of(0.4)
    (2.2, 0.01)
    """
    return round(max(0.01, math.log(f1 / (1 - f1))), 2)
