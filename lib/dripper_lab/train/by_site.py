"""Splits pages by site, so that no scored page belongs to a site that was trained on."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

from dripper.errors import UsageError

T = TypeVar("T")


def fold_of(host: str, folds: int) -> int:
    """Return the fold of a site, 0 to folds - 1. It is derived from a hash, so new pages never move
    existing ones."""
    return int.from_bytes(hashlib.sha256(host.encode()).digest()[:8], "big") % folds


def put_aside(pages: Iterable[T], folds: int, host: Callable[[T], str]) -> tuple[list[T], list[T]]:
    """Split pages into training pages and held-out pages. One of `folds` parts of the sites is held
    out. Raises UsageError if either list would be empty."""
    learned, held_out = list[T](), list[T]()
    for page in pages:
        (learned if fold_of(host(page), folds) else held_out).append(page)
    if not learned or not held_out:
        raise UsageError(f"{len(learned + held_out)} usable pages are of too few sites to hold some of them out")
    return learned, held_out
