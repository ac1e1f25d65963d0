"""Entry and settings of the labeler `cpu`, with the conventions on which annotators disagree:
readers' comments under an article, and the page's title.

By default the network follows its training sets, which mostly leave out both. If the user asks for
something else, a second output of the network, the switch, marks the comments and the title, and
their probability of being main changes. Posts of a forum and answers of a Q&A page are the page's
content, not comments.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from pydantic import field_validator

from dripper.labels.arrays import FloatArray
from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry
from dripper.settings import Section

Wish = Literal["auto", "include", "exclude"]
"""A wish for something that some annotators count as main content and others do not."""


BETAS: Mapping[str, float] = {"precision": 0.5, "balanced": 1.0, "recall": 2.0}
"""Weight of recall beside precision (the beta of F-beta)."""


class CpuSettings(Section):
    """The labeler `cpu`: conventions on which people disagree."""

    comments: Wish = "auto"
    """Readers' comments under an article, a product, a video. Posts of a forum are content and
    stay. auto: without, as in most labelled pages."""
    title: Wish = "auto"
    """The heading that repeats the page's title. auto: without it on articles, with it
    on other pages, as in most labelled pages."""
    focus: str | float = "balanced"
    """precision: leave out blocks in doubt; recall: take blocks in doubt; balanced: neither. A
    number from 0 to 1: take the blocks that are main with at least this probability."""

    @field_validator("focus")
    @classmethod
    def _check_focus(cls, value: str | float) -> str | float:
        if value in BETAS or (isinstance(value, float) and 0 <= value <= 1):
            return value
        raise ValueError(f"it is one of {', '.join(BETAS)}, or a probability from 0 to 1")

    def decision(self) -> dict[str, float]:
        """Return `focus` as an argument of `decide`."""
        return {"beta": BETAS[self.focus]} if isinstance(self.focus, str) else {"threshold": self.focus}

    def suffix(self) -> str:
        """Return the part of each row's version that names the focus; "" for the default."""
        return "" if self.focus == "balanced" else f"+focus={self.focus}"


class Conventions(NamedTuple):
    """The conventions on which people disagree. `auto` follows the network's training."""

    comments: Wish = "auto"
    """Comments of readers, under something else."""
    title: Wish = "auto"
    """The heading that repeats the page's title."""

    def apply(self, probability: FloatArray, parts: FloatArray) -> FloatArray:
        """Return the probabilities of `main` under the conventions, shape (n_blocks,).

        Args:
            probability: (n_blocks,) of main, if nothing is asked for.
            parts: (n_blocks, 2), the probability that a block belongs to the comments, to the
                title.

        >>> parts = np.array([[1.0, 0.0], [0.0, 0.0]])
        >>> Conventions(comments="exclude").apply(np.array([0.5, 0.75]), parts)
        array([0.  , 0.75])
        """
        for wish, part in zip(self, parts.T, strict=True):
            if wish == "exclude":
                probability = probability * (1 - part)
            elif wish == "include":
                probability = np.maximum(probability, part)
        return probability

    def suffixes(self) -> list[str]:
        """Return the conventions other than `auto`, for the version in every row.

        >>> Conventions(title="include").suffixes()
        ['+title=include']
        """
        return [f"+{name}={wish}" for name, wish in zip(self._fields, self, strict=True) if wish != "auto"]


AS_LEARNED = Conventions()


def _load(settings: CpuSettings) -> Labeler:
    from dripper.labels.cpu.labeler import CpuLabeler

    return CpuLabeler.load(conventions=Conventions(settings.comments, settings.title), settings=settings)


CPU = LabelerEntry(name="cpu", load=_load, settings=CpuSettings, fallback="body", tells_confidence=True)
"""Its fallback is every block, because it marks none only if no block has a word."""
