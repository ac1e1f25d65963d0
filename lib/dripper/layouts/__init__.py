"""Groups a host's pages by the template they were made with (a layout), and spreads labels from a
few pages of a layout to the others. All functions are pure.
"""

from dripper.layouts.fingerprints import Fingerprints, fingerprints
from dripper.layouts.page_blocks import PageBlocks, PageLayout
from dripper.layouts.skeletons import Skeleton, skeleton

__all__ = ["Fingerprints", "PageBlocks", "PageLayout", "Skeleton", "fingerprints", "skeleton"]
