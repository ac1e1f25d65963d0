"""Computes two 8-byte hashes for each block of a page: one of its path in the tree, and one of its
text. The hash of a path is the same on all pages with the same template.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.tree.tree import Tree, attribute

_DIGITS = re.compile(r"\d+")
_NAME_CHARACTERS = 200
"""Only this number of characters of a class list or an id is hashed, because generated names can be
kilobytes long."""


class Paths:
    """Hashes the paths of one page's elements. A path consists of the tags from the root to the
    element, each with its class names in alphabetical order and its id. In names and ids, each run
    of digits is replaced by 0."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._paths: dict[int, bytes] = {-1: b""}
        # Cache by start tag, because a list has many items but few different start tags.
        self._alike: dict[tuple[bytes, str], bytes] = {}

    def digest(self, element: int) -> bytes:
        """Return the 8-byte hash of the path to an element."""
        way = []
        while element not in self._paths:
            way.append(element)
            element = self._tree.parents[element]
        path = self._paths[element]
        for each in reversed(way):
            path = self._paths[each] = self._below(path, each)
        return path

    def _below(self, path: bytes, element: int) -> bytes:
        key = path, self._tree.start_tag(element)
        if key not in self._alike:
            self._alike[key] = digest(_describe_element(self._tree.tags[element], key[1]), path)
        return self._alike[key]


def _describe_element(tag: str, start_tag: str) -> str:
    """Return an element's tag, class names and id, with each run of digits replaced by 0."""
    names, own = (fold_digits((attribute(start_tag, name) or "")[:_NAME_CHARACTERS]) for name in ("class", "id"))
    return f"{tag}.{'.'.join(sorted(set(names.split())))}#{own}"


def fold_digits(text: str) -> str:
    """Return the text with each run of digits replaced by one 0.

    >>> fold_digits("post-17 of 2024")
    'post-0 of 0'
    """
    return _DIGITS.sub("0", text)


def digest(text: str, before: bytes = b"") -> bytes:
    """Return the 8-byte hash of `text`, chained to the hash `before`."""
    return blake2b(before + text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


Hashes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The fingerprints of one page's blocks. Both arrays have shape (n_blocks,), are in block
    order, and are the same on every machine."""

    paths: Hashes
    """Hashes of the blocks' paths (see `Paths`)."""
    texts: Hashes
    """Hashes of each block's text in lower case, with white space collapsed and each run of digits
    replaced by 0."""


def fingerprints(page: Page, paths: Paths | None = None) -> Fingerprints:
    """Return the fingerprints of a page's blocks.

    Args:
        paths: The paths of the page's tree, if already computed.

    >>> from dripper.html import preprocess
    >>> of = fingerprints(preprocess("<p id=a1>One 12<p id=a2>ONE 7<p>Two"))
    >>> len(set(of.paths.tolist())), len(set(of.texts.tolist()))
    (2, 2)
    """
    paths = paths or Paths(page.elements)
    places = [paths.digest(block.element) for block in page.blocks]
    texts = [digest(fold_digits(" ".join(block.text.lower().split()))) for block in page.blocks]
    return Fingerprints(to_numbers(places), to_numbers(texts))


def to_numbers(digests: list[bytes]) -> Hashes:
    """Return 8-byte hashes as integers, shape (n,)."""
    return np.frombuffer(b"".join(digests), "<i8").astype(np.int64)
