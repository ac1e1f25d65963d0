"""A labeler that asks others and goes by their majority, block by block.

The SIGIR'23 comparison (Bevendorff et al. 2023, 4.5) lets extractors vote on tokens, as each has
its own text. Labelers decide on the same blocks, so that nothing has to be aligned, and half of the
votes decide: two thirds, the threshold there, would be all of three.
"""

from collections.abc import Sequence

import numpy as np

from dripper.blocks.page import Page
from dripper.labels.arrays import FloatArray
from dripper.labels.base import Closable, Labeler, Labels
from dripper.labels.confidence import expected_f1
from dripper.labels.vote.ballot import Voter
from dripper.labels.words import words_of

# Sums of weights such as 0.1 + 0.2 and 0.3 are a tie, whatever their last bits say.
TIE = 1e-9


class VoteLabeler:
    """See the module. A tie is main: what was left out is lost, what is too much can be cut
    later."""

    def __init__(self, name: str, voters: Sequence[Voter], labelers: Sequence[Labeler]) -> None:
        """voters, labelers: in the same order."""
        self.name = name
        self.members = {voter.name: labeler for voter, labeler in zip(voters, labelers, strict=True)}
        self.version = ",".join(
            f"{voter.name}@{labeler.version}" + (f"*{voter.weight:g}" if voter.weight != 1 else "")
            for voter, labeler in zip(voters, labelers, strict=True)
        )
        weights = np.array([voter.weight for voter in voters])
        self._weights = weights / weights.sum()

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` a page. Raises as the members do."""
        answers = [labeler.label(pages) for labeler in self.members.values()]
        return [self._counted(page, [answer[number] for answer in answers]) for number, page in enumerate(pages)]

    def _counted(self, page: Page, said: Sequence[Labels]) -> Labels:
        """Return the outcome of the vote on one page.

        A member without probabilities is sure of what it says. Probabilities and confidence are of
        the members together: where they disagree, both are low.
        """
        main = np.stack([labels.main for labels in said])
        sure = np.stack([_probability(labels) for labels in said])
        chosen = self._weights @ main >= 0.5 - TIE
        probability = self._weights @ sure
        words = np.array([len(words_of(block.text)) for block in page.blocks], np.int64)
        return Labels(
            chosen, probability.astype(np.float32), expected_f1(chosen, probability, words),
            passes=sum(labels.passes for labels in said), windows=max(labels.windows for labels in said),
        )  # fmt: skip

    def close(self) -> None:
        """Close the members that can be closed."""
        for labeler in self.members.values():
            if isinstance(labeler, Closable):
                labeler.close()


def _probability(labels: Labels) -> FloatArray:
    return np.where(np.isnan(labels.probability), labels.main, labels.probability).astype(np.float64)
