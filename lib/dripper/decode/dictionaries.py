"""Keeps the bodies that servers offer as dictionaries for later ones (RFC 9842, Compression
Dictionary Transport)."""

import hashlib

MAX_DICTIONARIES_BYTES = 1 << 24
"""Total bytes of the dictionaries that are kept. Browsers accept up to 100 MB a dictionary; servers
offer style sheets, scripts and pages of less than 1 MB."""


class Dictionaries:
    """The last dictionaries of an archive, by their SHA-256. The choice depends only on the added
    dictionaries and their order."""

    def __init__(self) -> None:
        self._kept: list[tuple[bytes, bytes]] = []
        self._n_bytes = 0

    def add(self, dictionary: bytes) -> None:
        """Keep a dictionary, and drop the oldest ones if there is no room."""
        self._kept.append((hashlib.sha256(dictionary).digest(), dictionary))
        self._n_bytes += len(dictionary)
        while self._n_bytes > MAX_DICTIONARIES_BYTES:
            self._n_bytes -= len(self._kept.pop(0)[1])

    def find(self, digest: bytes) -> bytes | None:
        """Return the dictionary with this SHA-256, or None."""
        return next((dictionary for own, dictionary in self._kept if own == digest), None)
