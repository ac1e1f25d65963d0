"""From what a user types to the files it means: pages, and archives of pages."""

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dripper.config import ReadSettings
from dripper.errors import InputError
from dripper.places import archive_place
from dripper.warc.expand import absent, expand, files_below
from dripper.warc.identity import canonical_address
from dripper.warc.location import ARCHIVE_NAME, has_file_system, is_s3
from dripper.warc.source import LocalFile, is_http, local_path

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
        raise absent(part)
    matches = sorted(glob.glob(part, recursive=True))  # noqa: PTH207, Path.glob takes no absolute pattern
    return (match for match in matches if not Path(match).is_dir())


def _of_folder(folder: Path) -> Iterator[str]:
    files = files_below(folder)
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
