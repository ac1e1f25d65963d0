"""What is kept of a page's blocks for its site: where each stands and what it says, as hashes of 8
bytes."""

import re
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.markup.tree import Tree, attribute

Hashes = npt.NDArray[np.int64]

_DIGITS = re.compile(r"\d+")
_NAME_CHARACTERS = 200
"""Of a class list or an id that count; generated ones run to kilobytes."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Of one page; both have shape (n_blocks,), in block order, and are the same on every
    machine."""

    paths: Hashes
    """Of the tags from the root to the block, each with its class names in order of the alphabet,
    and its id; digits folded."""
    texts: Hashes
    """Of the text: lower case, white space collapsed, digits folded."""


def fingerprints(page: Page) -> Fingerprints:
    """Return the fingerprints of a page's blocks.

    >>> from dripper.html import preprocess
    >>> of = fingerprints(preprocess("<p id=a1>One 12<p id=a2>ONE 7<p>Two"))
    >>> len(set(of.paths.tolist())), len(set(of.texts.tolist()))
    (2, 2)
    """
    known: dict[int, bytes] = {-1: b""}
    paths = [_path(page.elements, block.element, known) for block in page.blocks]
    texts = [_digest(_folded(" ".join(block.text.lower().split()))) for block in page.blocks]
    return Fingerprints(_numbers(paths), _numbers(texts))


def _path(tree: Tree, element: int, known: dict[int, bytes]) -> bytes:
    """Return the digest of the path to an element; `known`: of those that are done, -1 for the
    root's parent."""
    way = []
    while element not in known:
        way.append(element)
        element = tree.parents[element]
    digest = known[element]
    for each in reversed(way):
        digest = known[each] = _digest(_signature(tree, each), digest)
    return digest


def _signature(tree: Tree, element: int) -> str:
    """Return the element as its template has it."""
    start_tag = tree.start_tag(element)
    names, own = (_folded((attribute(start_tag, name) or "")[:_NAME_CHARACTERS]) for name in ("class", "id"))
    return f"{tree.tags[element]}.{'.'.join(sorted(set(names.split())))}#{own}"


def _folded(text: str) -> str:
    return _DIGITS.sub("0", text)


def _digest(text: str, before: bytes = b"") -> bytes:
    return blake2b(before + text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _numbers(digests: list[bytes]) -> Hashes:
    return np.frombuffer(b"".join(digests), "<i8").astype(np.int64)
