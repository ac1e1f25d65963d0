"""Declares what all decoders have in common, and turns the two logits of a label into a calibrated
probability.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.labels.lm.encoder import Job
from dripper.labels.lm.form_check import FormCheck
from dripper.labels.lm.settings import LmSettings


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """The rule by which a block is main: its calibrated probability is above `threshold` (0 <
    threshold < 1).

    A tie is other. At 0.5 that is the arg-max over Qwen3's vocabulary, where `other` (1575) comes
    before `main` (3817), so that all decoders agree on ties too; logits in bfloat16 do tie.
    """

    threshold: float = 0.5
    temperature: float = 1.0
    """The logit is divided by it (Guo et al. 2017, "On Calibration of Modern Neural Networks");
    fitted on labelled pages that are not evaluated on, 1 for none."""

    @classmethod
    def of(cls, settings: LmSettings) -> "DecisionRule":
        """Return the decision as the settings have it."""
        return cls(settings.threshold)

    @property
    def margin(self) -> float:
        """The least difference between the logit of `main` and that of `other`; 0 for the
        arg-max."""
        return self.temperature * math.log(self.threshold / (1.0 - self.threshold))

    def main(self, margins: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which labels are main.

        Args:
            margins: Logit of main minus logit of other, any shape.
        """
        return margins > self.margin

    def probability(self, margins: FloatArray) -> npt.NDArray[np.float32]:
        """Return the calibrated probability of main; NaN where the margin is.

        >>> DecisionRule(temperature=2.0).probability(np.array([0.0, 2.0])).round(3).tolist()
        [0.5, 0.7310000061988831]
        """
        # exp() of 30 is far beyond float32's resolution at 1, and far from overflow.
        return (1.0 / (1.0 + np.exp(-np.clip(margins / self.temperature, -30.0, 30.0)))).astype(np.float32)


@dataclass(frozen=True, slots=True)
class DecodedLabels:
    """The answer for one job."""

    main: npt.NDArray[np.bool_]
    """(n_blocks,) bool."""
    margins: FloatArray
    """(n_blocks,) logit of main minus logit of other; NaN where the decoder has none."""
    passes: int
    """Forward passes over this job."""
    tokens: int
    """Tokens processed in them, those from the cache not counted."""


class Decoder(Protocol):
    """Turns jobs into labels."""

    form_check: FormCheck | None
    """Looks at the first pages whether another answer form fits better, where the engine can tell.
    """

    def decode(self, jobs: Iterable[Job]) -> list[DecodedLabels]:
        """Return one answer a job, in order. Raises PageError (labeler_failed) where an answer
        cannot be had.

        Args:
            jobs: Made as they are taken, which is where pages are tokenized.
        """
        ...

    def close(self) -> None:
        """Give back what the decoder holds: the engine's memory, connections. It cannot be used
        after."""
        ...
