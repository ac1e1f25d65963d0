"""Archives that were moved: files under a new prefix are those that were read under the old one.

A page's id is made of its file's address. So the address under which a file was read first stays
its name, in all tables, and the table `relocated` says where files of that name are now. A run
translates the addresses that it is given before it compares them with the ledger, and opens the
files where they are.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from dripper.addresses import loggable
from dripper.errors import InputError
from dripper.spark.ledger.inputs import Input
from dripper.spark.ledger.lease import hold_lease
from dripper.spark.ledger.plan import LedgerEntry
from dripper.spark.tables.batches import PlannedFile
from dripper.spark.tables.books import Books
from dripper.spark.tables.log_store import require_log_store
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from dripper.spark.wording import say_count
from dripper.warc.open.identity import canonical_address, reading_path

TABLE = "relocated"


@dataclass(frozen=True, slots=True)
class Move:
    """Two prefixes of canonical addresses, which end with a folder's name."""

    old: str
    new: str

    def before(self, address: str) -> str | None:
        """Return what a file was called before; None where it is not below the new prefix.

        >>> Move("s3://a", "/b").before("/b/x.warc"), Move("s3://a", "/b").before("/bc/x.warc")
        ('s3://a/x.warc', None)
        """
        return self.old + address[len(self.new) :] if address.startswith(self.new + "/") else None


def move(old: str, new: str) -> Move:
    """Return the move from one prefix to another, as they were typed. Raises InputError where it is
    none.

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
    """Return the move that OLD=NEW names. Raises InputError."""
    old, equals, new = text.partition("=")
    if not equals or "=" in new:
        raise InputError(
            f"--relocated {text}: give two prefixes as OLD=NEW; where they have an = in them, jobs/relocate.py"
        )
    return move(old, new)


def find_first_name(address: str, moves: Sequence[Move], ledger_names: Collection[str]) -> str:
    """Return the address under which a file was read first: its own, where that is known, or none
    of those is that it had before.

    Args:
        moves: The oldest first.

    >>> find_first_name("c/x", [Move("a", "b"), Move("b", "c")], {"a/x"})
    'a/x'
    """
    name = address
    for each in reversed(moves):
        if name in ledger_names:
            return name
        name = each.before(name) or name
    return name if name in ledger_names else address


def rename_to_first_names(source: Input, moves: Sequence[Move], entries: Iterable[LedgerEntry]) -> Input:
    """Return the input with the addresses under which its files were read first."""
    if not moves:
        return source
    by_name = {entry.file.warc_file: entry for entry in entries}

    def renamed(file: PlannedFile) -> PlannedFile:
        name = find_first_name(file.warc_file, moves, by_name)
        if name == file.warc_file:
            return file
        path = file.path or file.warc_file
        # A copy has a time or an ETag of its own, which tells something only about the same copy.
        is_same = by_name[name].file.path == reading_path(path)
        return replace(file, warc_file=name, path=path, version=file.version if is_same else None)

    redo = frozenset(find_first_name(name, moves, by_name) for name in source.redo)
    return replace(source, files=tuple(map(renamed, source.files)), redo=redo)


def check_not_moved(files: Iterable[PlannedFile], entries: Iterable[LedgerEntry]) -> None:
    """Raise InputError where most of the files that the ledger does not know have name and size of
    files that it knows: they were moved, it seems, and would be read twice."""
    by_name = {entry.file.warc_file: entry for entry in entries}
    at: dict[tuple[str, int], str] = {}
    for name, entry in by_name.items():
        if entry.file.size_bytes and entry.state == "done":
            at[_base(name), entry.file.size_bytes] = name
    new = [file for file in files if file.warc_file not in by_name]
    alike = [(at[key], file) for file in new if (key := (_base(file.warc_file), file.size_bytes or 0)) in at]
    if not alike or 2 * len(alike) <= len(new):
        return
    was, file = alike[0]
    old, now = _prefixes(was, file.warc_file)
    raise InputError(
        f"{len(alike)} of {say_count(len(new), 'new file')} {'has' if len(alike) == 1 else 'have'} name and size of files that "
        f"were read before, such as "
        f"{loggable(file.warc_file)} and {loggable(was)}; nothing was done: if they were moved, say --relocated "
        f"{loggable(old)}={loggable(now)}, and if they are other files, --really-new"
    )


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _prefixes(old: str, new: str) -> tuple[str, str]:
    """Return two addresses without the folders and the name that they end with alike."""
    olds, news = old.split("/"), new.split("/")
    while len(olds) > 1 and len(news) > 1 and olds[-1] == news[-1]:
        olds, news = olds[:-1], news[:-1]
    # One of them is the beginning of the other.
    return "/".join(olds), "/".join(news)


def read_moves(books: Books) -> list[Move]:
    """Return the moves that an output knows, the oldest first."""
    rows = sorted(books.read(TABLE), key=lambda row: row["relocated_at"])
    return [Move(row["old_prefix"], row["new_prefix"]) for row in rows]


def note_move(books: Books, relocation: Move, now: datetime) -> None:
    """Note a move. Needs the lease."""
    books.append(TABLE, [{"old_prefix": relocation.old, "new_prefix": relocation.new, "relocated_at": now}])


def relocate(
    spark: SparkSession, output: str, moved: Move, *, dry_run: bool = False, single_writer: bool = False
) -> str:
    """Note that archives have moved, and return in a sentence how many of the ledger's files that
    is. No row of another table changes.

    Raises InputError where the ledger has no file below the old prefix; BusyError where a run is at
    work.
    """
    tables = Tables(spark, output)
    require_log_store(spark, tables, single_writer)
    if tables.version("warc_files") is None:
        raise InputError(
            f"--output {output}: there is no table warc_files, so nothing was read yet that can have moved"
        )
    books = SparkBooks(spark, tables)
    names = {row["warc_file"] for row in books.read("warc_files", columns=["warc_file"])}
    moves = read_moves(books)
    if moved in moves[-1:]:
        return f"{moved.old} is known to be at {moved.new}"
    n_files = sum(1 for name in names if _is_at(name, moved.old, moves))
    if not n_files:
        raise InputError(
            f"{moved.old}: none of the files that were read ({len(names)}) is there; the column warc_file has names"
        )
    sentence = (
        f"{say_count(n_files, 'file')} of {moved.old} {'is' if n_files == 1 else 'are'} found at {moved.new}; pages keep their "
        "ids, and warc_file its names"
    )
    if dry_run:
        return f"dry run: {sentence}"
    for table in ("runs", TABLE):
        tables.create(table)
    with hold_lease(books, job="relocate"):
        note_move(books, moved, datetime.now(UTC))
    return sentence


def _is_at(name: str, prefix: str, moves: Sequence[Move]) -> bool:
    """Whether a file of this name is below a prefix, or was moved there."""
    at = name
    places = [at]
    for each in moves:
        at = Move(each.new, each.old).before(at) or at
        places.append(at)
    return any(place.startswith(prefix + "/") for place in places)
