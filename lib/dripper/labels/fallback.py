"""Labels pages in which the labeler finds no main content, so that no page is lost. Also defines
the labelers `all` and `trafilatura`, which have no model.
"""

from collections.abc import Sequence
from enum import StrEnum
from importlib.metadata import version

import numpy as np

from dripper.blocks.page import Page
from dripper.extras import needed
from dripper.labels.base import Labeler, Labels, SimplifiedPage
from dripper.labels.entry import LabelerEntry


class AllLabeler:
    """Marks every block as main, including boilerplate."""

    name = "all"
    version = "1"

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return labels in which every block is main."""
        return [Labels.certain(np.ones(len(page.blocks), bool)) for page in pages]

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return labels in which every block is main."""
        return [Labels.certain(np.ones(page.n_blocks, bool)) for page in pages]


class TrafilaturaLabeler:
    """Marks the blocks that Trafilatura extracts (https://trafilatura.readthedocs.io). Uses
    Trafilatura's default settings."""

    name = "trafilatura"

    def __init__(self) -> None:
        with needed("the labeler trafilatura", "trafilatura"):
            self.version = version("trafilatura")

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Mark the blocks that contain Trafilatura's text. If Trafilatura extracts nothing, no
        block is main."""
        return [Labels.certain(label_by_trafilatura(page, page.mapping_html)) for page in pages]


def label_by_trafilatura(page: Page, html: str) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which blocks of a page Trafilatura extracts from `html`, shape (n_blocks,).

    A block is main if at least half of its words are in Trafilatura's text (see `align`).
    """
    # These imports are slow, and are only needed to label with Trafilatura.
    with needed("the labeler, or the fallback, trafilatura", "trafilatura"):
        from trafilatura import extract

        from dripper.labels.align import labels_from_text

    text = extract(html) or ""
    return np.asarray(labels_from_text([block.text for block in page.blocks], text))


ALL = LabelerEntry(name="all", load=lambda _: AllLabeler())
TRAFILATURA = LabelerEntry(name="trafilatura", load=lambda _: TrafilaturaLabeler())


class Fallback(StrEnum):
    """The fallback to try first for a page without main blocks. The `method` column contains the
    fallback that was used, as "fallback:<value>"."""

    CPU = "cpu"
    """The blocks that `cpu` marks, or every block if `cpu` marks none."""
    TRAFILATURA = "trafilatura"
    """The blocks that Trafilatura extracts, or every block if Trafilatura extracts nothing."""
    BODY = "body"
    """Every block."""
    EMPTY = "empty"
    """No block. The page's row shows that nothing was found."""


def fall_back(page: Page, html: str, fallback: Fallback, second: Labeler | None = None) -> tuple[Labels, str]:
    """Label a page for which the labeler marked no block. Return the labels and their `method`.

    For a page without blocks, the method is always "fallback:empty".

    Args:
        html: The decoded original page. Trafilatura also reads parts of this page that are not in
            mapping HTML.
        second: The labeler to use for Fallback.CPU.

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
