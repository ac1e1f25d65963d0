"""Finds the dictionaries that some compressed bodies need, in earlier records of the same archive.

A reader that starts at the beginning of a file collects dictionaries as it goes. A reader of a
later part, or of a single record, reads the file from the beginning when a body needs a dictionary.
This is slow, but few archives have such bodies, and every reader must return the same rows.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress

from dripper.decode.body import decode_body
from dripper.errors import PageError
from dripper.warc.read.frames import Frame, Gap

MAX_DICTIONARIES_BYTES = 1 << 24
"""The maximum total size of the dictionaries kept. The oldest are dropped. Browsers accept up to
100 MB per dictionary, but servers offer style sheets, scripts and pages of less than 1 MB."""


class Offered:
    """The dictionaries that the records before a given record offer.

    earlier: Returns the archive's frames from the beginning. None means that the caller reads every
    record itself and adds the dictionaries.
    """

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
        """Decode a body that is offered as a dictionary (RFC 9842) and keep it. The oldest
        dictionaries are dropped if there is no room. Bodies that cannot be decoded are ignored. The
        result depends only on the bodies and their order."""
        with suppress(PageError):
            dictionary = decode_body(stored, transfer_encoding, content_encoding, max_bytes, self._kept.get).payload
            digest = hashlib.sha256(dictionary).digest()
            self._kept.pop(digest, None)
            self._kept[digest] = dictionary
            while sum(map(len, self._kept.values())) > MAX_DICTIONARIES_BYTES:
                del self._kept[next(iter(self._kept))]

    def find_before(self, offset: int, digest: bytes) -> bytes | None:
        """Return the dictionary with this SHA-256 digest if a record before `offset` offers it,
        otherwise None."""
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
