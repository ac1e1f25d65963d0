"""The one interface of everything that decides which blocks are main content."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dripper.html.page import Page


@dataclass(frozen=True, slots=True)
class Labels:
    """The decision for one page; both arrays have shape (n_blocks,), in block order.

    main: bool. probability: float32, of `main`; NaN where the labeler has none.
    """

    main: npt.NDArray[np.bool_]
    probability: npt.NDArray[np.float32]


class Labeler(Protocol):
    """A labeler. `name` and `version` end up in every row that it decided."""

    name: str
    version: str

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` a page, in order; a page of no blocks gets empty arrays."""
        ...
