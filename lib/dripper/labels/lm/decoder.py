"""Declares the decoder interface, and turns a label's two logits into a probability."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.labels.lm.encoder import Job
from dripper.labels.lm.form_check import FormCheck


def probability_of(margins: FloatArray) -> npt.NDArray[np.float32]:
    """Return the probability of main; NaN if the margin is NaN.

    A block is main if its probability is above 0.5, so a tie means `other`. This equals the arg-max
    over Qwen3's vocabulary, where `other` (1575) comes before `main` (3817). With bfloat16 logits,
    ties do occur.

    Args:
        margins: Logit of main minus logit of other, any shape.

    >>> probability_of(np.array([0.0, 1.0])).round(3).tolist()
    [0.5, 0.7310000061988831]
    """
    # exp(-30) is far below float32's resolution at 1, and exp(30) is far from overflow.
    return (1.0 / (1.0 + np.exp(-np.clip(margins, -30.0, 30.0)))).astype(np.float32)


@dataclass(frozen=True, slots=True)
class DecodedLabels:
    """The answer for one job."""

    main: npt.NDArray[np.bool_]
    """(n_blocks,), whether each block is main."""
    margins: FloatArray
    """(n_blocks,), logit of main minus logit of other; NaN if the decoder does not compute
    logits."""
    passes: int
    """Number of forward passes over this job."""
    tokens: int
    """Number of tokens processed in these passes, without tokens from the cache."""


class Decoder(Protocol):
    """Turns jobs into labels."""

    form_check: FormCheck | None
    """Checks on the first pages whether another answer form fits better. None disables the
    check."""

    def decode(self, jobs: Iterable[Job]) -> list[DecodedLabels]:
        """Return one answer per job, in order. Raises PageError (labeler_failed) if an answer is
        not available.

        Args:
            jobs: Created lazily: a page is tokenized when its job is read.
        """
        ...

    def close(self) -> None:
        """Release the engine's memory and connections. The decoder cannot be used afterwards."""
        ...
