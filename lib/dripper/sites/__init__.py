"""Relabels pages by the other pages of their site: hashes and sums of blocks, and labels that
follow from them.

Pure functions. What one page gives to its site adds up with what others give, in any order, to the
same bits.
"""

from dripper.sites.fingerprints import Fingerprints, fingerprints
from dripper.sites.layouts import Skeleton, skeleton
from dripper.sites.page import PageMemory
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
