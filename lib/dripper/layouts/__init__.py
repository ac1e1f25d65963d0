"""Groups a host's pages by layout, and transfers labels from a few pages of a layout to its other
pages. Pages have the same layout if the same template produced them. All functions are pure.
"""

from dripper.layouts.fingerprints import Fingerprints, fingerprints
from dripper.layouts.page_blocks import PageBlocks, PageLayout
from dripper.layouts.skeletons import Skeleton, skeleton

__all__ = ["Fingerprints", "PageBlocks", "PageLayout", "Skeleton", "fingerprints", "skeleton"]
