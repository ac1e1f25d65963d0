"""Pages to be looked at, from files, folders, archives and standard input."""

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from dripper.config import ReadSettings
from dripper.errors import InputError, PageError
from dripper.inspect.views import PageInput
from dripper.local.inputs import expand_inputs
from dripper.local.pages import Seen, records_of
from dripper.warc import Record
from dripper.warc.location import ARCHIVE_NAME

STANDARD_INPUT = "-"


def pages_of(names: Sequence[str], settings: ReadSettings, url: str | None = None) -> Iterator[PageInput]:
    """Yield the pages of what `names` means (see `expand_inputs`); `-` is a page on standard input.

    url: the address of pages that do not come with one. Raises InputError for what is not there or
    cannot be read.
    """
    if STANDARD_INPUT in names:
        html = sys.stdin.buffer.read()
        yield PageInput(hashlib.sha256(html).hexdigest()[:32], "standard input", html, url)
    files = expand_inputs([name for name in names if name != STANDARD_INPUT], settings)
    seen = Seen()
    for record in records_of(files, settings, (), seen):
        yield page_of(record, url)
    if seen.unread:
        raise InputError(seen.unread[0])


def page_of(record: Record, url: str | None = None) -> PageInput:
    """Return a record as a page."""
    error = PageError(record.error_code, record.error_detail or "") if record.error_code else None
    return PageInput(
        record.page_id,
        place_of(record.warc_file, record.offset),
        record.payload,
        record.url or url,
        record.content_type,
        error,
    )


def place_of(file: str, offset: int) -> str:
    """Return where a page stands, for people: a file below the working folder without that folder's
    name.

    >>> place_of("s3://crawl/a.warc.gz", 77)
    's3://crawl/a.warc.gz at byte 77'
    """
    is_near = "://" not in file and Path(file).is_relative_to(Path.cwd())
    name = os.path.relpath(file) if is_near else file
    return f"{name} at byte {offset}" if ARCHIVE_NAME.search(file) else name
