"""Reads tables with an HTML column row by row: JSON Lines, CSV, and Parquet.

A faulty row becomes a `Row` with an error, and reading continues with the next row.
"""

import bz2
import csv
import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from dripper.decode.sniff import name_other_kind
from dripper.errors import ErrorCode, FileError, FileErrorKind, InputError
from dripper.extras import needed

HTML_COLUMNS = ("html", "raw_html", "html_content", "page_html", "content", "raw_content", "body")
URL_COLUMNS = ("url", "page_url", "source_url", "uri", "link", "warc_target_uri", "WARC-Target-URI")
_ROWS_AT_ONCE = 64
_BYTES_OF_A_CHARACTER = 6
"""The maximum number of bytes per character in a line of JSON: the escape \\u0000 has six."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the HTML column and the URL column. None means the first name in HTML_COLUMNS or
    URL_COLUMNS that the table has."""

    html: str | None = None
    url: str | None = None


DEFAULT_COLUMNS = Columns()


class Row(NamedTuple):
    """One page of a table. Rows are numbered from 0."""

    number: int
    html: bytes = b""
    url: str = ""
    is_raw: bool = False
    """Whether the table stores the page as bytes, which must still be decoded."""
    error: tuple[ErrorCode, str] | None = None


class Table:
    """A closable iterator over the pages of one table."""

    def __init__(self, path: str, columns: Columns, page_bytes: int) -> None:
        """Prepare to read the table. Iterating raises InputError if the table lacks a column,
        MachineError if Parquet support is not installed, and FileError if the table cannot be
        opened."""
        self.bytes_read = 0
        self._path = path
        self._columns = columns
        self._page_bytes = page_bytes
        self._stream: IO[bytes] | None = None
        name = Path(path).name.lower()
        self._rows = self._read_parquet() if name.endswith(".parquet") else self._read_lines(name)

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def close(self) -> None:
        """Close the file."""
        self._rows.close()  # type: ignore[attr-defined]  # a generator

    def _read_parquet(self) -> Iterator[Row]:
        arrow, parquet = import_arrow()
        try:
            with parquet.ParquetFile(self._path) as file:
                html, url = self._choose(file.schema_arrow.names)
                columns = [html, url] if url else [html]
                number = 0
                for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=columns):
                    self.bytes_read += batch.nbytes
                    for row in batch.to_pylist():
                        yield self._make_row(number, row, html, url)
                        number += 1
        except (arrow.ArrowException, OSError) as error:
            raise FileError(FileErrorKind.UNREADABLE, f"{self._path}: {error}") from None

    def _read_lines(self, name: str) -> Iterator[Row]:
        opener = gzip.open if name.endswith(".gz") else bz2.open if name.endswith(".bz2") else open
        try:
            with opener(self._path, "rb") as stream:
                self._stream = stream  # type: ignore[assignment]
                is_json = ".jsonl" in name or ".ndjson" in name
                yield from self._read_json(stream) if is_json else self._read_csv(stream, ".tsv" in name)  # type: ignore[arg-type]
        except (OSError, EOFError) as error:
            raise FileError(FileErrorKind.UNREADABLE, f"{self._path}: {error}") from None

    def _read_json(self, stream: IO[bytes]) -> Iterator[Row]:
        longest, number, names = _BYTES_OF_A_CHARACTER * self._page_bytes + (1 << 20), 0, None
        while line := stream.readline(longest):
            self.bytes_read += len(line)
            is_whole = line.endswith(b"\n") or len(line) < longest
            while not is_whole:  # skip the rest of a line that is too long for any page
                is_whole = (rest := stream.readline(longest)).endswith(b"\n") or len(rest) < longest
                line = b""
            if line.isspace():
                continue
            row = _parse_object(line)
            if names is None and row is not None:
                names = self._choose(list(row))
            if row is None or names is None:
                yield Row(number, error=(ErrorCode.UNREADABLE, f"row {number} is not a JSON object, or is too long"))
            else:
                yield self._make_row(number, row, *names)
            number += 1

    def _read_csv(self, stream: IO[bytes], has_tabs: bool) -> Iterator[Row]:
        csv.field_size_limit(self._page_bytes * 4)
        lines = (self._count(line).decode("utf-8", "replace") for line in stream)
        reader = csv.reader(lines, delimiter="\t" if has_tabs else ",")
        names = [name.removeprefix("\ufeff") for name in next(reader, [])]
        html, url = self._choose(names)
        for number in range(1 << 62):
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(number, error=(ErrorCode.UNREADABLE, f"row {number}: {error}"))
                continue
            yield self._make_row(number, dict(zip(names, values, strict=False)), html, url)

    def _count(self, line: bytes) -> bytes:
        self.bytes_read += len(line)
        return line

    def _choose(self, names: Sequence[str]) -> tuple[str, str | None]:
        """Return the names of the HTML and URL columns."""
        choice = self._columns
        for flag, column in (("--html-column", choice.html), ("--url-column", choice.url)):
            if column is not None and column not in names:
                raise InputError(f"{self._path} has no column {column}: {flag} must be one of {', '.join(names)}")
        html = choice.html or next((name for name in HTML_COLUMNS if name in names), None)
        if html is None:
            raise InputError(f"{self._path}: which column holds HTML? --html-column is one of {', '.join(names)}")
        return html, choice.url or next((name for name in URL_COLUMNS if name in names and name != html), None)

    def _make_row(self, number: int, row: dict[str, Any], html: str, url: str | None) -> Row:
        value, address = row.get(html), row.get(url) if url else None
        address = address if isinstance(address, str) else ""
        if value is not None and not isinstance(value, (str, bytes)):
            detail = f"{html} of row {number} is of type {type(value).__name__}"
            return Row(number, url=address, error=(ErrorCode.NOT_HTML, detail))
        is_raw = isinstance(value, bytes)
        page = value if isinstance(value, bytes) else (value or "").encode("utf-8", "replace")
        if len(page) > self._page_bytes:
            detail = f"the page has {len(page)} bytes, the limit is {self._page_bytes}"
            return Row(number, url=address, error=(ErrorCode.PAGE_TOO_LARGE, detail))
        kind = None if is_raw else name_other_kind(page)
        return Row(number, page, address, is_raw, (ErrorCode.NOT_HTML, f"it is {kind}") if kind else None)


def import_arrow() -> tuple[Any, Any]:
    """Return pyarrow and its Parquet module. Raises MachineError if pyarrow is not installed."""
    with needed("Parquet", "parquet"):
        import pyarrow
        import pyarrow.parquet
    return pyarrow, pyarrow.parquet


def check_table(path: str, columns: Columns, page_bytes: int) -> None:
    """Check a table before any work. Raises InputError if the table lacks a column, and FileError
    if the table cannot be read."""
    with closing(Table(path, columns, page_bytes)) as table:
        next(iter(table), None)


def _parse_object(line: bytes) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        row = json.loads(line)
        return row if isinstance(row, dict) else None
    return None
