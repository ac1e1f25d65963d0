"""Samples pages by layout (Dripper paper 4.1): pages of a site with similar layouts are one
cluster, and each cluster gives one page before any gives its second.

A page's layout is the counts of its tag paths with class names. The cosine between two layouts
measures their similarity. The clusters are those found by DBSCAN with one page as a core: pages
that are connected by similar pairs.
"""

import hashlib
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from dripper.html.tree.tree import Tree
from dripper.labels.arrays import FloatArray

BINS = 2048
"""Number of bins that the counts are hashed into."""
ALIKE = 0.9
"""Cosine from which on two pages have similar layouts. Among 120 articles of ten sites, two of one
site have 0.98 (median; 0.95 at the lower quartile), and two of different sites have 0.07, at most
0.22. They form 13 clusters."""
MOST_OF_A_SITE = 2000
"""Pages of a site that are compared in pairs; further ones are not sampled (the paper: 10,000)."""
_DIGITS = re.compile(r"\d+")


def layout_of(tree: Tree) -> FloatArray:
    """Return a page's layout, shape (BINS,), with norm 1: log counts of the last three steps of its
    elements' paths, each with its first class name without digits. The text does not count."""
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
    """Return the clusters of layouts (n, BINS), largest first, each ordered from its most typical
    page on."""
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
    """Return the indexes of `size` pages, or of all pages if there are fewer, ascending. They are
    always the same for a seed.

    Sites take turns, each with its largest cluster first. A page with a layout similar to a chosen
    page's, also of another site, waits until all other pages have been taken.
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
    """Yield all pages that may be taken: in each round one page of each site, from its next
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
