"""Decides which files still need to be read, and groups them into batches. All functions are pure
and deterministic."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from dripper.addresses import loggable
from dripper.errors import InputError
from dripper.spark.tables.batches import Batch, Key, PlannedFile
from dripper.warc.read.record import ArchiveFault, find_archive_fault

UNFINISHED = ("planned", "preprocessed", "labelled")
"""States of the files of a batch in progress, in order. Afterwards, each file is in one of
FINISHED."""

FINISHED = ("done", "failed", "set_aside", "dismissed")
"""done: read to its end. failed: not read to its end; the next run tries again. set_aside: failed
too often; tried again only on request. dismissed: somebody decided that no more attempts or reports
are needed."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The ledger's row for a file."""

    file: PlannedFile
    batch: int
    state: str
    """One of UNFINISHED or FINISHED."""
    pages: int = 0
    """Number of rows in `extractions` from the file's last reading."""
    fault: ArchiveFault | None = None
    """The reason why the file is not a whole archive, although it was read to its end; None
    otherwise."""
    records: int = 0
    """Number of records in the last reading. The next three fields are counts of that reading,
    too."""
    failed_pages: int = 0
    skipped: int = 0
    forgotten: int = 0
    """Skipped records that are forgotten pages."""
    page_keys: int | None = None
    """Sum of the file's page keys (`dripper.spark.tables.row_keys`); None if unknown."""
    checked_at: datetime | None = None
    """Last time at which the file's rows were known to match its pages; None if unknown."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The batches that a run processes, and information about the other files."""

    resumed: tuple[Batch, ...] = ()
    """Batches that an earlier run planned but did not finish. They may be at any stage."""
    fresh: tuple[Batch, ...] = ()
    """New batches of the files in `moved` and of files that the ledger does not know."""
    moved: tuple[LedgerEntry, ...] = ()
    """Files to move out of the batch that last read them, because they failed, have changed, or
    must be read again on request."""
    n_done: int = 0
    """Number of input files that need no work."""
    n_left: int = 0
    """Number of files that need work but exceed the limit."""
    set_aside: tuple[str, ...] = ()
    """Input files that failed too often and are tried again only on request."""
    faults: Mapping[str, ArchiveFault] = field(default_factory=dict)
    """Input files that are done but are not whole archives."""
    anew: frozenset[int] = frozenset()
    """Batches in `resumed` that were between two stages but must start over, because one of their
    files must be read again."""


@dataclass(frozen=True, slots=True)
class BatchSize:
    """The maximum size of a batch: `files` files or `bytes` bytes, whichever is reached first.

    Every batch has at least one file, even if that file is larger.
    """

    files: int
    bytes: int


def make_plan(
    files: Sequence[PlannedFile],
    ledger: Iterable[LedgerEntry],
    size: BatchSize,
    limit: int | None = None,
    states: Collection[str] = UNFINISHED,
    redo: Collection[str] = (),
    last: int = 0,
) -> Plan:
    """Return the work that remains for `files`, given the ledger.

    Files that are in the ledger but not in `files` are not touched. The same file with another
    selection is planned separately. If a whole file is read, its rows replace the rows of all its
    selections.

    Args:
        limit: Maximum number of files to process. Batches of an earlier run are never split,
            because their rows are committed together.
        states: Resume batches of earlier runs in these states. Batches in other states are left for
            another run, and count as done.
        redo: Files to read again although they are done. A batch between stages starts over if it
            contains such a file.
        last: New batches get numbers above this one and above all batches in the ledger.

    Raises:
        InputError: If two of the files have the same key.
    """
    entries = {entry.file.key: entry for entry in ledger}
    files_by_key = _index(files)
    unfinished = {
        entry.batch for entry in entries.values() if entry.state in UNFINISHED and entry.file.key in files_by_key
    }
    ledger_batches = list_batches(entries.values(), unfinished)
    anew = frozenset(batch.number for batch in ledger_batches if batch.state != "planned" and _is_redone(batch, redo))
    batches = (replace(batch, state="planned") if batch.number in anew else batch for batch in ledger_batches)
    resumed = [batch for batch in batches if batch.state in states]
    superseded = _find_superseded(entries.values())
    todo = [
        _note_superseded(_plan_again(file, entry) if entry else file, superseded)
        for file, entry in _list_undone(files_by_key, entries, unfinished, set(redo))
    ]
    room = len(todo) if limit is None else max(0, limit - sum(len(batch.files) for batch in resumed))
    chosen = todo[:room]
    first = 1 + max((entry.batch for entry in entries.values()), default=0)
    first = max(first, last + 1)
    untouched = files_by_key.keys() - {file.key for file in todo}
    return Plan(
        resumed=tuple(_open_as_typed(batch, files_by_key) for batch in resumed),
        fresh=tuple(Batch(first + i, tuple(group)) for i, group in enumerate(_groups(chosen, size))),
        moved=tuple(entries[file.key] for file in chosen if file.key in entries),
        n_done=len(untouched) - sum(len(untouched & {f.key for f in batch.files}) for batch in resumed),
        n_left=len(todo) - len(chosen),
        set_aside=tuple(sorted(key[0] for key in untouched if key in entries and entries[key].state == "set_aside")),
        faults={key[0]: fault for key in untouched if key in entries and (fault := entries[key].fault)},
        anew=anew & {batch.number for batch in resumed},
    )


def _index(files: Sequence[PlannedFile]) -> dict[Key, PlannedFile]:
    """Return the files, keyed by their `key`. Raises InputError if two files have the same key."""
    by_key: dict[Key, PlannedFile] = {}
    for file in files:
        if (other := by_key.setdefault(file.key, file)) is not file:
            raise InputError(
                f"{loggable(file.open_path)} and {loggable(other.open_path)} are one file to this output, "
                f"{loggable(file.warc_file)}: one of them would be left out, so give them one at a time"
            )
    return by_key


def _is_redone(batch: Batch, redo: Collection[str]) -> bool:
    return any(file.warc_file in redo for file in batch.files)


def _list_undone(
    files: dict[Key, PlannedFile], entries: dict[Key, LedgerEntry], unfinished: set[int], redo: set[str]
) -> Iterable[tuple[PlannedFile, LedgerEntry | None]]:
    """Yield the files that need a new batch, each with its entry.

    Files that the ledger does not know come first.
    """
    again = []
    for key, file in files.items():
        entry = entries.get(key)
        whole_entry = entries.get((file.warc_file, None))
        if file.selection is not None and whole_entry is not None and whole_entry.state == "done":
            continue
        if entry is None:
            yield file, None
        elif entry.batch not in unfinished and (
            file.warc_file in redo or entry.state == "failed" or has_changed(file, entry)
        ):
            again.append((file, entry))
    yield from again


def _find_superseded(entries: Iterable[LedgerEntry]) -> dict[str, tuple[int, ...]]:
    """Return the files from which selections read records, each with the batches that could have
    rows of these records."""
    batches: dict[str, set[int]] = {}
    for entry in entries:
        if entry.file.selection is not None:
            batches.setdefault(entry.file.warc_file, set()).update(batches_of(entry))
    return {name: tuple(sorted(numbers)) for name, numbers in batches.items()}


def batches_of(entry: LedgerEntry) -> list[int]:
    """Return the batches that could have rows of the file.

    These are the file's own batch and, while the file is read again, the batch of its previous
    reading.
    """
    return [entry.batch] if entry.file.replaces is None else [entry.batch, entry.file.replaces]


def _note_superseded(file: PlannedFile, superseded: Mapping[str, tuple[int, ...]]) -> PlannedFile:
    numbers = superseded.get(file.warc_file, ()) if file.selection is None else ()
    return replace(file, supersedes=numbers) if numbers else file


def has_changed(file: PlannedFile, entry: LedgerEntry) -> bool:
    """Return whether the size or version shows that the file has changed since it was read.

    A size or version that is unknown now, or was unknown then, shows nothing. But if the file could
    not be read before, a newly known value shows that the file now exists.
    """
    if entry.state in UNFINISHED:
        return False
    for now, then in ((file.size_bytes, entry.file.size_bytes), (file.version, entry.file.version)):
        if now != then and now is not None and (then is not None or entry.state != "done") and _comparable(now, then):
            return True
    return False


def _comparable(now: str | int, then: str | int | None) -> bool:
    """Return whether two values are comparable. An ETag is not comparable with a modification time.

    Their kinds differ if the file was read through two different storage interfaces.
    """
    return then is None or str(now).partition(":")[0] == str(then).partition(":")[0] or isinstance(now, int)


def fault_of(row: Mapping[str, Any]) -> ArchiveFault | None:
    """Return why the file with this ledger row is not a whole archive; None if no fault is known.

    If only selected records were read, no fault is known.
    """
    if row.get("selection") is not None or row.get("error") is not None or not row.get("n_problems"):
        return None
    return find_archive_fault(row["records"], dict(row["skipped"] or {}), bool(row["clipped"]))


def _plan_again(file: PlannedFile, entry: LedgerEntry) -> PlannedFile:
    was_refused = entry.state == "failed"
    return replace(
        file, replaces=entry.batch if entry.pages else None, attempts=entry.file.attempts if was_refused else 0
    )


def _open_as_typed(batch: Batch, typed: dict[Key, PlannedFile]) -> Batch:
    """Return the batch with the paths and record positions that this run was given.

    The ledger stores neither positions nor signed URLs, and only this run's signed URL is valid.
    """
    files = (
        replace(file, path=typed[file.key].path, places=typed[file.key].places) if file.key in typed else file
        for file in batch.files
    )
    return replace(batch, files=tuple(files))


def list_batches(ledger: Iterable[LedgerEntry], numbers: Collection[int]) -> list[Batch]:
    """Return the batches with these numbers from the ledger, in order.

    A batch with a planned file is redone as a whole, so its state is planned.
    """
    entries = list(ledger)
    superseded = _find_superseded(entries)
    chosen = sorted((e for e in entries if e.batch in numbers), key=lambda e: (e.batch, e.file.warc_file))
    batches = []
    for number, group in groupby(chosen, key=lambda e: e.batch):
        members = list(group)
        states = [state for state in UNFINISHED if any(member.state == state for member in members)]
        files = tuple(_note_superseded(member.file, superseded) for member in members)
        batches.append(Batch(number, files, states[0] if states else "planned"))
    return batches


def _groups(files: Sequence[PlannedFile], size: BatchSize) -> Iterable[list[PlannedFile]]:
    group: list[PlannedFile] = []
    weight = 0
    for file in files:
        if group and (len(group) >= size.files or weight + file.weight > size.bytes):
            yield group
            group, weight = [], 0
        group.append(file)
        weight += file.weight
    if group:
        yield group
