"""Entry and settings of the `cpu` labeler. Annotators disagree on two conventions: whether readers'
comments under an article are main content, and whether the page's title is main content.

By default, the labeler follows the network's training sets, which usually leave out both. If the
user chooses otherwise, the probabilities of the comments and the title are changed. A second output
of the network, the switch, detects these blocks. Forum posts and answers to questions are not
comments, but the page's content.
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
"""A choice for content that only some annotators count as main."""


BETAS: Mapping[str, float] = {"precision": 0.5, "balanced": 1.0, "recall": 2.0}
"""Weights of recall relative to precision (beta in F-beta)."""


class CpuSettings(Section):
    """Settings of the `cpu` labeler. They decide whether comments, titles and doubtful blocks are
    main content."""

    comments: Wish = "auto"
    """Readers' comments under an article, a product or a video. Forum posts are content, and are
    always kept. auto: comments are left out, as in most labelled pages."""
    title: Wish = "auto"
    """The heading that repeats the page's title. auto: the heading is left out on articles and kept
    on other pages, as in most labelled pages."""
    focus: str | float = "balanced"
    """precision: leave out doubtful blocks; recall: keep doubtful blocks; balanced: neither. A
    number from 0 to 1: keep the blocks that are main with at least this probability."""

    @field_validator("focus")
    @classmethod
    def _check_focus(cls, value: str | float) -> str | float:
        if value in BETAS or (isinstance(value, float) and 0 <= value <= 1):
            return value
        raise ValueError(f"it is one of {', '.join(BETAS)}, or a probability from 0 to 1")

    def decision(self) -> dict[str, float]:
        """Return `focus` as a keyword argument for `decide`."""
        return {"beta": BETAS[self.focus]} if isinstance(self.focus, str) else {"threshold": self.focus}

    def suffix(self) -> str:
        """Return the suffix that `focus` adds to the labeler's version, or "" for the default."""
        return "" if self.focus == "balanced" else f"+focus={self.focus}"


class Conventions(NamedTuple):
    """Whether comments and titles are main content. `auto` follows the network's training sets."""

    comments: Wish = "auto"
    """Readers' comments under other content."""
    title: Wish = "auto"
    """The heading that repeats the page's title."""

    def apply(self, probability: FloatArray, parts: FloatArray) -> FloatArray:
        """Apply the conventions to the blocks' probabilities, and return the new probabilities,
        shape (n_blocks,).

        Args:
            probability: (n_blocks,), the probability of main without conventions.
            parts: (n_blocks, 2), the probabilities that each block belongs to the comments and to
                the title.

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
        """Return the conventions other than `auto` as parts of the labeler's version.

        >>> Conventions(title="include").suffixes()
        ['+title=include']
        """
        return [f"+{name}={wish}" for name, wish in zip(self._fields, self, strict=True) if wish != "auto"]


AS_LEARNED = Conventions()


def _load(settings: CpuSettings) -> Labeler:
    from dripper.labels.cpu.labeler import CpuLabeler

    return CpuLabeler.load(conventions=Conventions(settings.comments, settings.title), settings=settings)


CPU = LabelerEntry(name="cpu", load=_load, settings=CpuSettings, fallback="body", tells_confidence=True)
"""The fallback is every block, because `cpu` marks no block only if no block has words."""
