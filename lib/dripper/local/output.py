"""Writes rows to one file. JSON Lines are written row by row, so that a killed run can continue.
Parquet is converted from the JSON Lines once they are complete.
"""

import fcntl
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any

from dripper.errors import InputError, UsageError
from dripper.flags import suggest
from dripper.labels.streams import pack
from dripper.local.tables import import_arrow
from dripper.page.columns import BATCH, EXTRACTIONS, Column, Kind, ListOf, Type
from dripper.page.extraction import Extraction
from dripper.page.rows import Row, extraction_row, storable
from dripper.warc import Record

COLUMNS = tuple(column for column in EXTRACTIONS if column != BATCH)
"""The columns of a row: all columns of the `extractions` table except `batch`, which only Spark
jobs have."""

TEXT = Column("text", Kind.STRING, "main_html as plain text; null: see error_code")
"""A column that is written only on request."""
KEYS = ("page_id", "error_code", "versions")
"""Columns that a second run needs to continue after the last row of the first run."""

_NO_BATCH = -1


def choose_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns with these names, in this order. Without names, return all columns except
    `text`.

    Raises:
        UsageError: At least one of the names is not the name of a column.
    """
    columns = {column.name: column for column in (*COLUMNS, TEXT)}
    for name in names:
        if name not in columns:
            near = suggest(name, columns) or f"; there are {', '.join(columns)}"
            raise UsageError(f"--columns {name}: there is no such column{near}")
    return tuple(columns[name] for name in dict.fromkeys(names)) or COLUMNS


def format_row(
    record: Record, extraction: Extraction, versions: Mapping[str, str], columns: Sequence[Column] = COLUMNS
) -> bytes:
    """Return a page's row as a line of JSON. If the record has no URL, the row has the URL that the
    page itself states."""
    if not record.url and extraction.url:
        record = replace(record, url=extraction.url)
    row = extraction_row(record, extraction, _NO_BATCH, versions)
    if TEXT in columns:
        row[TEXT.name] = extraction.text if extraction.error_code is None else None
    row = storable(row)
    ordered = {column.name: row[column.name] for column in columns}
    return json.dumps(ordered, ensure_ascii=False, default=lambda time: time.isoformat()).encode() + b"\n"


class RowLines:
    """Appends rows to a JSON Lines file, which is locked against other writers until `close`."""

    def __init__(self, path: Path, versions: Mapping[str, str]) -> None:
        """Read the rows of an earlier run, if any, and remove the last line if a kill cut it short.

        Args:
            path: The file; it is created if it does not exist.
            versions: The versions of this run, as in the `versions` column.

        Raises:
            InputError: The file cannot be opened, or has lines that are not rows of this command.
            UsageError: Another process is writing to the file, or other versions wrote the file.
        """
        self.page_ids: set[str] = set()
        self.owners: dict[str, str] = {}
        """Case-folded name of a page's own file → the page's id, for rows that have a file."""
        self.path = path
        self._stream = _open_locked(path)
        try:
            whole = self._read(versions)
        except BaseException:
            self._stream.close()
            raise
        self._stream.truncate(whole)

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):
            # If the disk is full, `append` has already reported it.
            self._stream.close()

    def append(self, line: bytes, page_id: str) -> None:
        """Write one row and flush it, so that killing this process does not lose it.

        Raises:
            InputError: The row cannot be written.
        """
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}; the same command continues from here") from None
        self.page_ids.add(page_id)

    def _read(self, versions: Mapping[str, str]) -> int:
        """Note the page ids of the existing rows, and return the total size of the complete lines
        in bytes."""
        n_bytes = 0
        for line in self._stream:
            if not line.endswith(b"\n"):
                break
            row = self._parse_row(line)
            if row["versions"] != versions:
                raise explain_other_versions(self.path, row["versions"], versions)
            self.page_ids.add(row["page_id"])
            if isinstance(row.get("file"), str):
                self.owners[row["file"].casefold()] = row["page_id"]
            n_bytes += len(line)
        return n_bytes

    def _parse_row(self, line: bytes) -> Row:
        try:
            row = json.loads(line)
            if isinstance(row, dict) and row.keys() >= {"page_id", "versions", "error_code"}:
                return row
        except ValueError:
            pass
        raise InputError(
            f"{self.path} holds lines that `dripper extract` did not write, or wrote without the columns "
            f"{', '.join(KEYS)}, by which it continues: choose another --out"
        )


def _open_locked(path: Path) -> IO[bytes]:
    try:
        stream = path.open("a+b")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        raise UsageError(f"another process is writing to {path}: wait for its end, or choose another --out") from None
    stream.seek(0)
    return stream


def explain_other_versions(path: Path, written: Mapping[str, Any], current: Mapping[str, str]) -> UsageError:
    """Return the error for a file that another version wrote. A file must not contain rows of
    several versions."""
    return UsageError(
        f"{path} was written by {_format_versions(written)}; this is {_format_versions(current)}: choose another --out"
    )


def _format_versions(versions: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in versions.items())


_GROUP_BYTES = 64 << 20
"""Bytes of JSON per row group: small enough to bound memory, large enough for columns to compress
well."""


class ParquetFile:
    """A Parquet file with rows. The constructor raises MachineError if pyarrow is not installed."""

    def __init__(self, path: Path, versions: Mapping[str, str], columns: Sequence[Column] = COLUMNS) -> None:
        self._path = path
        self._versions = versions
        self._columns = columns
        self._arrow, self._parquet = import_arrow()
        self._schema = self._arrow.schema(
            self._arrow.field(column.name, self._build_type(column.type), column.nullable, {"comment": column.comment})
            for column in columns
        )

    def read_page_ids(self) -> set[str]:
        """Return the ids of the pages that already have a row, or an empty set if the file does not
        exist.

        Raises:
            InputError: The file does not contain rows written by this command.
            UsageError: Other versions wrote the file.
        """
        if not self._path.exists():
            return set()
        try:
            table = self._parquet.read_table(self._path, columns=["page_id", "versions"])
            ids, versions = table.column("page_id"), table.column("versions").combine_chunks().flatten()
        except (self._arrow.ArrowException, OSError, KeyError, AttributeError) as error:
            raise InputError(f"{self._path} is not a file of this command ({error}): choose another --out") from None
        for number, (name, current) in enumerate(self._versions.items()):
            for written in versions[number].unique().to_pylist():
                if written != current:
                    raise explain_other_versions(self._path, {name: written}, {name: current})
        return set(ids.to_pylist())

    def add(self, lines: Path) -> None:
        """Append the rows in the JSON Lines file `lines`. The Parquet file is replaced
        atomically."""
        stored_ids = self.read_page_ids()
        unfinished = self._path.with_name(self._path.name + ".unfinished")
        with self._parquet.ParquetWriter(unfinished, self._schema, compression="zstd") as writer:
            if stored_ids:
                with self._parquet.ParquetFile(self._path) as file:
                    for batch in file.iter_batches(batch_size=1024):
                        writer.write_batch(batch)
            with lines.open("rb") as stream:
                for group in pack(stream, len, _GROUP_BYTES):
                    rows = [row for row in map(json.loads, group) if row["page_id"] not in stored_ids]
                    if rows:
                        writer.write_batch(self._build_batch(rows))
        unfinished.replace(self._path)

    def _build_batch(self, rows: list[dict[str, Any]]) -> Any:
        converted = [
            {column.name: _convert_value(row[column.name], column.type) for column in self._columns} for row in rows
        ]
        return self._arrow.RecordBatch.from_pylist(converted, schema=self._schema)

    def _build_type(self, kind: Type) -> Any:
        arrow = self._arrow
        if isinstance(kind, ListOf):
            return arrow.list_(self._build_type(kind.items))
        if isinstance(kind, Kind):
            return {
                Kind.STRING: arrow.string(),
                Kind.INTEGER: arrow.int32(),
                Kind.LONG: arrow.int64(),
                Kind.DOUBLE: arrow.float64(),
                Kind.TIMESTAMP: arrow.timestamp("us", tz="UTC"),
                Kind.DATE: arrow.date32(),
                Kind.BOOLEAN: arrow.bool_(),
            }[kind]
        return arrow.struct([(name, self._build_type(field)) for name, field in kind.fields])


def _convert_value(value: Any, kind: Type) -> Any:
    if value is None or kind not in (Kind.TIMESTAMP, Kind.DATE):
        return value
    return datetime.fromisoformat(value) if kind is Kind.TIMESTAMP else date.fromisoformat(value)
