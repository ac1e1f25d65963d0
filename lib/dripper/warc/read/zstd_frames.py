"""Walks over zstd frames by their headers (RFC 8878, 3.1.1), which takes no dictionary: so frames
that cannot be read can still be counted, and reading goes on behind them.
"""

from dripper.decode.compression import ZSTD_MAGIC, measure_skippable
from dripper.warc.open.base import Cursor

_DICTIONARY_MAGIC = b"\x37\xa4\x30\xec"
HEADER_BYTES = 18
"""The longest header of a frame."""

_RLE = 1
"""Type of a block that holds one byte, to be repeated."""


def read_dictionary_number(dictionary: bytes | None) -> int:
    """Return the number that a dictionary says it has (RFC 8878, 5); 0 for a raw one, or none."""
    if dictionary is None or not dictionary.startswith(_DICTIONARY_MAGIC):
        return 0
    return int.from_bytes(dictionary[4:8], "little")


def needed_dictionary(stored: bytes) -> int:
    """Return the number of the dictionary that a frame says it needs; 0 if it says none.

    >>> needed_dictionary(bytes.fromhex("28b52ffd 23 419c0000 05 290000 6162636465"))
    40001
    """
    at, n_bytes = _locate_number(stored)
    return int.from_bytes(stored[at : at + n_bytes], "little")


def _locate_number(stored: bytes) -> tuple[int, int]:
    """Return the offset of the dictionary's number in a frame, and its size in bytes."""
    descriptor = stored[4] if len(stored) > 4 else 0
    return 5 + (not descriptor & 0x20), (0, 1, 2, 4)[descriptor & 3]


def skip_frame(cursor: Cursor) -> bool:
    """Move a cursor behind the frame that it is at. False if there is no whole frame, or if
    something else than a frame follows it: then the cursor may be anywhere."""
    if not cursor.fill(6) or not cursor.stored.startswith(ZSTD_MAGIC):
        return False
    cursor.fill(HEADER_BYTES)
    descriptor = cursor.stored[4]
    at, n_bytes = _locate_number(cursor.stored)
    size_bytes = (1 if descriptor & 0x20 else 0, 2, 4, 8)[descriptor >> 6]
    if not _skip(cursor, at + n_bytes + size_bytes):
        return False
    is_last = False
    while not is_last:
        if not cursor.fill(3):
            return False
        block = int.from_bytes(cursor.stored[:3], "little")
        is_last = bool(block & 1)
        if not _skip(cursor, 3 + (1 if block >> 1 & 3 == _RLE else block >> 3)):
            return False
    if descriptor & 4 and not _skip(cursor, 4):
        return False
    cursor.fill(8)
    return not cursor.stored or cursor.stored.startswith(ZSTD_MAGIC) or measure_skippable(cursor.stored) is not None


def _skip(cursor: Cursor, size: int) -> bool:
    if not cursor.fill(size):
        return False
    cursor.keep(cursor.stored[size:])
    return True
