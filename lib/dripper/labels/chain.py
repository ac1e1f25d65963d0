"""Labels pages with a chain of labelers. If a labeler is unsure of a page, the page goes to the
next labeler."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from dripper.blocks.page import Page
from dripper.errors import ErrorCode, PageError, SettingsError
from dripper.labels.base import Closable, Labeler, Labels, SimplifiedLabeler, SimplifiedPage

_INSTEAD = ":instead_of_"


def chain_of(name: str) -> tuple[str, ...]:
    """Split the `labeler.name` setting into the names of labelers, cheapest first. Raises
    SettingsError.

    Commas after a colon separate the members of a labeler that combines others. Such a labeler can
    only come last in a chain.

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
    """Return whether these labels are confident enough to be kept, so that the next labeler of a
    chain does not see the page. Return False for labels without a confidence."""
    return labels.confidence >= below


def name_substitute(method: str, labeler: str) -> str:
    """Return the `method` of labels from a previous labeler of the chain that are used because
    `labeler` failed or marked no block.

    >>> name_substitute("cpu", "lm")
    'cpu:instead_of_lm'
    """
    return f"{method.partition(_INSTEAD)[0]}{_INSTEAD}{labeler}"


P = TypeVar("P", Page, SimplifiedPage)
Ask = Callable[[Any, Sequence[tuple[P, Labels | None]]], list[Labels]]
"""A function that passes pages to a labeler. Each page comes with the labels that previous labelers
gave the page, or None."""


class ChainLabeler:
    """A chain of labelers. A page gets the labels of the first labeler that is sure of the page. If
    none is sure, the page gets the labels of the last labeler that marked a block."""

    def __init__(self, labelers: Sequence[Labeler], below: float) -> None:
        """below: a page with a lower confidence than this goes to the next labeler."""
        self.name = ",".join(labeler.name for labeler in labelers)
        self.version = ",".join([*(labeler.version for labeler in labelers), f"below={below:g}"])
        self._labelers = tuple(labelers)
        self._below = below

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page, with `method` set. Raises PageError if there is a page that
        no labeler could label."""
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
    """A chain in which all labelers need only simplified HTML."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` per page, as `label` does."""
        return self._label(pages, _ask_for_simplified)


def make_chain(labelers: Sequence[Labeler], below: float) -> Labeler:
    """Combine labelers into a single labeler. The chain can run in its own stage if all of its
    labelers can."""
    is_simplified = all(isinstance(labeler, SimplifiedLabeler) for labeler in labelers)
    return (SimplifiedChainLabeler if is_simplified else ChainLabeler)(labelers, below)


def _ask_for_pages(labeler: Labeler, pages: Sequence[tuple[Page, Labels | None]]) -> list[Labels]:
    """Label whole pages. A labeler that reads simplified HTML also gets the previous labels."""
    if isinstance(labeler, SimplifiedLabeler) and any(draft is not None for _, draft in pages):
        return labeler.label_simplified([SimplifiedPage.of(page, draft) for page, draft in pages])
    return labeler.label([page for page, _ in pages])


def _ask_for_simplified(
    labeler: SimplifiedLabeler, pages: Sequence[tuple[SimplifiedPage, Labels | None]]
) -> list[Labels]:
    return labeler.label_simplified([replace(page, draft=draft or page.draft) for page, draft in pages])


def _ask(ask: Ask[P], labeler: Labeler, pages: Sequence[tuple[P, Labels | None]]) -> list[Labels | PageError]:
    """Return the labels of each page, or the error that explains why there are none."""
    if not pages:
        return []
    try:
        return list(ask(labeler, pages))
    except PageError as error:
        if error.code is not ErrorCode.LABELER_FAILED:
            raise
        # A single page may have caused the error, and the error does not name the page.
        return [error] if len(pages) == 1 else [answer for page in pages for answer in _ask(ask, labeler, [page])]


def _choose_better(before: Labels | None, answer: Labels | PageError, labeler: str) -> Labels | None:
    """Choose between a page's labels from previous labelers, `before`, and the answer of
    `labeler`."""
    if isinstance(answer, Labels) and (before is None or answer.main.any()):
        return replace(answer, method=answer.method or labeler)
    return None if before is None else replace(before, method=name_substitute(before.method, labeler))
