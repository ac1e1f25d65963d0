"""Finds the files that a user names: pages, archives, and tables with an HTML column."""

import glob
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path, PurePath
from typing import NamedTuple

from dripper.errors import InputError
from dripper.parse_place import archive_place
from dripper.settings import ReadSettings
from dripper.warc.open.expand import GLOB, expand, explain_absence, list_files_below, read_list
from dripper.warc.open.identity import canonical_address
from dripper.warc.open.source import ARCHIVE_NAME, has_file_system, is_http, is_s3, local_path

PAGE_NAME = re.compile(r"\.(?:html?|xhtml|xht|shtml|mht|mhtml)(?:\.(?:gz|zst|bz2))?$", re.IGNORECASE)
"""Matches the file names that count as pages when a folder is searched. A file that the user names
directly or by a pattern can have any name."""
TABLE_NAME = re.compile(r"\.(?:(?:jsonl|ndjson|csv|tsv)(?:\.(?:gz|bz2))?|parquet)$", re.IGNORECASE)
"""Matches the file names of tables. Tables are read only if the user names them directly or by a
pattern, because tables in a folder may be results of this program."""


class InputKind(StrEnum):
    """The kinds of input files."""

    PAGE = "page"
    ARCHIVE = "archive"
    TABLE = "table"
    MISSING = "missing"
    """A file that a list names, but that does not exist."""


class Input(NamedTuple):
    """One file to read."""

    path: str
    address: str
    """The canonical address, which identifies the file."""
    kind: InputKind = InputKind.PAGE
    below: str = ""
    """The path relative to the folder that the user named. If the user named the file itself, this
    is the path as typed. If such a path is absolute or contains `..`, only the file name is
    used."""
    problem: str = ""
    """The reason why a file is missing."""

    @property
    def is_archive(self) -> bool:
        """Whether the file is read record by record."""
        return self.kind is InputKind.ARCHIVE


def expand_inputs(names: Sequence[str], settings: ReadSettings, ignored_files: list[str] | None = None) -> list[Input]:
    """Return the files that `names` match, without duplicates. Files from a folder or pattern are
    sorted by name.

    Args:
        names: Files, folders (searched recursively for pages and archives), patterns, archive
            addresses (`s3://`, `http://`), and `@list`s with one of these per line. A line of a
            list that matches no file becomes a missing input.
        ignored_files: A list to extend with the files in folders that are neither pages nor
            archives.

    Raises:
        InputError: A name does not exist, or matches no file.
    """
    inputs: dict[str, Input] = {}
    for part in names:
        files = list(_Expansion(settings, ignored_files).expand(part))
        if not files:
            raise InputError(
                f"no pages in {part}: no name there ends in .html or .htm, or of an archive in .warc, .warc.gz or .wacz"
            )
        for file in files:
            inputs.setdefault(file.address, file)
    return list(inputs.values())


def _make_input(path: str, below: PurePath | None = None) -> Input:
    kind = InputKind.PAGE
    if ARCHIVE_NAME.search(path):
        kind = InputKind.ARCHIVE
    elif TABLE_NAME.search(path):
        kind = InputKind.TABLE
    place = PurePath(path) if below is None else below
    is_outside = place.is_absolute() or ".." in place.parts
    return Input(path, canonical_address(path), kind, place.name if is_outside else place.as_posix())


class _Expansion:
    """Expands paths, patterns and lists into files."""

    def __init__(self, settings: ReadSettings, ignored_files: list[str] | None) -> None:
        self._settings = settings
        self._ignored_files = ignored_files

    def expand(self, part: str, lists: tuple[Path, ...] = ()) -> Iterator[Input]:
        """Yield the files that `part` matches.

        Args:
            lists: The chain of lists that led to `part`, to detect cycles.
        """
        at = "@" if part.startswith("@") and not Path(part).exists() else ""
        part = at + archive_place("the input", part.removeprefix(at))
        if not at and (is_s3(part) or is_http(part) or has_file_system(part)):
            files = [_make_input(file.path) for file in expand(part, self._settings)]
            if is_http(part) and not all(file.is_archive for file in files):
                raise InputError(
                    f"{part} is an address, not a page: save its page first; only archives are read over HTTP"
                )
            return iter(files)
        path = local_path(part)
        part = str(path)
        if path.is_dir():
            return self._list_folder(path)
        if path.exists():
            return iter([_make_input(part)])
        if part.startswith("@"):
            return self._expand_list(Path(part[1:]), lists)
        if not GLOB.search(part):
            raise explain_absence(part)
        matches = sorted(glob.glob(part, recursive=True))  # noqa: PTH207, Path.glob takes no absolute pattern
        return (_make_input(match) for match in matches if not Path(match).is_dir())

    def _list_folder(self, folder: Path) -> Iterator[Input]:
        for file in list_files_below(folder):
            if PAGE_NAME.search(file.name) or ARCHIVE_NAME.search(file.name):
                yield _make_input(str(file), file.relative_to(folder) if file.is_relative_to(folder) else None)
            elif self._ignored_files is not None:
                self._ignored_files.append(str(file))

    def _expand_list(self, file: Path, lists: tuple[Path, ...]) -> Iterator[Input]:
        """Yield the files in a list. Each line is looked up in the list's folder, then in the
        working folder."""
        real = file.absolute().resolve()
        if real in lists:
            raise InputError(f"@{file} leads to itself: a list may name others, but none that names it")
        if not file.exists():
            raise InputError(f"@{file} is not a list of paths: No such file or directory")
        for line in read_list(str(file), self._settings):
            beside = file.parent / line
            part = str(beside) if "://" not in line and beside.exists() else line
            if part.startswith("@"):
                yield from self.expand(part, (*lists, real))
                continue
            try:
                yield from self.expand(part)
            except InputError as error:
                yield Input(part, canonical_address(part), InputKind.MISSING, PurePath(part).name, str(error))
