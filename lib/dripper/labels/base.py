"""Defines the interface of labelers, which decide which blocks are main content."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.errors import MachineError
from dripper.labels.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Labels:
    """A labeler's decision for one page. Both arrays have shape (n_blocks,), in block order."""

    main: npt.NDArray[np.bool_]
    """Whether each block is main."""
    probability: npt.NDArray[np.float32]
    """The probability that each block is main. NaN if the labeler does not compute
    probabilities."""
    confidence: float = math.nan
    """The F1 over words that the labeler expects for `main`, 0 to 1. NaN if the labeler does not
    estimate it."""
    passes: int = 0
    """Number of forward passes of a language model over this page."""
    windows: int = 1
    """Number of parts into which the page was split to limit the length of the input."""
    method: str = ""
    """The labeler that these labels come from, if several are combined. Otherwise empty. Written to
    the `method` column."""
    page_kind: str | None = None
    """The kind of page: article, forum, listing, product and so on. None if the labeler does not
    classify pages."""

    @classmethod
    def certain(cls, main: npt.NDArray[np.bool_]) -> "Labels":
        """Create labels without probabilities, for labelers that apply a rule.

        >>> Labels.certain(np.array([True])).probability
        array([nan], dtype=float32)
        """
        return cls(main, np.full(len(main), np.nan, np.float32))


@dataclass(frozen=True, slots=True)
class SimplifiedPage:
    """The input of a labeler that reads simplified HTML: a row of the `blocks` table, small enough
    to send to a GPU machine."""

    simplified_html: str
    n_blocks: int
    draft: Labels | None = None
    """Labels from a previous, cheaper labeler, if there is one. A decoder can start from these
    labels. The `reader` labeler combines their probabilities with its own."""

    @classmethod
    def of(cls, page: Page, draft: Labels | None = None) -> "SimplifiedPage":
        """Create the input from a page."""
        return cls(page.simplified_html, len(page.blocks), draft)


class Labeler(Protocol):
    """A labeler. Each output row contains the `name` and `version` of its labeler."""

    name: str
    version: str

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page, in order. For a page without blocks, the arrays are
        empty."""
        ...


@runtime_checkable
class SimplifiedLabeler(Labeler, Protocol):
    """A labeler that needs only simplified HTML. Such a labeler can run in its own stage."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` per page, in order. The labels are the same as `label` returns for
        the whole pages."""
        ...


@runtime_checkable
class ExplainingLabeler(Labeler, Protocol):
    """A labeler that can explain its decisions."""

    def reasons(self, page: Page) -> Mapping[str, npt.NDArray[np.float64]]:
        """Return an array of evidence for each reason, in log odds, shape (n_blocks,). Positive
        numbers are evidence that a block is main."""
        ...


@runtime_checkable
class WarningLabeler(Protocol):
    """A labeler that can detect some wrong settings, but only while labelling."""

    @property
    def warnings(self) -> Mapping[str, str]:
        """Return the warnings so far. Keys are names of settings, and each warning is a sentence
        that includes a remedy."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A labeler with resources to release, such as an engine's memory or connections."""

    def close(self) -> None:
        """Release the resources. The labeler cannot be used after this."""
        ...


class LabelerStoppedError(MachineError):
    """The labeler cannot recover, perhaps because of one of the pages. A new instance may work."""


def expected_f1(main: npt.NDArray[np.bool_], probability: FloatArray, words: IntArray) -> float:
    """Return the expected F1 over words if these blocks are chosen, 0 to 1. Return 0 if the page
    has no words.

    Expected F1 is approximated by the ratio of the expected numerator to the expected denominator.

    Args:
        main: (n_blocks,), whether each block is chosen.
        probability: (n_blocks,), each block's probability of being main.
        words: (n_blocks,), the number of words of each block.

    >>> expected_f1(np.array([True, False]), np.array([1.0, 0.5]), np.array([10, 10]))
    0.8
    """
    hits = float((probability * words)[main].sum())
    size = float(words[main].sum() + (probability * words).sum())
    return 2 * hits / size if size else 0.0
