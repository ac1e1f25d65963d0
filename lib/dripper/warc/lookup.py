"""One page of an archive file, by its place in it: what a row of a table says of where it came from."""

from contextlib import closing
from dataclasses import replace

from dripper.errors import InputError
from dripper.settings import ReadSettings
from dripper.warc.frames import HEAD_BYTES, Frame, FrameReader
from dripper.warc.identity import canonical_address
from dripper.warc.members import Members
from dripper.warc.pages import to_record
from dripper.warc.reader import read_records
from dripper.warc.record import Record
from dripper.warc.source import open_source
from dripper.warc.stored import Readable, Source


class _Tail:
    """A source from an offset on."""

    def __init__(self, source: Source, offset: int) -> None:
        self._source, self._offset = source, offset
        self.size_bytes, self.version = source.size_bytes, source.version

    def open_at(self, offset: int) -> Readable:
        """See `Source`."""
        return self._source.open_at(self._offset + offset)


def record_at(path: str, offset: int, page_id: str, settings: ReadSettings | None = None) -> Record:
    """Return the page that stands at `offset` of an archive file and has this id.

    Reads that one record where it can be read alone, else (records that share a compressed member, a file of zstd with a
    dictionary) the file up to it. Raises InputError where the file cannot be opened, or has no such page there.
    """
    settings = settings or ReadSettings()
    if (found := _alone(path, offset, settings)) is not None and found.page_id == page_id:
        return found
    with closing(read_records(path, settings)) as reader:
        for record in reader:
            if record.page_id == page_id:
                return record
    raise InputError(reader.report.error or f"{path} has no such page at byte {offset}: is it another file by now?")


def _alone(path: str, offset: int, settings: ReadSettings) -> Record | None:
    try:
        members = Members(_Tail(open_source(path, settings), offset))
        item = next(iter(FrameReader(members, settings.page_bytes + HEAD_BYTES)), None)
    except OSError as error:
        raise InputError(f"{path}: {error}") from error
    if not isinstance(item, Frame) or item.inflated:
        return None
    found = to_record(replace(item, offset=offset), canonical_address(path), settings)
    return found if isinstance(found, Record) else None
