"""Labels pages with a chain of labelers: each labeler gets the pages that the previous one is
unsure of."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from dripper.errors import ErrorCode, PageError, SettingsError
from dripper.html.blocks.page import Page
from dripper.labels.base import Closable, Labeler, Labels, SimplifiedLabeler, SimplifiedPage

_INSTEAD = ":instead_of_"


def chain_of(name: str) -> tuple[str, ...]:
    """Return the labelers that `labeler.name` names, cheapest first. Raises SettingsError.

    Commas after a colon belong to the labeler before the colon, which combines others and ends the
    chain.

    >>> chain_of("cpu,lm"), chain_of("cpu,vote:cpu,web2text")
    (('cpu', 'lm'), ('cpu', 'vote:cpu,web2text'))
    """
    simple, colon, rest = name.partition(":")
    *before, last = simple.split(",")
    labelers = tuple(part.strip() for part in (*before, last + colon + rest))
    if len(labelers) > 1 and (not all(labelers) or len(set(labelers)) < len(labelers)):
        raise SettingsError(f"labeler.name={name!r}: write each labeler of a chain once, for instance cpu,lm")
    return labelers


def is_sure(labels: Labels, below: float) -> bool:
    """Return whether a page keeps its labels instead of going to the next labeler of a chain. A
    page without a confidence goes to the next labeler."""
    return labels.confidence >= below


def name_substitute(method: str, labeler: str) -> str:
    """Return the `method` of labels that are used because `labeler`, the preferred one, gave no
    labels.

    >>> name_substitute("cpu", "lm")
    'cpu:instead_of_lm'
    """
    return f"{method.partition(_INSTEAD)[0]}{_INSTEAD}{labeler}"


P = TypeVar("P", Page, SimplifiedPage)
Ask = Callable[[Any, Sequence[tuple[P, Labels | None]]], list[Labels]]
"""Asks a labeler to label pages, each given with its labels from the previous labelers."""


class ChainLabeler:
    """Uses the labels of the first labeler that is sure of the page, or else of the last labeler
    that marks any block."""

    def __init__(self, labelers: Sequence[Labeler], below: float) -> None:
        """below: a page with a lower confidence goes to the next labeler."""
        self.name = ",".join(labeler.name for labeler in labelers)
        self.version = ",".join([*(labeler.version for labeler in labelers), f"below={below:g}"])
        self._labelers = tuple(labelers)
        self._below = below

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page, with its `method`. Raises PageError if no labeler could
        label one of the pages."""
        return self._label(pages, _ask_for_pages)

    def close(self) -> None:
        """Close the labelers that hold resources."""
        for labeler in self._labelers:
            if isinstance(labeler, Closable):
                labeler.close()

    def _label(self, pages: Sequence[P], ask: Ask[P]) -> list[Labels]:
        best: list[Labels | None] = [None] * len(pages)
        problem: PageError | None = None
        for labeler in self._labelers:
            unsure = [i for i, labels in enumerate(best) if labels is None or not is_sure(labels, self._below)]
            for i, answer in zip(unsure, _ask(ask, labeler, [(pages[i], best[i]) for i in unsure]), strict=True):
                problem = answer if isinstance(answer, PageError) else problem
                best[i] = _choose_better(best[i], answer, labeler.name)
        labelled = [labels for labels in best if labels is not None]
        if problem is not None and len(labelled) < len(pages):
            raise problem
        return labelled


class SimplifiedChainLabeler(ChainLabeler):
    """A chain of labelers that need only the simplified HTML."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` per page, as `label` does."""
        return self._label(pages, _ask_for_simplified)


def make_chain(labelers: Sequence[Labeler], below: float) -> Labeler:
    """Return the labelers as a single one. It can run in its own stage if each of them can."""
    is_simplified = all(isinstance(labeler, SimplifiedLabeler) for labeler in labelers)
    return (SimplifiedChainLabeler if is_simplified else ChainLabeler)(labelers, below)


def _ask_for_pages(labeler: Labeler, pages: Sequence[tuple[Page, Labels | None]]) -> list[Labels]:
    """Return labels for whole pages. A labeler that reads simplified HTML also gets the drafts."""
    if isinstance(labeler, SimplifiedLabeler) and any(draft is not None for _, draft in pages):
        return labeler.label_simplified([SimplifiedPage.of(page, draft) for page, draft in pages])
    return labeler.label([page for page, _ in pages])


def _ask_for_simplified(
    labeler: SimplifiedLabeler, pages: Sequence[tuple[SimplifiedPage, Labels | None]]
) -> list[Labels]:
    return labeler.label_simplified([replace(page, draft=draft or page.draft) for page, draft in pages])


def _ask(ask: Ask[P], labeler: Labeler, pages: Sequence[tuple[P, Labels | None]]) -> list[Labels | PageError]:
    """Return the labels of each page, or the error that explains why the page has no labels."""
    if not pages:
        return []
    try:
        return list(ask(labeler, pages))
    except PageError as error:
        if error.code is not ErrorCode.LABELER_FAILED:
            raise
        # One page may have caused the error, which does not name that page.
        return [error] if len(pages) == 1 else [answer for page in pages for answer in _ask(ask, labeler, [page])]


def _choose_better(before: Labels | None, answer: Labels | PageError, labeler: str) -> Labels | None:
    """Return the labels of a page after the answer of `labeler`.

    Args:
        before: The labels of the page before that answer.
    """
    if isinstance(answer, Labels) and (before is None or answer.main.any()):
        return replace(answer, method=answer.method or labeler)
    return None if before is None else replace(before, method=name_substitute(before.method, labeler))
