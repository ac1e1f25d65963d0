"""Declares the one interface of everything that decides which blocks are main content, and the
expected F1 of a choice.
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
    """Probability of `main`, float32; NaN where the labeler has none."""
    confidence: float = math.nan
    """The F1 over words that the labeler expects of `main`, 0 to 1; NaN where it cannot tell."""
    passes: int = 0
    """Forward passes of a language model over this page."""
    windows: int = 1
    """Into how many parts the page was cut to fit it."""
    method: str = ""
    """The labeler, of several, that gave them, as the column `method` has it; empty: the one that
    was asked."""
    page_kind: str | None = None
    """Article, forum, listing, product…, as the labeler sees it; None where it does not say."""

    @classmethod
    def certain(cls, main: npt.NDArray[np.bool_]) -> "Labels":
        """Return labels of a rule that knows no probabilities.

        >>> Labels.certain(np.array([True])).probability
        array([nan], dtype=float32)
        """
        return cls(main, np.full(len(main), np.nan, np.float32))


@dataclass(frozen=True, slots=True)
class SimplifiedPage:
    """All that a labeler needs which reads HTML: what the table `blocks` holds, and what travels to
    a GPU."""

    simplified_html: str
    n_blocks: int
    draft: Labels | None = None
    """Labels of a cheaper labeler, where one was asked: a decoder that goes from a draft to its
    labels may begin there, and a reader weigh its probabilities."""

    @classmethod
    def of(cls, page: Page, draft: Labels | None = None) -> "SimplifiedPage":
        """Return what such a labeler needs of a page."""
        return cls(page.simplified_html, len(page.blocks), draft)


class Labeler(Protocol):
    """A labeler. `name` and `version` end up in every row that it decided."""

    name: str
    version: str

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` a page, in order; a page of no blocks gets empty arrays."""
        ...


@runtime_checkable
class SimplifiedLabeler(Labeler, Protocol):
    """A labeler that needs the simplified HTML only, so that it can run in a stage of its own."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` a page, in order: the same as `label` gives for the pages these come
        from."""
        ...


@runtime_checkable
class ExplainingLabeler(Labeler, Protocol):
    """A labeler that can say why."""

    def reasons(self, page: Page) -> Mapping[str, npt.NDArray[np.float64]]:
        """Return, by reason, how much it speaks for each block to be main, in log odds, shape
        (n_blocks,)."""
        ...


@runtime_checkable
class WarningLabeler(Protocol):
    """A labeler that may find out at work that it is set wrong."""

    @property
    def warnings(self) -> Mapping[str, str]:
        """Return what it has to say to whoever runs it so far: sentences, each with what to do, by
        the setting that they are about."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A labeler that holds what has to be given back: an engine's memory, connections."""

    def close(self) -> None:
        """Give it back; the labeler cannot be used after."""
        ...


class LabelerStoppedError(MachineError):
    """The labeler is beyond repair: a new one may work, and the page that it died of may be one of
    those it was given."""


def expected_f1(main: npt.NDArray[np.bool_], probability: FloatArray, words: IntArray) -> float:
    """Return the F1 over words that a choice of blocks is expected to reach, as the ratio of
    expectations, 0 to 1; 0 where the page has no words.

    All: (n_blocks,): which blocks were chosen, the probability of each to be main, and its words.

    >>> expected_f1(np.array([True, False]), np.array([1.0, 0.5]), np.array([10, 10]))
    0.8
    """
    hits = float((probability * words)[main].sum())
    size = float(words[main].sum() + (probability * words).sum())
    return 2 * hits / size if size else 0.0
