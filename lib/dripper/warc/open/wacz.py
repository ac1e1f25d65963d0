"""Finds the archives inside a WACZ file (Webrecorder, "Web Archive Collection Zipped" 1.1.1): a ZIP
with members `archive/*.warc.gz` that are stored without ZIP compression.

The bytes of such a member are a byte range of the WACZ. The reader therefore reads records directly
from the WACZ, through range requests if the WACZ is remote. Record offsets count the bytes of the
WACZ, so any tool can read a record as a byte range of the WACZ.
"""

import io
import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from dripper.warc.open.base import Limited, Readable, Source, read_up_to

WACZ_NAME = re.compile(r"\.wacz$", re.IGNORECASE)
_MEMBER_NAME = re.compile(r"\.w?arc(?:\.(?:gz|zst|lz4))?$", re.IGNORECASE)
_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of a ZIP. The second value is the start of an empty ZIP."""

_TAIL_BYTES = 1 << 17
"""Number of bytes at the end of the file to request at once. These bytes contain the end record,
even if a comment of 64 KiB follows the record, and usually the whole directory."""

_MAX_DIRECTORY_BYTES = 1 << 24
"""The maximum size of a ZIP directory, enough for about 200,000 members. Python keeps an object for
each member."""

_MAX_DEPTH = 3
"""The maximum depth of nested WACZ files. Nesting is normal: a downloaded collection contains one
WACZ per crawl."""

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_ENCRYPTED = 1
"""The encryption bit in a member's flags (APPNOTE.TXT 4.4.4)."""


class ZipError(Exception):
    """Raised if a ZIP or one of its members cannot be read. The message gives the reason."""


class Slice:
    """The bytes of a ZIP member, as a `Source`. `start` is the offset of these bytes in
    `source`."""

    def __init__(self, name: str, start: int, size: int, source: Source) -> None:
        self.name = name
        self.start = start
        self.source = source
        self.size = size
        self.size_bytes: int | None = size
        self.version: str | None = source.version

    def open_at(self, offset: int, end: int | None = None) -> Readable:
        """See `Source`."""
        until = self.size if end is None else min(end, self.size)
        return Limited(self.source.open_at(self.start + offset, self.start + until), max(0, until - offset))

    def close(self) -> None:
        """Do nothing. `source` stays open, because it contains other members."""


@dataclass(frozen=True, slots=True)
class Member:
    """A ZIP member with the name of an archive.

    at: The offset of its local header.

    limit: The offset of the next member or of the directory.

    problem: The reason why the member cannot be read, or "".
    """

    name: str
    at: int
    size_bytes: int
    limit: int
    problem: str = ""


def is_zip(source: Source) -> bool:
    """Return whether a file starts with the magic bytes of a ZIP."""
    with closing(source.open_at(0, 4)) as stream:
        return read_up_to(stream, 4) in _MAGICS


def list_archives(source: Source, depth: int = 1) -> list[Member]:
    """Return the archives inside a ZIP, including archives in nested WACZ files, in file order.

    Raises:
        ZipError: The file has no directory, the directory is too large, or the file size is
            unknown.
    """
    members: list[Member] = []
    for member in _list_members(source):
        if not WACZ_NAME.search(member.name) or member.problem:
            members.append(member)
        elif depth == _MAX_DEPTH:
            members.append(replace(member, problem=f"{member.name} lies in {depth} others, more than are opened"))
        else:
            members += _list_nested(source, member, depth)
    return members


def _list_nested(source: Source, member: Member, depth: int) -> list[Member]:
    """Return the archives inside a nested WACZ, with offsets in the outer file."""
    try:
        inner = open_member(source, member)
        return [
            replace(
                one,
                name=f"{member.name}/{one.name}",
                at=inner.start + one.at,
                limit=inner.start + one.limit,
                problem=one.problem and f"{member.name}/{one.problem}",
            )
            for one in list_archives(inner, depth + 1)
        ]
    except ZipError as error:
        return [replace(member, problem=f"{member.name}: {error}")]


def open_member(source: Source, member: Member) -> Slice:
    """Return the bytes of a member. Raises ZipError if the member's local header is not at the
    offset that the ZIP directory gives, or if the member overlaps with the next one."""
    with closing(source.open_at(member.at, member.at + _LOCAL_HEADER.size)) as stream:
        head = read_up_to(stream, _LOCAL_HEADER.size)
    magic, *lengths = _LOCAL_HEADER.unpack(head.ljust(_LOCAL_HEADER.size, b"\0"))
    start = member.at + _LOCAL_HEADER.size + sum(lengths)
    if magic != _MAGICS[0] or start + member.size_bytes > member.limit:
        raise ZipError(f"{member.name} is not at byte {member.at}, where the ZIP directory has it")
    return Slice(member.name, start, member.size_bytes, source)


def find_archive_at(source: Source, offset: int) -> Slice:
    """Return the archive inside a ZIP that contains the byte at `offset`. Raises ZipError if no
    archive contains this byte."""
    for member in list_archives(source):
        if not member.problem and member.at <= offset < member.limit:
            inner = open_member(source, member)
            if inner.start <= offset < inner.start + inner.size:
                return inner
    raise ZipError(f"no archive of the ZIP has the byte {offset}")


def open_directory(source: Source) -> zipfile.ZipFile:
    """Open a ZIP for listing or reading its members. Raises ZipError if the ZIP cannot be read."""
    if source.size_bytes is None:
        raise ZipError("the ZIP directory is at the end of the file, and its storage does not give its size")
    try:
        return zipfile.ZipFile(_Seekable(source, source.size_bytes))
    except (zipfile.BadZipFile, struct.error, UnicodeDecodeError, ValueError, NotImplementedError) as error:
        raise ZipError(f"its ZIP directory cannot be read ({error}): it may be cut short, fetch it again") from error


def _list_members(source: Source) -> Iterator[Member]:
    """Yield the members that have the name of an archive or a WACZ. If a member cannot be read, its
    `problem` is set."""
    with closing(open_directory(source)) as directory:
        infos = sorted(directory.infolist(), key=lambda info: info.header_offset)
        limits = [info.header_offset for info in infos[1:]] + [directory.start_dir]
    for info, limit in zip(infos, limits, strict=True):
        if _MEMBER_NAME.search(info.filename) or WACZ_NAME.search(info.filename):
            problem = ""
            if info.flag_bits & _ENCRYPTED:
                problem = f"{info.filename} is encrypted: decrypt it, and give the archive itself"
            elif info.compress_type != zipfile.ZIP_STORED:
                problem = f"{info.filename} is compressed by the ZIP, not stored: unzip it, and give the archive itself"
            elif info.header_offset + _LOCAL_HEADER.size + info.compress_size > limit:
                problem = f"{info.filename} overlaps with another member of the ZIP"
            yield Member(info.filename, info.header_offset, info.compress_size, limit, problem)


class _Seekable(io.RawIOBase):
    """Adapts a `Source` for `zipfile`. The end of the file is prefetched, so that reading most
    directories takes a single request."""

    def __init__(self, source: Source, size: int) -> None:
        self._source = source
        self._size = size
        self._at = 0
        self._tail_at = max(0, size - _TAIL_BYTES)
        self._tail = self._fetch(self._tail_at, size)

    def _fetch(self, start: int, end: int) -> bytes:
        if end - start > _MAX_DIRECTORY_BYTES:
            raise ZipError(f"its ZIP directory has more than {_MAX_DIRECTORY_BYTES} bytes")
        with closing(self._source.open_at(start, end)) as stream:
            return read_up_to(stream, end - start)

    def readable(self) -> bool:
        """See `_Seekable`."""
        return True

    def seekable(self) -> bool:
        """See `_Seekable`."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """See `_Seekable`."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"it has no byte {base + offset}")
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        """See `_Seekable`."""
        return self._at

    def read(self, size: int | None = -1, /) -> bytes:
        """See `_Seekable`."""
        end = self._size if size is None or size < 0 else min(self._size, self._at + size)
        start, self._at = self._at, max(self._at, end)
        if start >= self._tail_at:
            return self._tail[start - self._tail_at : end - self._tail_at]
        return self._fetch(start, end)
