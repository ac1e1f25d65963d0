"""All labels of a page in a few passes: the fixed point that equals the state machine's greedy
answer.

Fill every hole with a draft, score all holes in one pass, replace the draft by what the scores say,
repeat. A label depends only on those before it. So where the first label to change is at hole j,
the labels up to and including j are the greedy ones (induction over passes), and when none changes
all are. At most N passes; 2 to 13 were seen where the state machine takes hundreds to thousands. It
is Jacobi decoding (Santilli et al. 2023, "Accelerating Transformer Inference for Translation via
Parallel Decoding") with the holes for positions.

Pure: scores come from a function, so the law is tested on random score tables without any engine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.labels.lm.decision import DecisionRule


@dataclass(slots=True)
class Draft:
    """One page on its way."""

    page: int
    """Its place in the batch."""
    main: npt.NDArray[np.bool_]
    """(N,) the labels so far."""
    margins: FloatArray
    """(N,) logit of main minus logit of other, of the pass that scored the hole last."""
    settled: int = 0
    """So many are final."""
    passes: int = 0
    """Done so far."""

    @property
    def done(self) -> bool:
        """Tell whether all labels are final."""
        return self.settled == len(self.main)

    def update(self, margins: FloatArray, decision: DecisionRule) -> None:
        """Take in a pass. margins: (N - settled,), of the holes that were not yet settled, under
        this draft."""
        self.passes += 1
        self.margins[self.settled :] = margins
        scored = decision.main(margins)
        changed = np.flatnonzero(scored != self.main[self.settled :])
        self.main[self.settled :] = scored
        self.settled = self.settled + int(changed[0]) + 1 if len(changed) else len(self.main)


MarginScorer = Callable[[Sequence[Draft]], Sequence[FloatArray]]
"""Scores drafts in one batch: for each, the margins of its unsettled holes, in order, shape (N -
settled,)."""


def decode_to_fixed_point(sizes: Sequence[int], score: MarginScorer, decision: DecisionRule) -> list[Draft]:
    """Return the settled drafts of a batch of pages, in order. Pages share each pass until they are
    done.

    sizes: number of blocks a page. The first draft is all other: most blocks of most pages are.
    """
    drafts = [Draft(page, np.zeros(size, bool), np.zeros(size)) for page, size in enumerate(sizes)]
    while live := [draft for draft in drafts if not draft.done]:
        for draft, margins in zip(live, score(live), strict=True):
            draft.update(margins, decision)
    return drafts
