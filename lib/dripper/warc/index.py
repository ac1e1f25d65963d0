"""From what `--select` says to the places of single records in archive files, by way of an index."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from dripper.errors import InputError
from dripper.settings import ReadSettings
from dripper.warc.cdxj import lines, parse_line
from dripper.warc.columnar import ColumnarIndex
from dripper.warc.expand import read_text, relative_prefix
from dripper.warc.identity import canonical_address
from dripper.warc.location import is_s3
from dripper.warc.record import MAX_PROBLEMS
from dripper.warc.selection import Capture, Selection, parse_selection
from dripper.warc.source import is_http, local_path, open_source

_CDXJ_NAMES = (".cdxj", ".cdx", ".cdxj.gz", ".cdx.gz")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where an index says that the record of `url` is stored in an archive file, in bytes as stored."""

    offset: int
    length: int
    url: str


@dataclass(slots=True)
class Selected:
    """What a selection found. identity: of the selection over these indexes, see `Selection.identity`. files: the places in
    each archive file, in order, by the path to open it with. problems: of the index; at most 20, `n_problems` counts all."""

    identity: str = ""
    files: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    n_problems: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def n_records(self) -> int:
        """How many records were selected."""
        return sum(map(len, self.files.values()))


def select(text: str, settings: ReadSettings | None = None) -> Selected:
    """Return the places of the records that `text`, what follows `--select`, means (`dripper.warc.selection`).

    Relative names of archives in the index are joined to `settings.list_prefix`; without one, to the bucket, server or folder
    of the index. A line that holds no capture is a problem and counted. Raises InputError for a wrong `text`, an index that
    cannot be read, and one that tells no languages where some are wanted.
    """
    settings = settings or ReadSettings()
    selection, urls = parse_selection(text)
    if urls is not None:
        listed = frozenset(line.strip() for line in read_text(urls, settings).splitlines())
        selection = _with_urls(selection, listed - {""}, urls)
    found, versions = Selected(), dict[str, str | None]()
    places: dict[str, set[Place]] = {}
    for index in selection.indexes:
        captures = []
        for capture in _captures(index, selection, settings, versions):
            if isinstance(capture, ValueError):
                found.n_problems += 1
                if len(found.problems) < MAX_PROBLEMS:
                    found.problems.append(str(capture))
            else:
                captures.append(capture)
        prefix = relative_prefix(index, [capture.file for capture in captures], settings)
        for capture in captures:
            path = prefix(capture.file)
            places.setdefault(path, set()).add(Place(capture.offset, capture.length, capture.url))
    found.files = {path: tuple(sorted(places[path])) for path in sorted(places)}
    found.identity = selection.identity(versions)
    return found
