"""Collects all that a page gives to its site."""

from dataclasses import dataclass

from dripper.html.blocks.page import Page
from dripper.labels import Labels
from dripper.sites.fingerprints import Paths
from dripper.sites.layouts import Skeleton, skeleton
from dripper.sites.statistics import PageBlocks, remember


@dataclass(frozen=True, slots=True)
class PageMemory:
    """The parts of a page that its site needs."""

    blocks: PageBlocks
    skeleton: Skeleton

    @classmethod
    def of(cls, page: Page, labels: Labels) -> "PageMemory":
        """Make it of the page, and the labels of a labeler with probabilities."""
        paths = Paths(page.elements)
        return cls(remember(page, labels, paths), skeleton(page, paths))
