"""What all decoders have in common: the same labels for the same jobs, whichever way they get
them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.labels.lm.encoder import Job


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

    def decode(self, jobs: Sequence[Job]) -> list[DecodedLabels]:
        """Return one answer a job, in order. Raises PageError (labeler_failed) where an answer
        cannot be had."""
        ...

    def close(self) -> None:
        """Give back what the decoder holds: the engine's memory, connections. It cannot be used
        after."""
        ...
