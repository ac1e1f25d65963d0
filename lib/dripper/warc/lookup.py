"""One page of an archive file, by its place in it: what a row of a table says of where it came
from."""

from contextlib import closing

from dripper.errors import InputError
from dripper.settings import ReadSettings
from dripper.warc.frames import HEAD_BYTES, Frame, FrameReader, Part
from dripper.warc.identity import canonical_address
from dripper.warc.members import Members
from dripper.warc.pages import to_record
from dripper.warc.reader import read_records
from dripper.warc.record import Record
from dripper.warc.source import open_source


def record_at(path: str, offset: int, page_id: str, settings: ReadSettings | None = None) -> Record:
    """Return the page that stands at `offset` of an archive file and has this id.

    Reads that one record where it can be read alone, else (records that share a compressed member)
    the file up to it. Raises InputError where the file cannot be opened, or has no such page there.
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
        members = Members(open_source(path, settings))
        item = next(iter(FrameReader(members, settings.page_bytes + HEAD_BYTES, Part(offset))), None)
    except OSError as error:
        raise InputError(f"{path}: {error}") from error
    found = to_record(item, canonical_address(path), settings) if isinstance(item, Frame) else None
    return found if isinstance(found, Record) else None
