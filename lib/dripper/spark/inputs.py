"""What a run is to read, as its flags say: whole files, or the records of a selection in them."""

from collections.abc import Sequence
from dataclasses import dataclass

from dripper.addresses import loggable
from dripper.config import Settings
from dripper.errors import InputError
from dripper.spark.plan import LedgerEntry, PlannedFile
from dripper.warc import Place, SourceFile, expand, select
from dripper.warc.expand import named_files
from dripper.warc.identity import canonical_address, opening_path


@dataclass(frozen=True, slots=True)
class Input:
    """What a run is to read. redo: addresses of files that are read again, as was typed. told: of
    all that, for the table `runs`, without signatures. problems: of an index."""

    files: tuple[PlannedFile, ...] = ()
    redo: frozenset[str] = frozenset()
    redo_typed: str = ""
    told: str = ""
    problems: tuple[str, ...] = ()


def read_input(warcs: str, redo: str, selection: str, settings: Settings) -> Input:
    """Return what the flags --warcs, --redo and --select mean. Raises InputError where one of them
    means nothing."""
    if warcs and selection:
        raise InputError(
            "--warcs reads whole files, --select single records of the files that an index names: give one of them"
        )
    again = named_files(redo, settings.reading) if redo else []
    names = frozenset(file.address for file in again)
    if selection:
        return _selected(selection, names, redo, settings)
    found = expand(warcs, settings.reading) if warcs or not redo else []
    known = {file.address for file in found}
    files = tuple(map(_planned, [*found, *(file for file in again if file.address not in known)]))
    return Input(files, names, redo, told(warcs or redo))


def _selected(text: str, redo: frozenset[str], redo_typed: str, settings: Settings) -> Input:
    found = select(text, settings.reading)
    if not found.n_records:
        raise InputError(f"--select {told(text)}: no record of the index fits")
    by_address: dict[str, tuple[str, dict[Place, None]]] = {}
    for path, places in found.files.items():
        # Two indexes may name one file in two ways.
        by_address.setdefault(canonical_address(path), (path, {}))[1].update(dict.fromkeys(places))
    files = (
        PlannedFile(address, path=opening_path(path), selection=found.identity, places=tuple(sorted(places)))
        for address, (path, places) in by_address.items()
    )
    problems = (
        (f"{found.n_problems} lines of the index hold no capture: {found.problems[0]}",) if found.problems else ()
    )
    return Input(tuple(files), redo, redo_typed, f"--select {told(text)}", problems)


def _planned(file: SourceFile) -> PlannedFile:
    return PlannedFile(file.address, file.size_bytes, file.version, opening_path(file.path))


def check_known(given: Input, entries: Sequence[LedgerEntry]) -> None:
    """Raise InputError where a file is to be read again that the ledger does not know."""
    known = {entry.file.key for entry in entries}
    keys = {file.key for file in given.files if file.warc_file in given.redo}
    unknown = (given.redo - {name for name, _ in keys}) | {key[0] for key in keys - known}
    if unknown:
        raise InputError(
            f"--redo {given.redo_typed}: {min(unknown)} was never read into this output; --warcs reads new files"
        )


def told(typed: str) -> str:
    """Return what somebody typed after --warcs or --select, without signatures.

    >>> told("index=https://e.org/a.cdxj?sig=1,host=e.org")
    'index=https://e.org/a.cdxj,host=e.org'
    """
    return ",".join(_told(part) for part in typed.split(","))


def _told(part: str) -> str:
    key, equals, value = part.partition("=")
    return f"{key}={loggable(value)}" if equals and key.replace("-", "").isalpha() else loggable(part)
