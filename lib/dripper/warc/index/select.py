"""Looks up the records that `--select` requests in an index, and returns their byte ranges."""

import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from zipfile import BadZipFile

from dripper.errors import InputError
from dripper.settings import ReadSettings
from dripper.warc.index.cdxj import parse_line, read_lines
from dripper.warc.index.columnar import ColumnarIndex
from dripper.warc.index.selection import Capture, Selection, parse_selection
from dripper.warc.open.base import Readable
from dripper.warc.open.expand import locate_archives, read_text
from dripper.warc.open.identity import canonical_address
from dripper.warc.open.shared import FIRST_BYTES, open_shared
from dripper.warc.open.source import open_source
from dripper.warc.open.wacz import WACZ_NAME, ZipError, list_archives, open_directory, open_member
from dripper.warc.read.record import MAX_PROBLEMS

_CDXJ_NAME = re.compile(r"\.cdxj?(?:\.gz)?$|/cdx-\d+\.gz$", re.IGNORECASE)
"""Matches the names of CDXJ files, such as cdx-00000.gz in Common Crawl. All other files are read
as Parquet, except WACZ files."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The byte range in which an archive file stores the record of `url`, according to an index."""

    offset: int
    length: int
    url: str


@dataclass(slots=True)
class Selected:
    """The records that a selection matches."""

    identity: str = ""
    """Identifies the selection and the versions of its indexes; see `Selection.identity`."""
    files: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    """Path of an archive file → the sorted byte ranges in the file."""
    n_problems: int = 0
    problems: list[str] = field(default_factory=list)
    """Problems with the indexes, at most 20. `n_problems` counts all of them."""

    def add_problem(self, sentence: str) -> None:
        """Count a problem. Only the first MAX_PROBLEMS problems are described."""
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(sentence)

    @property
    def n_records(self) -> int:
        """The number of selected records."""
        return sum(map(len, self.files.values()))


def select(text: str, settings: ReadSettings | None = None) -> Selected:
    """Return the byte ranges of the selected records.

    Relative archive names are resolved like those in a list (`locate_archives`); names in the index
    of a WACZ refer to archives in the WACZ. An index line without a capture counts as a problem.

    Args:
        text: The value of `--select`; see `dripper.warc.index.selection`.
        settings: The settings for reading; None means the defaults.

    Raises:
        InputError: `text` is invalid, an index cannot be read, or `text` selects languages but an
            index contains none.
    """
    settings = settings or ReadSettings()
    selection, urls = parse_selection(text)
    if urls is not None:
        lines_of_urls = (line.strip() for line in read_text(urls, settings).splitlines())
        selection = replace(selection, urls=frozenset(line for line in lines_of_urls if line))
    selected, versions = Selected(), dict[str, str | None]()
    places: dict[str, set[Place]] = {}
    for index in selection.indexes:
        by_name: dict[str, list[Place]] = {}
        for capture in _read_captures(index, selection, settings, versions):
            if isinstance(capture, Capture):
                by_name.setdefault(capture.file, []).append(Place(capture.offset, capture.length, capture.url))
            else:
                selected.add_problem(str(capture))
        paths = list(by_name) if WACZ_NAME.search(index) else locate_archives(list(by_name), index, settings)
        for path, chosen in zip(paths, by_name.values(), strict=True):
            places.setdefault(path, set()).update(chosen)
    selected.files = {path: _drop_repeats(places[path]) for path in sorted(places)}
    selected.identity = selection.identity(versions, map(canonical_address, selected.files))
    return selected


def _drop_repeats(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return the byte ranges in order, one per record. If indexes give different lengths for the
    same record, the largest is kept."""
    largest = {(place.offset, place.url): place for place in sorted(places)}
    return tuple(sorted(largest.values()))


def _read_captures(
    index: str, selection: Selection, settings: ReadSettings, versions: dict[str, str | None]
) -> Iterator[Capture | ValueError]:
    """Yield the selected captures of an index, and a ValueError for each line without a capture.
    The versions of the index files are added to `versions`."""
    if WACZ_NAME.search(index):
        return _read_own_index(index, selection, settings, versions)
    if _CDXJ_NAME.search(index):
        return _read_cdxj(index, selection, settings, versions)
    columnar = ColumnarIndex(index, selection, settings.s3)
    for file in columnar.list_files():
        versions[canonical_address(file)] = open_source(file, settings).version
    return columnar.read_captures()


def _read_cdxj(
    index: str, selection: Selection, settings: ReadSettings, versions: dict[str, str | None]
) -> Iterator[Capture | ValueError]:
    source = open_source(index, settings, None)
    versions[canonical_address(index)] = source.version
    with closing(source.open_at(0)) as stream:
        yield from _read_stream(stream, index, selection)


def _read_own_index(
    path: str, selection: Selection, settings: ReadSettings, versions: dict[str, str | None]
) -> Iterator[Capture | ValueError]:
    """Yield the selected captures from the indexes inside a WACZ. The offsets of the captures refer
    to the WACZ."""
    try:
        with (
            closing(open_shared(path, settings, 0, FIRST_BYTES)) as source,
            closing(open_directory(source)) as directory,
        ):
            versions[canonical_address(path)] = source.version
            archives = [open_member(source, member) for member in list_archives(source) if not member.problem]
            starts = {one.name.rpartition("/")[2]: one.start for one in archives}
            names = [name for name in directory.namelist() if name.startswith("indexes/") and _CDXJ_NAME.search(name)]
            if not names:
                raise InputError(f"{path} has no index: no name in it is like indexes/index.cdx.gz")
            for name in names:
                with directory.open(name) as stream:
                    for capture in _read_stream(stream, f"{path}/{name}", selection):
                        yield _locate_inside(capture, path, starts)
    except (ZipError, BadZipFile, NotImplementedError, RuntimeError, zlib.error) as error:
        raise InputError(f"the index in {path} cannot be read: {error}") from error


def _locate_inside(capture: Capture | ValueError, path: str, starts: dict[str, int]) -> Capture | ValueError:
    """Convert a capture inside a WACZ: replace its archive name with the path of the WACZ, and its
    offset with the offset in the WACZ."""
    if isinstance(capture, ValueError):
        return capture
    start = starts.get(capture.file.rpartition("/")[2])
    if start is None:
        return ValueError(f"{path}: its index names {capture.file}, which is not in it")
    return replace(capture, file=path, offset=start + capture.offset)


def _read_stream(stream: Readable, index: str, selection: Selection) -> Iterator[Capture | ValueError]:
    """Yield the selected captures of a CDXJ stream."""
    n_captures, tells_languages = 0, False
    for number, line in enumerate(read_lines(stream, index), 1):
        if not line.strip() or line.startswith((" CDX", "!meta")):
            continue
        try:
            capture = parse_line(line)
        except ValueError as error:
            yield ValueError(f"{index}: line {number} holds no capture: {error}")
            continue
        n_captures += 1
        tells_languages |= capture.languages is not None
        if selection.wants(capture):
            yield capture
    if selection.languages and n_captures and not tells_languages:
        raise InputError(f"the index {index} tells no languages; leave out language=, or take another index")
