"""Reads the pages of the files that a user names, each as a `Record`, and counts what was read and
what could not be read.
"""

import glob
import hashlib
import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from dripper.config import ReadSettings
from dripper.errors import ErrorCode, FileError, InputError
from dripper.extras import needed
from dripper.places import archive_place
from dripper.warc import Record
from dripper.warc.open.expand import expand, explain_absence, list_files_below
from dripper.warc.open.identity import canonical_address, page_id
from dripper.warc.open.source import ARCHIVE_NAME, LocalFile, has_file_system, is_http, is_s3, local_path
from dripper.warc.read.record import ArchiveFault, find_archive_fault

_PAGE_NAME = re.compile(r"\.(?:html?|xhtml|xht|shtml|mht|mhtml)(?:\.(?:gz|zst|bz2))?$", re.IGNORECASE)
"""Names of pages in a folder. A file that is named, or matched by a pattern, may have any name."""
_PATTERN = re.compile(r"[*?\[]")


class Input(NamedTuple):
    """One file to read."""

    path: str
    address: str
    """Its canonical address, which identifies it."""
    is_archive: bool


def expand_inputs(names: Sequence[str], settings: ReadSettings) -> list[Input]:
    """Return the files that `names` stand for, each once, and those of folders and patterns in the
    order of their names.

    Args:
        names: Files, folders (searched to the bottom for pages and archives), patterns, `@list`s of
            these, one a line, and addresses of archives (`s3://`, `http://`).
        settings: Where archives may be read.

    Raises:
        InputError: One does not exist, or stands for no file.
    """
    inputs: dict[str, Input] = {}
    for part in names:
        files = list(_expand(part, settings))
        if not files:
            raise InputError(f"no pages in {part}: names must end in .html or .htm, archives' in .warc or .warc.gz")
        for path in files:
            address = canonical_address(path)
            inputs.setdefault(address, Input(path, address, ARCHIVE_NAME.search(path) is not None))
    return list(inputs.values())


def _expand(part: str, settings: ReadSettings, lists: tuple[Path, ...] = ()) -> Iterator[str]:
    """Yield the paths that `part` stands for. lists: the lists that led to it."""
    at = "@" if part.startswith("@") and not Path(part).exists() else ""
    part = at + archive_place("the input", part.removeprefix(at))
    if not at and (is_s3(part) or is_http(part) or has_file_system(part)):
        return (file.path for file in expand(part, settings))
    path = local_path(part)
    part = str(path)
    if path.is_dir():
        return _list_folder(path)
    if path.exists():
        return iter([part])
    if part.startswith("@"):
        return _expand_list(Path(part[1:]), settings, lists)
    if not _PATTERN.search(part):
        raise explain_absence(part)
    matches = sorted(glob.glob(part, recursive=True))  # noqa: PTH207, Path.glob takes no absolute pattern
    return (match for match in matches if not Path(match).is_dir())


def _list_folder(folder: Path) -> Iterator[str]:
    files = list_files_below(folder)
    return (str(n) for n in files if _PAGE_NAME.search(n.name) or ARCHIVE_NAME.search(n.name))


def _expand_list(file: Path, settings: ReadSettings, lists: tuple[Path, ...]) -> Iterator[str]:
    """Yield the paths that the lines name, in the list's folder or else in the working folder."""
    real = file.absolute().resolve()
    if real in lists:
        raise InputError(f"@{file} leads to itself: a list may name others, but none that names it")
    try:
        # The FIFO that a shell passes for <(command) has a writer; another one may never get one.
        if file.exists() and not str(file.absolute()).startswith(("/dev/fd/", "/proc/self/fd/", "/dev/stdin")):
            LocalFile(str(file))
        lines = [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"@{file} is not a list of paths: {getattr(error, 'strerror', None) or error}") from None
    for line in lines:
        if line and not line.startswith("#"):
            beside = file.parent / line
            part = str(beside) if "://" not in line and beside.exists() else line
            yield from _expand(part, settings, (*lists, real))


@dataclass(slots=True)
class InputCounts:
    """Counts what has been read of the files so far."""

    files: int = 0
    bytes: int = 0
    """Bytes read, of finished files and of the archive that is being read."""
    already_written: int = 0
    """Pages that have a row already."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Records of archives that are no pages, by reason."""
    faults: dict[str, int] = field(default_factory=dict)
    """Archive → number of faults in it; all other records were read."""
    bad: dict[str, ArchiveFault] = field(default_factory=dict)
    """Archives that were read to their end and are not whole."""
    unread: list[str] = field(default_factory=list)
    """A sentence for each file that could not be read to its end: another run tries it again."""


def require_reader(files: Sequence[Input]) -> None:
    """Raise MachineError where archives are among the files and the extra `warc` is not
    installed."""
    if any(file.is_archive for file in files):
        with needed("reading archives", "warc"):
            import_module("dripper.warc.read.reader")


def read_pages(
    files: Sequence[Input], settings: ReadSettings, done_ids: Container[str], counts: InputCounts
) -> Iterator[Record]:
    """Yield the pages whose `page_id` is not in `done_ids`, and count in `counts`."""
    for file in files:
        records = _read_archive(file, settings, counts) if file.is_archive else _read_page(file, settings, counts)
        for record in records:
            if record.page_id in done_ids:
                counts.already_written += 1
            else:
                yield record
        counts.files += 1


def _read_archive(file: Input, settings: ReadSettings, counts: InputCounts) -> Iterator[Record]:
    from dripper.warc import read_records

    before = counts.bytes
    with closing(read_records(file.path, settings)) as reader:
        for record in reader:
            counts.bytes = before + reader.report.bytes_read
            yield record
    report = reader.report
    counts.bytes = before + report.bytes_read
    counts.skipped.update(report.skipped)
    if report.n_problems:
        counts.faults[file.path] = report.n_problems
    if report.error is not None:
        counts.unread.append(report.error)
    elif fault := find_archive_fault(report.records, report.skipped, report.clipped):
        counts.bad[file.path] = fault


def _read_page(file: Input, settings: ReadSettings, counts: InputCounts) -> Iterator[Record]:
    path = Path(file.path)
    try:
        size = LocalFile(file.path).size_bytes or 0
        payload = path.read_bytes() if size <= settings.page_bytes else b""
    except (OSError, FileError) as error:
        counts.unread.append(str(error) if isinstance(error, FileError) else f"{file.path}: {error.strerror or error}")
        return
    counts.bytes += size
    too_large = f"the file has {size} bytes, the limit is {settings.page_bytes}"
    yield Record(
        page_id=page_id(file.address, 0),
        url="",
        warc_file=file.address,
        offset=0,
        length=size,
        fetched_at=None,
        http_status=None,
        content_type=None,
        payload=payload,
        payload_digest="sha256:" + hashlib.sha256(payload).hexdigest(),
        error_code=ErrorCode.PAGE_TOO_LARGE if size > settings.page_bytes else None,
        error_detail=too_large if size > settings.page_bytes else None,
    )
