"""Declares the interface of labelers, which decide which blocks are main content, and computes the
expected F1 of a choice of blocks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dripper.errors import MachineError
from dripper.html.blocks.page import Page
from dripper.labels.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Labels:
    """The decision for one page; both arrays have shape (n_blocks,), in block order."""

    main: npt.NDArray[np.bool_]
    """Whether each block is main, bool."""
    probability: npt.NDArray[np.float32]
    """Probability of `main`, float32; NaN if the labeler has none."""
    confidence: float = math.nan
    """The F1 over words that the labeler expects of `main`, 0 to 1; NaN if it has no estimate."""
    passes: int = 0
    """Forward passes of a language model over this page."""
    windows: int = 1
    """Number of parts into which the page was cut to fit the labeler."""
    method: str = ""
    """The labeler that gave these labels, if the labeler that was asked consists of several;
    otherwise empty. Written to the column `method`."""
    page_kind: str | None = None
    """Article, forum, listing, product and so on; None if the labeler does not classify pages."""

    @classmethod
    def certain(cls, main: npt.NDArray[np.bool_]) -> "Labels":
        """Return labels without probabilities, for labelers that apply a rule.

        >>> Labels.certain(np.array([True])).probability
        array([nan], dtype=float32)
        """
        return cls(main, np.full(len(main), np.nan, np.float32))


@dataclass(frozen=True, slots=True)
class SimplifiedPage:
    """The input of a labeler that reads simplified HTML: a row of the table `blocks`, small enough
    to send to a GPU."""

    simplified_html: str
    n_blocks: int
    draft: Labels | None = None
    """Labels from a cheaper labeler, if one ran before. A decoder can start from these, and a
    reader can weigh their probabilities."""

    @classmethod
    def of(cls, page: Page, draft: Labels | None = None) -> "SimplifiedPage":
        """Return the simplified form of a page."""
        return cls(page.simplified_html, len(page.blocks), draft)


class Labeler(Protocol):
    """A labeler. Its `name` and `version` are written to every row that it decides."""

    name: str
    version: str

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page, in order; a page without blocks gets empty arrays."""
        ...


@runtime_checkable
class SimplifiedLabeler(Labeler, Protocol):
    """A labeler that needs only the simplified HTML, so that it can run in its own stage."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` per page, in order, equal to the result of `label` for the whole
        pages."""
        ...


@runtime_checkable
class ExplainingLabeler(Labeler, Protocol):
    """A labeler that can explain its decisions."""

    def reasons(self, page: Page) -> Mapping[str, npt.NDArray[np.float64]]:
        """Return, by reason, the evidence that each block is main, in log odds, shape
        (n_blocks,)."""
        ...


@runtime_checkable
class WarningLabeler(Protocol):
    """A labeler that can discover while it labels that its settings are wrong."""

    @property
    def warnings(self) -> Mapping[str, str]:
        """Return the warnings so far, by setting. Each is a sentence that includes a remedy."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A labeler that holds resources, such as an engine's memory or connections."""

    def close(self) -> None:
        """Release the resources; the labeler cannot be used afterwards."""
        ...


class LabelerStoppedError(MachineError):
    """The labeler cannot recover, perhaps because of one of its pages; a new instance may work."""


def expected_f1(main: npt.NDArray[np.bool_], probability: FloatArray, words: IntArray) -> float:
    """Return the expected F1 over words of a choice of blocks, 0 to 1; 0 if the page has no words.

    The expectation is taken as the ratio of expectations.

    Args:
        main: (n_blocks,), the chosen blocks.
        probability: (n_blocks,), each block's probability of being main.
        words: (n_blocks,), the number of words of each block.

    >>> expected_f1(np.array([True, False]), np.array([1.0, 0.5]), np.array([10, 10]))
    0.8
    """
    hits = float((probability * words)[main].sum())
    size = float(words[main].sum() + (probability * words).sum())
    return 2 * hits / size if size else 0.0
