"""Samples pages by layout (Dripper paper 4.1). Pages of a site with similar layouts form a cluster,
and every cluster contributes one page before any contributes a second.

A layout consists of the counts of a page's tag paths with class names, and similarity is the cosine
between two layouts. Clusters are the connected components of similar pairs, as in DBSCAN with a
minimum of one page per core.
"""

import hashlib
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray
from dripper.tree.tree import Tree

BINS = 2048
"""The number of hash bins for the counts."""
ALIKE = 0.9
"""The minimum cosine at which layouts count as similar. In a sample of 120 articles from ten sites,
pages of the same site have a median cosine of 0.98 (lower quartile 0.95). Pages of different sites
have a median of 0.07, and at most 0.22. The 120 articles form 13 clusters."""
MOST_OF_A_SITE = 2000
"""The maximum number of pages per site to compare pairwise. Further pages are not sampled.
The paper uses 10,000."""
_DIGITS = re.compile(r"\d+")


def layout_of(tree: Tree) -> FloatArray:
    """Return a page's layout, (BINS,), with norm 1. It contains log counts of tag paths, each
    consisting of the last three elements with the first class name of each, without digits. Text is
    ignored."""
    names: dict[str, str] = {}
    steps: list[str] = []
    counts: Counter[int] = Counter()
    for element, parent in enumerate(tree.parents):
        tag = tree.start_tag(element)
        if tag not in names:
            classes = tree.attributes(element).get("class", "").split()
            names[tag] = f"{tree.tags[element]}.{_DIGITS.sub('', classes[0]) if classes else ''}"
        steps.append(names[tag])
        above = steps[parent] if parent >= 0 else ""
        top = steps[tree.parents[parent]] if parent >= 0 and tree.parents[parent] >= 0 else ""
        counts[zlib.crc32(f"{top}>{above}>{steps[element]}".encode("utf-8", "replace")) % BINS] += 1
    layout = np.zeros(BINS, np.float32)
    layout[list(counts)] = np.log1p(list(counts.values()))
    return np.asarray(layout / max(float(np.linalg.norm(layout)), 1e-9))


def clusters_of(layouts: FloatArray, alike: float = ALIKE) -> list[npt.NDArray[np.int64]]:
    """Cluster `layouts`, (n, BINS), and return each cluster as an array of page indexes. The
    largest cluster is first, and each cluster begins with its most typical page."""
    similarity = layouts @ layouts.T
    near = similarity >= alike
    free = np.ones(len(layouts), bool)
    clusters = []
    for start in range(len(layouts)):
        if not free[start]:
            continue
        members, edge = np.zeros(len(layouts), bool), np.array([start])
        while len(edge):
            members[edge] = True
            edge = np.flatnonzero(near[edge].any(axis=0) & ~members)
        free &= ~members
        inside = np.flatnonzero(members)
        closeness = similarity[np.ix_(inside, inside)].mean(axis=1)
        clusters.append(inside[np.argsort(-closeness.round(6), kind="stable")])
    return sorted(clusters, key=lambda cluster: -len(cluster))


def choose_pages(sites: Sequence[str], layouts: FloatArray, size: int, seed: int = 0) -> list[int]:
    """Sample `size` pages, or all if there are fewer, and return their indexes in ascending order.
    The same seed gives the same pages.

    Sites take turns, each starting with its largest cluster. A page with a layout similar to a
    sampled page, even from another site, is postponed until all others have been taken.
    """
    chosen: list[int] = []
    waiting: list[int] = []
    chosen_layouts = np.empty((min(size, len(sites)), layouts.shape[1]), np.float32)
    for page in _turns(sites, layouts, seed):
        if len(chosen) == size:
            break
        alike = bool(chosen) and float((chosen_layouts[: len(chosen)] @ layouts[page]).max()) >= ALIKE
        if not alike:
            chosen_layouts[len(chosen)] = layouts[page]
        (waiting if alike else chosen).append(page)
    return sorted([*chosen, *waiting][:size])


def _turns(sites: Sequence[str], layouts: FloatArray, seed: int) -> Iterator[int]:
    """Yield all candidate pages. In each round, every site contributes a page from its next
    cluster."""
    of_site: dict[str, list[int]] = defaultdict(list)
    for page, site in enumerate(sites):
        of_site[site].append(page)

    def drawn(name: object) -> bytes:
        return hashlib.sha256(f"{seed} {name}".encode("utf-8", "replace")).digest()

    queues = []
    for site in sorted(of_site, key=drawn):
        pages = np.array(sorted(of_site[site], key=drawn)[:MOST_OF_A_SITE])
        clusters = [pages[cluster] for cluster in clusters_of(layouts[pages])]
        queues.append([page for round_ in zip_longest(*clusters) for page in round_ if page is not None])
    yield from (int(page) for round_ in zip_longest(*queues) for page in round_ if page is not None)
