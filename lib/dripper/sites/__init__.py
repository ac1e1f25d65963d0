"""Relabels pages by the other pages of their site: hashes and sums of blocks, and labels that
follow from them.

All functions are pure. The sums of a site are the same bits, in whatever order its pages are added.
"""

from dripper.sites.fingerprints import Fingerprints, fingerprints
from dripper.sites.layouts import Skeleton, skeleton
from dripper.sites.page_memory import PageMemory
from dripper.sites.rule import relabel
from dripper.sites.statistics import PageBlocks, SiteStatistics, remember

__all__ = [
    "Fingerprints",
    "PageBlocks",
    "PageMemory",
    "SiteStatistics",
    "Skeleton",
    "fingerprints",
    "relabel",
    "remember",
    "skeleton",
]
