"""Rows as one Parquet file. Parquet cannot be continued, so it is made of the lines when these are
all there."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from dripper import optional
from dripper.columns import Column, Kind, ListOf, Type
from dripper.errors import InputError
from dripper.local.lines import COLUMNS, other_versions

_GROUP_BYTES = 64 << 20
"""Of JSON, in a row group: bounds the memory, and is enough for columns to compress."""


class ParquetFile:
    """Raises MachineError where pyarrow is not installed."""

    def __init__(self, path: Path, versions: Mapping[str, str]) -> None:
        self._path = path
        self._versions = versions
        self._arrow = optional.import_extra("pyarrow", "Parquet needs the package", optional.install("parquet"))
        self._parquet = optional.import_extra(
            "pyarrow.parquet", "Parquet needs the package", optional.install("parquet")
        )
        self._schema = self._arrow.schema([self._field(column) for column in COLUMNS])

    def page_ids(self) -> set[str]:
        """Return the pages that have a row; none where the file is not there.

        Raises InputError where the file is no such file, UsageError where other versions wrote it.
        """
        if not self._path.exists():
            return set()
        try:
            stored = self._parquet.read_table(self._path, columns=["page_id", "versions"])
            ids, versions = stored.column("page_id"), stored.column("versions").combine_chunks().flatten()
        except (self._arrow.ArrowException, OSError, KeyError, AttributeError) as error:
            raise InputError(f"{self._path} is not a file of this command ({error}): choose another --out") from None
        for number, (name, ours) in enumerate(self._versions.items()):
            for theirs in versions[number].unique().to_pylist():
                if theirs != ours:
                    raise other_versions(self._path, {name: theirs}, {name: ours})
        return set(ids.to_pylist())

    def add(self, lines: Path) -> None:
        """Replace the file, at once, by one that has its rows and those of `lines`."""
        known = self.page_ids()
        unfinished = self._path.with_name(self._path.name + ".unfinished")
        with self._parquet.ParquetWriter(unfinished, self._schema, compression="zstd") as writer:
            for batch in self._stored() if known else ():
                writer.write_batch(batch)
            with lines.open("rb") as stream:
                for group in _groups(stream):
                    rows = [row for row in map(json.loads, group) if row["page_id"] not in known]
                    if rows:
                        writer.write_batch(self._batch(rows))
        unfinished.replace(self._path)

    def _stored(self) -> Iterator[Any]:
        with self._parquet.ParquetFile(self._path) as stored:
            yield from stored.iter_batches(batch_size=1024)

    def _batch(self, rows: list[dict[str, Any]]) -> Any:
        columns = [
            self._arrow.array([_value(row[column.name], column.type) for row in rows], field.type)
            for column, field in zip(COLUMNS, self._schema, strict=True)
        ]
        return self._arrow.RecordBatch.from_arrays(columns, schema=self._schema)

    def _field(self, column: Column) -> Any:
        comment = {"comment": column.comment}
        return self._arrow.field(column.name, self._type(column.type), column.nullable, comment)

    def _type(self, kind: Type) -> Any:
        arrow = self._arrow
        if isinstance(kind, ListOf):
            return arrow.list_(self._type(kind.items))
        if isinstance(kind, Kind):
            return {
                Kind.STRING: arrow.string(),
                Kind.INTEGER: arrow.int32(),
                Kind.LONG: arrow.int64(),
                Kind.DOUBLE: arrow.float64(),
                Kind.TIMESTAMP: arrow.timestamp("us", tz="UTC"),
            }[kind]
        return arrow.struct([(name, self._type(field)) for name, field in kind.fields])


def _value(value: Any, kind: Type) -> Any:
    return datetime.fromisoformat(value) if kind is Kind.TIMESTAMP and value is not None else value


def _groups(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    group, weight = list[bytes](), 0
    for line in lines:
        group.append(line)
        weight += len(line)
        if weight >= _GROUP_BYTES:
            yield group
            group, weight = [], 0
    if group:
        yield group
