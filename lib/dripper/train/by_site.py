"""Pages put aside by site, so that none that is scored has a sister that was learned from."""

import hashlib


def fold_of(host: str, folds: int) -> int:
    """Return the fold of a site, 0 to folds - 1: by a hash, so that new pages never move the old
    ones."""
    return int.from_bytes(hashlib.sha256(host.encode()).digest()[:8], "big") % folds
