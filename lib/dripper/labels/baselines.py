"""Labelers without a model: the whole body, and Trafilatura's choice in terms of our blocks."""

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from dripper.blocks.page import Page
from dripper.labels.base import Labels, SimplifiedPage
from dripper.labels.entry import LabelerEntry
from dripper.optional import needed


class AllLabeler:
    """Marks every block main: what a page has to say, boilerplate included."""

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
        """Return labels of the blocks that hold Trafilatura's text; all other where it extracts
        nothing."""
        return [Labels.certain(trafilatura_labels(page, page.mapping_html)) for page in pages]


def trafilatura_labels(page: Page, html: str) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which blocks of a page Trafilatura extracts from `html`, shape (n_blocks,).

    A block is main if at least half of its words are, in order, in Trafilatura's text.
    """
    # Slow to import, and only needed where a page falls back.
    with needed("the labeler, or the fallback, trafilatura", "trafilatura"):
        from trafilatura import extract

        from dripper.labels.align import labels_from_text

    text = extract(html) or ""
    return np.asarray(labels_from_text([block.text for block in page.blocks], text))


ALL = LabelerEntry(name="all", load=lambda _: AllLabeler())
TRAFILATURA = LabelerEntry(name="trafilatura", load=lambda _: TrafilaturaLabeler())
