"""What networks say of pages of sites that they did not see, and what was fitted on that."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.page_kind import confidence_of
from dripper.labels.cpu.weights import Weights
from dripper.train.by_site import fold_of
from dripper.train.examples import Example
from dripper.train.folds import held_out_logits, network_of
from dripper.train.kinds import fit_confidence, held_out_kinds
from dripper.train.validate import Calibration, PageScores, calibrate, page_scores


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Of pages that have main content; arrays in their order."""

    examples: Sequence[Example]
    logits: Sequence[FloatArray]
    """As for `validate.page_scores`."""
    kinds: FloatArray
    """(n_pages, n_kinds), probabilities of `page_kind.KINDS`."""
    calibration: Calibration
    scores: PageScores
    confidence: FloatArray
    """(n_pages,), by coefficients fitted on the other half of the sites."""
    coefficients: FloatArray
    """Of `page_kind.confidence_of`, fitted on all pages, those without main content too."""
    empty_kinds: FloatArray
    """`kinds` of the pages without main content."""
    empty_confidence: FloatArray
    """`confidence` of the pages without main content."""

    @classmethod
    def of(cls, examples: Sequence[Example], networks: Sequence[Weights | None]) -> "HeldOut":
        """Return what the networks, one a fold, say of the examples of their folds."""
        full = [example for example in examples if example.truth_words]
        empty = [example for example in examples if not example.truth_words]
        logits, nothing = held_out_logits(full, networks), held_out_logits(empty, networks)
        calibration = calibrate(full, logits)
        scores, lost = page_scores(full, logits, calibration), page_scores(empty, nothing, calibration)
        both = [*full, *empty]
        kinds = np.stack([held_out_kinds(network_of(example, networks), example) for example in both])
        expected, reached = (np.concatenate([scores[at], lost[at]]) for at in (2, 1))
        halves = np.array([fold_of(f"half of {example.host}", 2) for example in both])
        confidence = np.zeros(len(both))
        for half in (0, 1):
            others = halves != half
            if others.any() and not others.all():
                found = fit_confidence(expected[others], kinds[others], reached[others])
                for at in np.flatnonzero(halves == half):
                    confidence[at] = confidence_of(found, float(expected[at]), kinds[at])
        n = len(full)
        return cls(
            full, logits, kinds[:n], calibration, scores, confidence[:n], fit_confidence(expected, kinds, reached),
            kinds[n:], confidence[n:],
        )  # fmt: skip

    def calibrated(self, weights: Weights) -> Weights:
        """Return weights with the calibration of blocks and pages."""
        return replace(
            weights,
            temperature=self.calibration.temperature,
            shift=self.calibration.shift,
            matrices={**weights.matrices, "confidence": self.coefficients},
        )
