"""Tracks archives that were moved, so that a file under a new prefix counts as the same file.

A page's ID is derived from the address of its file. Therefore the address under which a file was
first read remains its name in all tables. The `relocated` table has the old and new prefixes. A run
translates the addresses in its input before it compares them with the ledger, and opens the files
at their current addresses.

An address can be reused: if a file has moved away, the next file at its address is a new file. Its
name is the address with a number (`latest/a.warc.gz#2`), so that the name is unique.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from dripper.addresses import loggable
from dripper.errors import InputError
from dripper.spark.ledger.inputs import Input
from dripper.spark.ledger.lease import hold_lease
from dripper.spark.ledger.plan import LedgerEntry
from dripper.spark.tables.batches import PlannedFile
from dripper.spark.tables.books import Books, among
from dripper.spark.tables.log_store import require_log_store
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from dripper.spark.wording import say_count
from dripper.warc.open.identity import canonical_address, reading_path

TABLE = "relocated"
_NUMBERED = re.compile(r"(.+)#([2-9]|[1-9]\d+)", re.DOTALL)
"""Matches the name of a file at a reused address; see `find_first_name`."""


@dataclass(frozen=True, slots=True)
class Move:
    """A move of archives: two prefixes of canonical addresses, each ending with a folder's name."""

    old: str
    new: str

    def takes(self, address: str) -> bool:
        """Return whether this move applies to the file at an address.

        >>> Move("/b", "s3://a").takes("/b/x.warc"), Move("/b", "s3://a").takes("/bc/x.warc")
        (True, False)
        """
        return address.startswith(self.old + "/")


def move(old: str, new: str) -> Move:
    """Return the move between two prefixes that a user typed.

    Raises InputError if a prefix is invalid or if both are the same.

    >>> move("s3a://old/crawl/", "s3://new/crawl")
    Move(old='s3://old/crawl', new='s3://new/crawl')
    """
    prefixes = [canonical_address(typed.strip()).rstrip("/") if typed.strip() else "" for typed in (old, new)]
    for typed, prefix in zip((old, new), prefixes, strict=True):
        if not prefix or "*" in prefix or prefix.endswith(":"):
            raise InputError(f"{typed!r} is not a folder or prefix that files can be moved from or to")
    if prefixes[0] == prefixes[1]:
        raise InputError(f"{old} and {new} are the same prefix: nothing has moved")
    return Move(*prefixes)


def parse_move(text: str) -> Move:
    """Return the move written as OLD=NEW. Raises InputError if the text is invalid."""
    old, equals, new = text.partition("=")
    if not equals or "=" in new:
        raise InputError(
            f"--relocated {text}: give two prefixes as OLD=NEW; where they have an = in them, jobs/relocate.py"
        )
    return move(old, new)


def names_by_place(names: Iterable[str], moves: Sequence[Move]) -> dict[str, str]:
    """Return a mapping from the current addresses of the ledger's files to their names.

    Args:
        moves: The moves, oldest first.
    """
    found: dict[str, tuple[int, str]] = {}
    for name in names:
        place, arrival = _follow(name, moves)
        # If several files were moved to one address, the last one to arrive is there, unless a file
        # at that address was never moved.
        found[place] = max(found.get(place, (-1, "")), (arrival, name))
    return {place: name for place, (_, name) in found.items()}


def find_first_name(address: str, moves: Sequence[Move], known: Mapping[str, str]) -> str:
    """Return the name of the file at an address.

    For a file in the ledger, this is the address under which it was first read. For a new file,
    this is a new name.

    Args:
        known: The result of `names_by_place`.

    >>> moves = [Move("latest", "may"), Move("may", "old")]
    >>> known = names_by_place({"latest/x"}, moves)
    >>> [find_first_name(address, moves, known) for address in ("old/x", "latest/x", "may/x")]
    ['latest/x', 'latest/x#2', 'may/x#2']
    """
    if address in known:
        return known[address]
    earlier = sum(each.takes(address) for each in moves)
    return f"{address}#{earlier + 1}" if earlier else address


def find_place(name: str, moves: Sequence[Move]) -> str:
    """Return the current address of the file with this name.

    >>> moves = [Move("latest", "may"), Move("latest", "june")]
    >>> [find_place(name, moves) for name in ("latest/x", "latest/x#2", "latest/x#3")]
    ['may/x', 'june/x', 'latest/x']
    """
    return _follow(name, moves)[0]


def _follow(name: str, moves: Sequence[Move]) -> tuple[str, int]:
    """Return the current address of the file with this name, and the index of its last move.

    The index is `len(moves)` if the file was not moved.
    """
    address, number = match.groups() if (match := _NUMBERED.fullmatch(name)) else (name, "1")
    earlier, place, arrival = int(number) - 1, address, len(moves)
    for i, each in enumerate(moves):
        if earlier and each.takes(address):
            earlier -= 1
        elif not earlier and each.takes(place):
            place, arrival = each.new + place[len(each.old) :], i
    # With fewer moves than the number says, the number is part of the file's own name.
    return (name, len(moves)) if earlier else (place, arrival)


def rename_to_first_names(source: Input, moves: Sequence[Move], entries: Iterable[LedgerEntry]) -> Input:
    """Rename the files of an input to the addresses under which they were first read."""
    if not moves:
        return source
    by_name = {entry.file.warc_file: entry for entry in entries}
    known = names_by_place(by_name, moves)

    def renamed(file: PlannedFile) -> PlannedFile:
        name = find_first_name(file.warc_file, moves, known)
        if name == file.warc_file:
            return file
        path = file.path or file.warc_file
        # A copy has its own modification time or ETag, which is comparable only with another
        # reading of that copy.
        is_same = name not in by_name or by_name[name].file.path == reading_path(path)
        return replace(file, warc_file=name, path=path, version=file.version if is_same else None)

    redo = frozenset(find_first_name(name, moves, known) for name in source.redo)
    return replace(source, files=tuple(map(renamed, source.files)), redo=redo)


def locate(entries: Sequence[LedgerEntry], moves: Sequence[Move]) -> list[LedgerEntry]:
    """Return the entries with the files' current paths.

    A run needs these paths to read files again that are not in the run's input.
    """
    if not moves:
        return list(entries)
    paths = [_path_now(entry.file.warc_file, entry.file.path, moves) for entry in entries]
    return [replace(each, file=replace(each.file, path=path)) for each, path in zip(entries, paths, strict=True)]


def read_paths(books: Books, names: Collection[str]) -> dict[str, str]:
    """Return the paths at which the ledger's files are opened, keyed by name.

    A file is left out if its name is also its path.
    """
    moves, rows = read_moves(books), books.read("warc_files", among("warc_file", names), ("warc_file", "path"))
    paths = {row["warc_file"]: _path_now(row["warc_file"], row["path"], moves) for row in rows}
    return {name: path for name, path in paths.items() if path is not None}


def _path_now(name: str, path: str | None, moves: Sequence[Move]) -> str | None:
    """Return a file's current path, given its path in the ledger; None if the name is the path."""
    place = find_place(name, moves)
    return path if place == (canonical_address(path) if path else name) else place


def check_not_moved(files: Iterable[PlannedFile], entries: Iterable[LedgerEntry]) -> None:
    """Raise InputError if most new files have the same names and sizes as files in the ledger.

    Such files were probably moved, and would be read twice.

    Args:
        entries: The result of `locate`.
    """
    by_name = {entry.file.warc_file: entry for entry in entries}
    at: dict[tuple[str, int], str] = {}
    for entry in by_name.values():
        if entry.file.size_bytes and entry.state == "done":
            place = _place(entry.file)
            at[_base(place), entry.file.size_bytes] = place
    new = [(_place(file), file.size_bytes or 0) for file in files if file.warc_file not in by_name]
    alike = [(at[key], place) for place, size in new if (key := (_base(place), size)) in at]
    if not alike or 2 * len(alike) <= len(new):
        return
    was, now = alike[0]
    old_prefix, new_prefix = _prefixes(was, now)
    raise InputError(
        f"{len(alike)} of {say_count(len(new), 'new file')} {'has' if len(alike) == 1 else 'have'} name and size of files that "
        f"were read before, such as "
        f"{loggable(now)} and {loggable(was)}; nothing was done: if they were moved, say --relocated "
        f"{loggable(old_prefix)}={loggable(new_prefix)}, and if they are other files, --really-new"
    )


def _place(file: PlannedFile) -> str:
    return canonical_address(file.path) if file.path else file.warc_file


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _prefixes(old: str, new: str) -> tuple[str, str]:
    """Return two addresses without their common ending (the file name and the last folders)."""
    olds, news = old.split("/"), new.split("/")
    while len(olds) > 1 and len(news) > 1 and olds[-1] == news[-1]:
        olds, news = olds[:-1], news[:-1]
    # One result may be the beginning of the other.
    return "/".join(olds), "/".join(news)


def read_moves(books: Books) -> list[Move]:
    """Return the moves recorded in an output, oldest first."""
    rows = sorted(books.read(TABLE), key=lambda row: row["relocated_at"])
    return [Move(row["old_prefix"], row["new_prefix"]) for row in rows]


def note_move(books: Books, moved: Move, now: datetime | None) -> str:
    """Record a move, unless the move is known. Return a sentence with the number of moved files.

    The caller must hold the lease. If `now` is None, nothing is recorded. Raises InputError if the
    ledger has no file below the old prefix.
    """
    moves = read_moves(books)
    names = {row["warc_file"] for row in books.read("warc_files", columns=["warc_file"])}
    n_files = sum(moved.takes(find_place(name, moves)) for name in names)
    if not n_files and moved in moves:
        return f"{moved.old} is known to be at {moved.new}"
    if not n_files:
        raise InputError(
            f"{moved.old}: none of the files that were read ({len(names)}) is there; the column warc_file has names, and "
            f"{books.name(TABLE)} where they went"
        )
    if now is not None:
        books.append(TABLE, [{"old_prefix": moved.old, "new_prefix": moved.new, "relocated_at": now}])
    are = "is" if n_files == 1 else "are"
    files = f"{say_count(n_files, 'file')} of {moved.old} {are} found at {moved.new}"
    return f"{files}; pages keep their ids, and warc_file its names"


def relocate(
    spark: SparkSession, output: str, moved: Move, *, dry_run: bool = False, single_writer: bool = False
) -> str:
    """Record that archives have moved. Return a sentence with the number of files that were moved.

    No rows in other tables change.

    Raises:
        InputError: If the ledger has no file below the old prefix.
        BusyError: If another run is active.
    """
    tables = Tables(spark, output)
    require_log_store(spark, tables, single_writer)
    tables.require("warc_files")
    books = SparkBooks(spark, tables)
    if dry_run:
        return f"dry run: {note_move(books, moved, None)}"
    for table in ("runs", TABLE):
        tables.create(table)
    with hold_lease(books, job="relocate"):
        return note_move(books, moved, datetime.now(UTC))
