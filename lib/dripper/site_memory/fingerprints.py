"""What is kept of a page's blocks for its site: where each stands and what it says, as hashes of 8
bytes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.site_memory.paths import Paths, digest, folded

Hashes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Of one page; both have shape (n_blocks,), in block order, and are the same on every
    machine."""

    paths: Hashes
    """Of the tags from the root to the block, each with its class names in order of the alphabet,
    and its id; digits folded."""
    texts: Hashes
    """Of the text: lower case, white space collapsed, digits folded."""


def fingerprints(page: Page, paths: Paths | None = None) -> Fingerprints:
    """Return the fingerprints of a page's blocks. paths: of its tree, where they are known.

    >>> from dripper.html import preprocess
    >>> of = fingerprints(preprocess("<p id=a1>One 12<p id=a2>ONE 7<p>Two"))
    >>> len(set(of.paths.tolist())), len(set(of.texts.tolist()))
    (2, 2)
    """
    known = paths or Paths(page.elements)
    places = [known.digest(block.element) for block in page.blocks]
    texts = [digest(folded(" ".join(block.text.lower().split()))) for block in page.blocks]
    return Fingerprints(numbers(places), numbers(texts))


def numbers(digests: list[bytes]) -> Hashes:
    """Return hashes of 8 bytes as whole numbers, shape (n,)."""
    return np.frombuffer(b"".join(digests), "<i8").astype(np.int64)
