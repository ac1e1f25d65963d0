"""Puts pages aside by site, so that no scored page is of a site that was trained on."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

from dripper.errors import UsageError

T = TypeVar("T")


def fold_of(host: str, folds: int) -> int:
    """Return the fold of a site, 0 to folds - 1: by a hash, so that new pages never move the old
    ones."""
    return int.from_bytes(hashlib.sha256(host.encode()).digest()[:8], "big") % folds


def put_aside(pages: Iterable[T], folds: int, host: Callable[[T], str]) -> tuple[list[T], list[T]]:
    """Return the pages to train on, and the pages of one site in `folds`, to choose and score on.
    Raises UsageError if one of the two would be empty."""
    learned, held_out = list[T](), list[T]()
    for page in pages:
        (learned if fold_of(host(page), folds) else held_out).append(page)
    if not learned or not held_out:
        raise UsageError(f"{len(learned + held_out)} usable pages are of too few sites to hold some of them out")
    return learned, held_out
