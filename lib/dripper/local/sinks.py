"""Writes a run's pages to their destination: rows in a file or on standard output, or one file per
page."""

import json
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple
from urllib.parse import unquote, urlsplit

from dripper.addresses import printable
from dripper.errors import InputError, UsageError
from dripper.local.formats import FORMATS, write_front_matter
from dripper.local.inputs import PAGE_NAME, TABLE_NAME, Input, InputKind
from dripper.local.output import COLUMNS, KEYS, ParquetFile, RowLines, choose_columns, format_row
from dripper.page.columns import Column
from dripper.page.extraction import Extraction
from dripper.warc import Record

FILES = (".jsonl", ".parquet")
STANDARD_OUTPUT = Path("-")
MANIFEST = "pages.jsonl"
"""The manifest in a folder with one file per page. Each row names the file of one page."""


class PageRow(NamedTuple):
    """The output for one page, created in the process that extracts the page."""

    line: bytes
    """The row as a line of JSON."""
    error_code: str | None
    error_detail: str | None = None
    content: bytes = b""
    """The content of the page's own file, if any."""


class Sink(AbstractContextManager["Sink", None]):
    """A destination that pages are written to."""

    page_ids: Container[str] = ()
    """The ids of the pages that the destination already has."""

    def __init__(self, columns: Sequence[Column], versions: Mapping[str, str]) -> None:
        self._columns = columns
        self._versions = versions

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Finish the output. After an error, the rows written so far are kept, so that a second run
        can continue."""

    def make(self, record: Record, extraction: Extraction) -> PageRow:
        """Return the row to write for a page. Called in the process that extracts the page."""
        line = format_row(record, extraction, self._versions, self._columns)
        code = extraction.error_code.value if extraction.error_code else None
        return PageRow(line, code, extraction.error_detail)

    @abstractmethod
    def write(self, record: Record, row: PageRow) -> None:
        """Write the row. Raises InputError if the row cannot be written."""


@dataclass(frozen=True, slots=True)
class Destination:
    """The location that pages are written to, and their format."""

    path: Path
    """A `.jsonl` or `.parquet` file, STANDARD_OUTPUT, or a folder."""
    is_folder: bool = False
    columns: Sequence[str] = ()
    """The columns of a row. If empty, all columns of the `extractions` table except `batch`."""
    form: str = "markdown"
    """The format of the files in a folder: one of FORMATS."""

    def __post_init__(self) -> None:
        if not self.is_folder and self.path != STANDARD_OUTPUT and self.path.suffix not in FILES:
            raise UsageError(f"--out {self.path}: the name must end in .jsonl or .parquet")
        choose_columns(self.columns)

    def open(self, versions: Mapping[str, str], files: Sequence[Input], stdout: IO[bytes]) -> Sink:
        """Open the destination. Raises UsageError or a subclass if the destination cannot be
        written to, or if another program wrote the existing file."""
        if self.is_folder:
            return PageFolder(self.path, self.form, versions, files)
        columns = choose_columns(self.columns)
        if self.path == STANDARD_OUTPUT:
            return RowStream(stdout, columns, versions)
        return RowFile(self.path, columns, versions)


class RowStream(Sink):
    """Writes rows as JSON Lines to standard output. The stream is not closed, because it belongs to
    the process."""

    def __init__(self, stream: IO[bytes], columns: Sequence[Column], versions: Mapping[str, str]) -> None:
        super().__init__(columns, versions)
        self._stream = stream

    def write(self, record: Record, row: PageRow) -> None:
        """See `Sink`. Raises BrokenPipeError if the reader has closed the pipe."""
        self._stream.write(row.line)
        self._stream.flush()


class RowFile(Sink):
    """Writes rows to a `.jsonl` or `.parquet` file."""

    def __init__(self, path: Path, columns: Sequence[Column], versions: Mapping[str, str]) -> None:
        self._path = path
        self._parquet = ParquetFile(path, versions, columns) if path.suffix == ".parquet" else None
        page_ids = self._parquet.read_page_ids() if self._parquet else set()
        self._lines = RowLines(path.with_name(path.name + ".jsonl") if self._parquet else path, versions)
        self.page_ids = page_ids | self._lines.page_ids
        # Until the Parquet file is written, the JSON Lines need the columns in KEYS, so that a
        # second run can continue.
        missing = [column for column in COLUMNS if column.name in KEYS and column not in columns]
        super().__init__((*columns, *missing) if self._parquet else columns, versions)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lines.close()
        if self._parquet and kind is None:
            if self._lines.page_ids or not self._path.exists():
                self._parquet.add(self._lines.path)
            self._lines.path.unlink()

    def write(self, record: Record, row: PageRow) -> None:
        """See `Sink`."""
        self._lines.append(row.line, record.page_id)


_MANIFEST_COLUMNS = ("page_id", "url", "warc_file", "warc_offset", "title", "error_code", "error_detail", "versions")
_LONGEST_NAME = 80
_UNSAFE = re.compile(r"[^\w.~-]+")


class PageFolder(Sink):
    """Writes one file per page, and MANIFEST with one row per page. Markdown files begin with front
    matter."""

    def __init__(self, folder: Path, form: str, versions: Mapping[str, str], files: Sequence[Input]) -> None:
        super().__init__([column for column in COLUMNS if column.name in _MANIFEST_COLUMNS], versions)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--output-dir {folder}: {error.strerror or error}") from None
        self._folder = folder
        self._form = form
        self._inputs = {file.address: file for file in files}
        stems = (_cut_ending(file.below).casefold() for file in files if file.kind is InputKind.PAGE)
        self._shared = {stem for stem, count in Counter(stems).items() if count > 1}
        self._lines = RowLines(folder / MANIFEST, versions)
        self._owners = self._lines.owners
        self.page_ids = self._lines.page_ids

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lines.close()

    def make(self, record: Record, extraction: Extraction) -> PageRow:
        """See `Sink`."""
        row = super().make(record, extraction)
        if extraction.error_code is not None and not FORMATS[self._form].holds_errors:
            return row
        url = record.url or extraction.url
        text = FORMATS[self._form].write(extraction, url)
        if self._form == "markdown":
            text = f"{write_front_matter(extraction, url)}\n{text}"
        file_text = text.rstrip("\n") + "\n"
        return row._replace(content=file_text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode())

    def write(self, record: Record, row: PageRow) -> None:
        """See `Sink`. The file is written before its row, so that a kill between the two loses no
        file."""
        name = self._name(record) if row.content else None
        values = json.loads(row.line)
        if name is not None:
            self._owners[name.casefold()] = record.page_id
            _write_file(self._folder / name, row.content)
        line = json.dumps({"page_id": values.pop("page_id"), "file": name, **values}, ensure_ascii=False)
        self._lines.append(line.encode() + b"\n", record.page_id)

    def _name(self, record: Record) -> str:
        """Return the name of a page's file within the folder, derived from the name of the input
        file or from the page's URL. If two files would have the same name, digits of the page's id
        are added."""
        file, ending, digits = self._inputs.get(record.warc_file), FORMATS[self._form].ending, record.page_id[:8]
        if file is not None and file.kind is InputKind.PAGE:
            stem = _cut_ending(file.below)
            name = f"{stem}-{digits}{ending}" if stem.casefold() in self._shared else stem + ending
        elif file is not None and file.kind is InputKind.TABLE:
            name = f"{TABLE_NAME.sub('', file.below)}/{record.offset:07d}{ending}"
        else:
            name = f"{_name_address(record.url)}-{digits}{ending}"
        owner = self._owners.get(name.casefold())
        return name if owner in (None, record.page_id) else f"{name.removesuffix(ending)}-{digits}{ending}"


def _cut_ending(below: str) -> str:
    return PAGE_NAME.sub("", below)


def _name_address(url: str) -> str:
    """Derive the name of a page's file from the page's URL.

    >>> _name_address("https://example.org/News/2024/rain?id=7")
    'example.org/News-2024-rain-id-7'
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or "no-host"
    except ValueError:
        return "no-host/page"
    words = _UNSAFE.sub("-", unquote(f"{parts.path} {parts.query}")).strip("-.")
    return f"{_UNSAFE.sub('-', host).strip('-.') or 'no-host'}/{words[:_LONGEST_NAME] or 'index'}"


def _write_file(path: Path, content: bytes) -> None:
    """Write a file atomically, so that a kill never leaves it half written."""
    unfinished = path.with_name(f".{path.name[:100]}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        sentence = f"{printable(str(path))}: {error.strerror or error}; the same command continues from here"
        raise InputError(sentence) from None
