"""Reads the input of a run from its flags: whole files, or the records of a selection.

A selected record is left out if another reading of its file has already written a row for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dripper.addresses import loggable
from dripper.errors import InputError
from dripper.settings import Settings
from dripper.spark.ledger.plan import LedgerEntry, Plan, batches_of
from dripper.spark.tables.batches import Batch, Key, PlannedFile
from dripper.spark.tables.store import Tables
from dripper.warc import expand, select
from dripper.warc.index.select import Place
from dripper.warc.open.expand import SourceFile, list_named_files
from dripper.warc.open.identity import canonical_address, opening_path


@dataclass(frozen=True, slots=True)
class Input:
    """The input of a run."""

    files: tuple[PlannedFile, ...] = ()
    redo: frozenset[str] = frozenset()
    """Addresses of the files to read again."""
    redo_typed: str = ""
    """The value of --redo, as typed."""
    description: str = ""
    """The whole input as typed, for the `runs` table. Signatures are removed from URLs."""
    problems: tuple[str, ...] = ()
    """Problems of an index, as sentences."""


def read_input(warcs: str, redo: str, selection: str, settings: Settings) -> Input:
    """Return the input that the flags --warcs, --redo and --select specify.

    Raises InputError if a flag is invalid.
    """
    if warcs and selection:
        raise InputError(
            "--warcs reads whole files, --select single records of the files that an index names: give one of them"
        )
    again = list_named_files(redo, settings.reading) if redo else []
    names = frozenset(file.address for file in again)
    if selection:
        return _read_selection(selection, names, redo, settings)
    sources = expand(warcs, settings.reading) if warcs or not redo else []
    addresses = {file.address for file in sources}
    files = tuple(map(_plan_file, [*sources, *(file for file in again if file.address not in addresses)]))
    return Input(files, names, redo, describe_input(warcs or redo))


def _read_selection(text: str, redo: frozenset[str], redo_typed: str, settings: Settings) -> Input:
    selection = select(text, settings.reading)
    if not selection.n_records:
        raise InputError(f"--select {describe_input(text)}: no record of the index fits")
    by_address: dict[str, tuple[str, dict[Place, None]]] = {}
    for path, places in selection.files.items():
        # Two indexes may use different names for the same file.
        by_address.setdefault(canonical_address(path), (path, {}))[1].update(dict.fromkeys(places))
    files = (
        PlannedFile(address, path=opening_path(path), selection=selection.identity, places=tuple(sorted(places)))
        for address, (path, places) in by_address.items()
    )
    problems = (
        (f"{selection.n_problems} lines of the index hold no capture: {selection.problems[0]}",)
        if selection.problems
        else ()
    )
    return Input(tuple(files), redo, redo_typed, f"--select {describe_input(text)}", problems)


def _plan_file(file: SourceFile) -> PlannedFile:
    return PlannedFile(file.address, file.size_bytes, file.version, opening_path(file.path))


def check_known(source: Input, entries: Sequence[LedgerEntry]) -> None:
    """Raise InputError if a file to read again is not in the ledger."""
    ledger_keys = {entry.file.key for entry in entries}
    keys = {file.key for file in source.files if file.warc_file in source.redo}
    unknown = (source.redo - {name for name, _ in keys}) | {key[0] for key in keys - ledger_keys}
    if unknown:
        raise InputError(
            f"--redo {source.redo_typed}: {min(unknown)} was never read into this output; --warcs reads new files"
        )


def describe_input(typed: str) -> str:
    """Return the value of --warcs or --select as typed, but without signatures in URLs.

    >>> describe_input("index=https://e.org/a.cdxj?sig=1,host=e.org")
    'index=https://e.org/a.cdxj,host=e.org'
    """
    return ",".join(_describe_part(part) for part in typed.split(","))


def _describe_part(part: str) -> str:
    key, equals, value = part.partition("=")
    return f"{key}={loggable(value)}" if equals and key.replace("-", "").isalpha() else loggable(part)


def drop_known(spark: SparkSession, tables: Tables, plan: Plan, entries: Iterable[LedgerEntry]) -> Plan:
    """Drop selected records that already have a row from another reading of their file.

    The result stays valid until the last batch of the plan is read: the run holds the lease, so
    nobody else writes, and no two batches of a plan share a file.

    Args:
        entries: The ledger's entries before the plan is recorded.
    """
    keys = {file.key for batch in (*plan.resumed, *plan.fresh) for file in batch.files if file.selection is not None}
    names = {name for name, _ in keys}
    readings = {
        (entry.file.warc_file, number)
        for entry in entries
        if entry.file.warc_file in names and entry.file.key not in keys
        for number in batches_of(entry)
    }
    if not readings:
        return plan
    offsets = _read_offsets(spark, tables, readings)
    resumed, fresh = (
        tuple(_drop_stored_places(batch, offsets, keys) for batch in batches) for batches in (plan.resumed, plan.fresh)
    )
    return replace(plan, resumed=resumed, fresh=fresh)


def _drop_stored_places(batch: Batch, offsets: dict[str, set[int]], keys: set[Key]) -> Batch:
    return replace(
        batch, files=tuple(_drop_stored_places_of(file, offsets) if file.key in keys else file for file in batch.files)
    )


def _drop_stored_places_of(file: PlannedFile, offsets: dict[str, set[int]]) -> PlannedFile:
    file_offsets = offsets.get(file.warc_file, set())
    places = tuple(place for place in file.places if place.offset not in file_offsets)
    return replace(file, places=places, n_before=len(file.places) - len(places))


def _read_offsets(spark: SparkSession, tables: Tables, readings: set[tuple[str, int]]) -> dict[str, set[int]]:
    """Return the offsets of the records that have rows in these (file, batch) pairs, keyed by
    file."""
    columns = [list(column) for column in zip(*sorted(readings), strict=True)]
    reading_rows = spark.createDataFrame(pa.table(columns, names=["warc_file", "batch"]))
    numbers = sorted({number for _, number in readings})
    offsets: dict[str, set[int]] = {}
    # `pages` has the records that a staged run has read but not extracted yet.
    stored_tables = [table for table in ("extractions", "pages") if tables.exists(table)]
    for table in stored_tables:
        rows = tables.read(table).where(F.col("batch").isin(numbers))
        rows = rows.where(~F.array_contains("flags", "inflated offset")).join(
            F.broadcast(reading_rows), ["warc_file", "batch"]
        )
        for row in rows.select("warc_file", "warc_offset").collect():
            offsets.setdefault(row["warc_file"], set()).add(row["warc_offset"])
    return offsets
