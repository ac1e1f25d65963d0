"""Layouts: pages of a host that are made with one template, and labels that spread from a few of
them to the others. All functions are pure.
"""

from dripper.layouts.fingerprints import Fingerprints, fingerprints
from dripper.layouts.page_blocks import PageBlocks, PageLayout
from dripper.layouts.skeletons import Skeleton, skeleton

__all__ = ["Fingerprints", "PageBlocks", "PageLayout", "Skeleton", "fingerprints", "skeleton"]
