"""A file of rows, one JSON object a line: written row by row, and taken up again after a kill."""

import fcntl
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from dripper.columns import BATCH, EXTRACTIONS
from dripper.errors import InputError, UsageError
from dripper.extraction import Extraction
from dripper.rows import Row, extraction_row, storable
from dripper.warc import Record

COLUMNS = tuple(column for column in EXTRACTIONS if column != BATCH)
"""Of a row: what the table `extractions` has, but for the batch, of which there are none here."""

_NO_BATCH = -1


def row_line(record: Record, extraction: Extraction, versions: Mapping[str, str]) -> bytes:
    """Return the row of a page as a line of JSON."""
    row = storable(extraction_row(record, extraction, _NO_BATCH, versions))
    ordered = {column.name: row[column.name] for column in COLUMNS}
    return json.dumps(ordered, ensure_ascii=False, default=_as_text).encode() + b"\n"


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


class RowLines:
    """The file, open for one writer. Use as a context manager."""

    def __init__(self, path: Path, versions: Mapping[str, str]) -> None:
        """Read what an earlier run wrote, if there is something; a last line that a kill cut short
        is taken off.

        Raises InputError where the file cannot be opened or is not such a file, UsageError where
        another process is writing to it or other versions wrote it.
        """
        self.page_ids: set[str] = set()
        self.errors: Counter[str] = Counter()
        self._path = path
        self._stream = _locked(path)
        try:
            whole = self._read(versions)
        except BaseException:
            self._stream.close()
            raise
        self._stream.truncate(whole)

    def __enter__(self) -> "RowLines":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError):
            # What a full disk did not take was told by `append`.
            self._stream.close()

    def append(self, line: bytes, page_id: str, error_code: str | None) -> None:
        """Write one row, so that a kill of this process does not lose it. Raises InputError where
        it cannot be written."""
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as error:
            raise InputError(f"{self._path}: {error.strerror or error}; the same command goes on from here") from None
        self._count(page_id, error_code)

    def _read(self, versions: Mapping[str, str]) -> int:
        """Count the rows; return the bytes of whole lines."""
        whole = 0
        for line in self._stream:
            if not line.endswith(b"\n"):
                break
            row = self._row(line)
            if row["versions"] != versions:
                raise other_versions(self._path, row["versions"], versions)
            self._count(row["page_id"], row["error_code"])
            whole += len(line)
        return whole

    def _row(self, line: bytes) -> Row:
        try:
            row = json.loads(line)
            if isinstance(row, dict) and row.keys() >= {"page_id", "versions", "error_code"}:
                return row
        except ValueError:
            pass
        raise InputError(f"{self._path} holds lines that `dripper extract` did not write: choose another --out")

    def _count(self, page_id: str, error_code: str | None) -> None:
        self.page_ids.add(page_id)
        if error_code is not None:
            self.errors[error_code] += 1


def _locked(path: Path) -> IO[bytes]:
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


def other_versions(path: Path, theirs: Mapping[str, Any], ours: Mapping[str, str]) -> UsageError:
    """Return the error of a file that others wrote: rows of two kinds in one file would mislead."""
    return UsageError(f"{path} was written by {_told(theirs)}; this is {_told(ours)}: choose another --out")


def _told(versions: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in versions.items())
