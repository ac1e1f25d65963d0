"""Groups a site's pages by the template that produced them.

A page's skeleton is the set of paths to the containers around its blocks. This set does not grow
with the length of a list, and each run of digits in class names and ids counts as 0. Containers
inside text elements do not count, because some articles have a table or a quotation and others with
the same template have none. Skeletons that differ only in a missing container (no comments, no
related pages) are nearly equal, and are joined.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.layouts.fingerprints import Hashes, Paths, digest, to_numbers

T = TypeVar("T")

CONTAINERS = frozenset(
    ("body", "div", "section", "article", "main", "aside", "header", "footer", "nav", "form", "table", "ul", "ol", "dl")
)
"""Elements that a skeleton can contain."""
N_HASHES = 32
"""Length of a MinHash signature (Broder 1997). The fraction of equal hashes in two signatures
estimates the fraction of common paths, with a standard error of 0.09."""
ALIKE = 0.6
"""Skeletons with at least this fraction of common paths belong to one template."""

_FACTORS = np.random.default_rng(20260101).integers(1 << 63, size=N_HASHES, dtype=np.uint64) * 2 + 1
_TEXT_PARENTS = frozenset(("p", "blockquote", "td", "th", "li", "dd", "figure", "pre"))
"""Text elements. Containers inside them are not part of a skeleton."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The skeleton of one page."""

    layout_id: str
    """16 hex digits, the same for pages with the same skeleton."""
    signature: npt.NDArray[np.int32]
    """Shape (N_HASHES,)."""


def skeleton(page: Page, paths: Paths | None = None) -> Skeleton:
    """Return the skeleton of a page.

    Args:
        paths: The paths of the page's tree, if already computed.

    >>> from dripper.html import preprocess
    >>> one, two = (preprocess("<div class=a>" + n * "<p id=x1>text" + "</div>") for n in (1, 9))
    >>> skeleton(one).layout_id == skeleton(two).layout_id
    True
    """
    paths = paths or Paths(page.elements)
    places = sorted({paths.digest(element) for element in _find_containers(page)})
    return Skeleton(digest("", b"".join(places)).hex(), _sign(to_numbers(places)))


def _find_containers(page: Page) -> set[int]:
    """Return the elements of the skeleton: the containers around each block, down to the first text
    element."""
    tree = page.elements
    elements: set[int] = set()
    for block in page.blocks:
        for element in tree.path(block.element):
            if tree.tags[element] in _TEXT_PARENTS:
                break
            if tree.tags[element] in CONTAINERS:
                elements.add(element)
    return elements


def _sign(places: Hashes) -> npt.NDArray[np.int32]:
    if not len(places):
        return np.zeros(N_HASHES, np.int32)
    hashed = (places.astype(np.uint64)[:, None] * _FACTORS) >> np.uint64(33)
    lowest: npt.NDArray[np.int32] = hashed.min(axis=0).astype(np.int32)
    return lowest


def group_by_layout(pages: Sequence[T], skeleton_of: Callable[[T], Skeleton]) -> list[list[T]]:
    """Return a site's pages, grouped by layout (see `join_layouts`). Groups, and pages in a group,
    are in the order of `pages`."""
    layouts = join_layouts(map(skeleton_of, pages))
    groups: dict[str, list[T]] = defaultdict(list)
    for page in pages:
        groups[layouts[skeleton_of(page).layout_id].layout_id].append(page)
    return list(groups.values())


def join_layouts(skeletons: Iterable[Skeleton], leaders: Iterable[Skeleton] = ()) -> dict[str, Skeleton]:
    """Group a site's skeletons into layouts. Return a mapping from the `layout_id` of each skeleton
    to the leader of its group. The group's template is named after the leader.

    A skeleton that is not similar to any leader becomes a leader. Afterwards, every skeleton gets
    its most similar leader.

    Args:
        skeletons: The skeletons, in the order in which they were first seen.
        leaders: The known leaders, for example from earlier batches, in order.
    """
    known = list({each.layout_id: each for each in leaders}.values())
    signatures = np.array([each.signature for each in known], np.int32).reshape(-1, N_HASHES)
    joined = list(skeletons)
    for each in joined:
        if not len(signatures) or (signatures == each.signature).mean(axis=1).max() < ALIKE:
            known.append(each)
            signatures = np.vstack([signatures, each.signature])
    return {each.layout_id: known[int((signatures == each.signature).mean(axis=1).argmax())] for each in joined}
