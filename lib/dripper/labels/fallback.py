"""Labels a page if its labeler finds no main content, so that no page is lost. Also defines the
labelers without a model, `all` and `trafilatura`.
"""

from collections.abc import Sequence
from enum import StrEnum
from importlib.metadata import version

import numpy as np

from dripper.extras import needed
from dripper.html.blocks.page import Page
from dripper.labels.base import Labeler, Labels, SimplifiedPage
from dripper.labels.entry import LabelerEntry


class AllLabeler:
    """Marks every block as main, including boilerplate."""

    name = "all"
    version = "1"

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return labels that are all main."""
        return [Labels.certain(np.ones(len(page.blocks), bool)) for page in pages]

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return labels that are all main."""
        return [Labels.certain(np.ones(page.n_blocks, bool)) for page in pages]


class TrafilaturaLabeler:
    """Runs Trafilatura (https://trafilatura.readthedocs.io, default settings) and marks the blocks
    that it extracts."""

    name = "trafilatura"

    def __init__(self) -> None:
        with needed("the labeler trafilatura", "trafilatura"):
            self.version = version("trafilatura")

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Mark the blocks that contain Trafilatura's text; no block is main if it extracts
        nothing."""
        return [Labels.certain(label_by_trafilatura(page, page.mapping_html)) for page in pages]


def label_by_trafilatura(page: Page, html: str) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which blocks of a page Trafilatura extracts from `html`, shape (n_blocks,).

    A block is main if at least half of its words occur, in order, in Trafilatura's text.
    """
    # Slow to import, and needed only if a page falls back.
    with needed("the labeler, or the fallback, trafilatura", "trafilatura"):
        from trafilatura import extract

        from dripper.labels.align import labels_from_text

    text = extract(html) or ""
    return np.asarray(labels_from_text([block.text for block in page.blocks], text))


ALL = LabelerEntry(name="all", load=lambda _: AllLabeler())
TRAFILATURA = LabelerEntry(name="trafilatura", load=lambda _: TrafilaturaLabeler())


class Fallback(StrEnum):
    """The setting for the first fallback to try. The column `method` names the fallback that was
    used, as "fallback:<value>"."""

    CPU = "cpu"
    """Labels of `cpu`; the whole body if `cpu` finds nothing either."""
    TRAFILATURA = "trafilatura"
    """The blocks that Trafilatura extracts; the whole body if it extracts nothing either."""
    BODY = "body"
    """Every block."""
    EMPTY = "empty"
    """No block: the page's row says that nothing was found."""


def fall_back(page: Page, html: str, fallback: Fallback, second: Labeler | None = None) -> tuple[Labels, str]:
    """Return labels for a page without main blocks, and the `method` that gave them.

    A page without blocks always gets "fallback:empty".

    Args:
        html: The decoded page as served: Trafilatura also reads parts that the mapping HTML lacks.
        second: The labeler for Fallback.CPU.

    Raises:
        ValueError: If `second` is needed but missing.
    """
    if not page.blocks:
        fallback = Fallback.EMPTY
    if fallback in (Fallback.CPU, Fallback.TRAFILATURA):
        if fallback is Fallback.TRAFILATURA:
            labels = Labels.certain(label_by_trafilatura(page, html))
        elif second is not None:
            labels = second.label([page])[0]
        else:
            raise ValueError("the fallback `cpu` needs its labeler")
        if labels.main.any():
            return labels, f"fallback:{fallback}"
        fallback = Fallback.BODY
    return Labels.certain(np.full(len(page.blocks), fallback is Fallback.BODY)), f"fallback:{fallback}"
