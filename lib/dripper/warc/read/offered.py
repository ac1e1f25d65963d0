"""Finds the dictionaries that bodies in an archive need, among the records before them.

A reader that begins at the start of a file notes each dictionary as it reads. A reader of a later
part, or of single records, reads the file from its start as far as necessary when a body needs a
dictionary. All readers must give the same rows, and few archives have such bodies.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress

from dripper.decode.body import decode_body
from dripper.errors import PageError
from dripper.warc.read.frames import Frame, Gap

MAX_DICTIONARIES_BYTES = 1 << 24
"""The maximum total size of the kept dictionaries; the most recent ones are kept. Browsers accept
up to 100 MB per dictionary; servers offer style sheets, scripts and pages of less than 1 MB."""


class Offered:
    """The dictionaries offered by the records before a given record. earlier: Returns the archive's
    frames from its start. None means that the reader itself reads them all and adds their
    dictionaries."""

    def __init__(
        self, note: Callable[[Frame, "Offered"], None], earlier: Callable[[], Iterator[Frame | Gap]] | None = None
    ) -> None:
        self._kept: dict[bytes, bytes] = {}
        self.is_eager = earlier is None
        self._note = note
        self._earlier = earlier
        self._frames: Iterator[Frame | Gap] | None = None
        self._next: Frame | Gap | None = None

    def add(self, stored: bytes, transfer_encoding: str, content_encoding: str, max_bytes: int) -> None:
        """Keep a body that is offered as a dictionary (RFC 9842), if it can be decoded, and drop
        the oldest dictionaries if there is no room. The result depends only on the bodies and their
        order."""
        with suppress(PageError):
            dictionary = decode_body(stored, transfer_encoding, content_encoding, max_bytes, self._kept.get).payload
            digest = hashlib.sha256(dictionary).digest()
            self._kept.pop(digest, None)
            self._kept[digest] = dictionary
            while sum(map(len, self._kept.values())) > MAX_DICTIONARIES_BYTES:
                del self._kept[next(iter(self._kept))]

    def find_before(self, offset: int, digest: bytes) -> bytes | None:
        """Return the dictionary with this SHA-256 digest that a record before `offset` offers, or
        None."""
        if self._earlier is not None:
            self._frames = self._frames or self._earlier()
            while (frame := self._next or next(self._frames, None)) is not None:
                if isinstance(frame, Frame):
                    if frame.offset >= offset:
                        self._next = frame
                        break
                    self._note(frame, self)
                self._next = None
        return self._kept.get(digest)
