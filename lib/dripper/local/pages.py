"""Yields the pages of the files that a user names, each as a `Record`, and reports what became of
the files.
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

_PAGE_NAME = re.compile(r"\.(?:html?|xhtml|xht|shtml)(?:\.(?:gz|zst))?$", re.IGNORECASE)
"""What is taken from a folder; whoever names a file, or a pattern, may call it as he likes."""
_PATTERN = re.compile(r"[*?\[]")


class Input(NamedTuple):
    """One file. address: its canonical address, by which it is known."""

    path: str
    address: str
    is_archive: bool


def expand_inputs(given: Sequence[str], settings: ReadSettings) -> list[Input]:
    """Return the files that are meant, each once; those of folders and patterns in the order of
    their names.

    given: files, folders (searched to the bottom for pages and archives), patterns, `@list`s of
    these, one a line, and addresses of archives (`s3://`, `http://`). Raises InputError where one
    does not exist or means no file.
    """
    found: dict[str, Input] = {}
    for part in given:
        files = list(_expand(part, settings))
        if not files:
            raise InputError(f"no pages in {part}: names must end in .html or .htm, archives' in .warc or .warc.gz")
        for path in files:
            address = canonical_address(path)
            found.setdefault(address, Input(path, address, ARCHIVE_NAME.search(path) is not None))
    return list(found.values())


def _expand(part: str, settings: ReadSettings, lists: tuple[Path, ...] = ()) -> Iterator[str]:
    """lists: those that lead to this part."""
    at = "@" if part.startswith("@") and not Path(part).exists() else ""
    part = at + archive_place("the input", part.removeprefix(at))
    if not at and (is_s3(part) or is_http(part) or has_file_system(part)):
        return (file.path for file in expand(part, settings))
    path = local_path(part)
    part = str(path)
    if path.is_dir():
        return _of_folder(path)
    if path.exists():
        return iter([part])
    if part.startswith("@"):
        return _of_list(Path(part[1:]), settings, lists)
    if not _PATTERN.search(part):
        raise explain_absence(part)
    matches = sorted(glob.glob(part, recursive=True))  # noqa: PTH207, Path.glob takes no absolute pattern
    return (match for match in matches if not Path(match).is_dir())


def _of_folder(folder: Path) -> Iterator[str]:
    files = list_files_below(folder)
    return (str(n) for n in files if _PAGE_NAME.search(n.name) or ARCHIVE_NAME.search(n.name))


def _of_list(file: Path, settings: ReadSettings, lists: tuple[Path, ...]) -> Iterator[str]:
    """Yield what the lines name, from the list's folder or else from the working folder."""
    real = file.absolute().resolve()
    if real in lists:
        raise InputError(f"@{file} leads to itself: a list may name others, but none that names it")
    try:
        # What the shell makes of <(command) has a writer; another FIFO may never get one.
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
class Seen:
    """What was seen of the files so far."""

    files: int = 0
    bytes: int = 0
    """Read, of files that are finished and of the archive at hand."""
    known: int = 0
    """Pages that have a row already."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Records of archives that are no pages, by reason."""
    faults: dict[str, int] = field(default_factory=dict)
    """Of archives, how many were found in which; what could be read was read."""
    bad: dict[str, ArchiveFault] = field(default_factory=dict)
    """Archives that were read to their end and are no whole ones."""
    unread: list[str] = field(default_factory=list)
    """A sentence for each file that could not be read to its end: another run tries it again."""


def require_reader(files: Sequence[Input]) -> None:
    """Raise MachineError where archives are among the files and what reads them is not
    installed."""
    if any(file.is_archive for file in files):
        with needed("reading archives", "warc"):
            import_module("dripper.warc.read.reader")


def records_of(files: Sequence[Input], settings: ReadSettings, known: Container[str], seen: Seen) -> Iterator[Record]:
    """Yield the pages that are not `known` by their `page_id`, and count in `seen`."""
    for file in files:
        records = _of_archive(file, settings, seen) if file.is_archive else _of_page(file, settings, seen)
        for record in records:
            if record.page_id in known:
                seen.known += 1
            else:
                yield record
        seen.files += 1


def _of_archive(file: Input, settings: ReadSettings, seen: Seen) -> Iterator[Record]:
    from dripper.warc import read_records

    before = seen.bytes
    with closing(read_records(file.path, settings)) as reader:
        for record in reader:
            seen.bytes = before + reader.report.bytes_read
            yield record
    report = reader.report
    seen.bytes = before + report.bytes_read
    seen.skipped.update(report.skipped)
    if report.n_problems:
        seen.faults[file.path] = report.n_problems
    if report.error is not None:
        seen.unread.append(report.error)
    elif fault := find_archive_fault(report.records, report.skipped, report.clipped):
        seen.bad[file.path] = fault


def _of_page(file: Input, settings: ReadSettings, seen: Seen) -> Iterator[Record]:
    path = Path(file.path)
    try:
        size = LocalFile(file.path).size_bytes or 0
        payload = path.read_bytes() if size <= settings.page_bytes else b""
    except (OSError, FileError) as error:
        seen.unread.append(str(error) if isinstance(error, FileError) else f"{file.path}: {error.strerror or error}")
        return
    seen.bytes += size
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
