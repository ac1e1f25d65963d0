"""What single labelers reach on pages that they were not trained on: the weights of a vote
`weighted:…`."""

import math
from collections.abc import Mapping

HELD_OUT_F1: Mapping[str, float] = {"cpu": 0.8798, "trafilatura": 0.8213, "web2text": 0.7996}
"""Mean F1 over words on pages of the eight sets that may ship, by labeler; no page was learned from
by the one that labelled it. cpu: the model card's, on half of all pages. The others are means over
sets, weighed by their pages: `python -m dripper.train.held_out --sample 150`, and for the five sets
that web2text learned from its model card. Members that are not here are given a weight."""


def weight_of(f1: float) -> float:
    """Return the weight of a voter whose F1 is between 0 and 1: its log odds.

    That is the best weight where voters err independently and are right with that probability
    (Nitzan and Paroush 1982); at least a hundredth, so that nobody is without a voice.

    >>> round(weight_of(0.9), 2), weight_of(0.4)
    (2.2, 0.01)
    """
    return round(max(0.01, math.log(f1 / (1 - f1))), 2)
