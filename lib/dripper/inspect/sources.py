"""Pages to be looked at, from files, folders, archives and standard input."""

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from dripper.config import ReadSettings
from dripper.errors import InputError, PageError
from dripper.inspect.views import PageInput
from dripper.warc import Record, read_records
from dripper.warc.expand import is_archive

_PAGE = re.compile(r"\.(?:x?html?|xht)(?:\.gz)?$", re.IGNORECASE)


def pages_of(names: Iterable[str], settings: ReadSettings, url: str | None = None) -> Iterator[PageInput]:
    """Yield the pages of files, folders (to the bottom: pages and archives by their names), archives, and of `-`.

    url: the address of pages that do not come with one. Raises InputError for what is not there or cannot be read.
    """
    for name in names:
        for file in _files(name):
            if is_archive(file):
                yield from _archived(file, settings)
            else:
                yield _single(file, _read(file), url)


def page_of(record: Record) -> PageInput:
    """Return a record of an archive as a page."""
    error = PageError(record.error_code, record.error_detail or "") if record.error_code else None
    name = f"{record.warc_file} at byte {record.offset}"
    return PageInput(record.page_id, name, record.payload, record.url or None, record.content_type, error)


def _files(name: str) -> Iterator[str]:
    folder = Path(name)
    if name == "-" or not folder.is_dir():
        yield name
        return
    found = [str(path) for path in sorted(folder.rglob("*")) if path.is_file()]
    files = [path for path in found if _PAGE.search(path) or is_archive(path)]
    if not files:
        raise InputError(
            f"no pages in {name}: files must end in .html, .htm or .xhtml, or be archives such as .warc.gz"
        )
    yield from files


def _archived(file: str, settings: ReadSettings) -> Iterator[PageInput]:
    reader = read_records(file, settings)
    yield from map(page_of, reader)
    if reader.report.error:
        raise InputError(reader.report.error)


def _single(name: str, html: bytes, url: str | None) -> PageInput:
    stem = "standard-input" if name == "-" else re.sub(r"\W+", "-", Path(name).stem).strip("-")
    # Files of one name, and one file given twice, must not share a row of truth's id.
    unique = hashlib.sha256(name.encode("utf-8", "surrogateescape") + b"\n" + html).hexdigest()[:8]
    return PageInput(f"{stem[:60]}-{unique}", "standard input" if name == "-" else name, html, url)


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None
