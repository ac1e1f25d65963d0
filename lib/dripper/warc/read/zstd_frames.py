"""Walks over zstd frames by their headers (RFC 8878, 3.1.1). This needs no dictionary, so even
frames that cannot be decompressed can be counted and skipped."""

from dripper.decode.compression import ZSTD_MAGIC, import_zstd, measure_skippable
from dripper.warc.open.base import Cursor

HEADER_BYTES = 18
"""The maximum length of a frame header."""

_RLE = 1
"""The type of a block that stores one byte to be repeated."""


def needed_dictionary(stored: bytes) -> int:
    """Return the dictionary id in a frame's header, or 0 if there is none.

    >>> needed_dictionary(bytes.fromhex("28b52ffd 23 419c0000 05 290000 6162636465"))
    40001
    """
    zstd = import_zstd()
    try:
        return int(zstd.get_frame_parameters(stored).dict_id)
    except zstd.ZstdError:
        return 0


def skip_frame(cursor: Cursor) -> bool:
    """Move a cursor to the end of the current frame.

    Return False if the frame is incomplete, or if something other than a frame follows it. In that
    case, the cursor's position is undefined.
    """
    cursor.fill(HEADER_BYTES)
    zstd = import_zstd()
    try:
        header, size = zstd.get_frame_parameters(cursor.stored), zstd.frame_header_size(cursor.stored)
    except zstd.ZstdError:
        return False
    cursor.keep(cursor.stored[size:])
    is_last = False
    while not is_last:
        if not cursor.fill(3):
            return False
        block = int.from_bytes(cursor.stored[:3], "little")
        is_last = bool(block & 1)
        if not _skip(cursor, 3 + (1 if block >> 1 & 3 == _RLE else block >> 3)):
            return False
    if header.has_checksum and not _skip(cursor, 4):
        return False
    cursor.fill(8)
    return not cursor.stored or cursor.stored.startswith(ZSTD_MAGIC) or measure_skippable(cursor.stored) is not None


def _skip(cursor: Cursor, size: int) -> bool:
    if not cursor.fill(size):
        return False
    cursor.keep(cursor.stored[size:])
    return True
