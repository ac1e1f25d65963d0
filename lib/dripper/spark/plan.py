"""Which files are still to do, in which batches: pure functions over the ledger, the same answer every time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

UNKNOWN_SIZE_BYTES = 1 << 30
"""What a file counts for whose size is not known (lists do not tell): a Common Crawl WARC has about 1 GiB."""

SMALLEST_TASK_BYTES = 1 << 20
"""Tasks below this cost more to schedule (about 50 ms) than to share: 1 MiB of WARC is half a second of work."""

UNFINISHED = ("planned", "preprocessed", "labelled")
"""States of a batch's files on their way, in order; then each is `done` or `failed`."""

TASKS_PER_SLOT = 4
"""Tasks a batch aims at, per core, so that the last ones end together."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One archive file: its path as given, and its size in bytes where known."""

    warc_file: str
    size_bytes: int | None

    @property
    def weight(self) -> int:
        """Bytes that planning counts for the file."""
        return UNKNOWN_SIZE_BYTES if self.size_bytes is None else self.size_bytes


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What the ledger says of a file. state: one of UNFINISHED, done or failed."""

    file: PlannedFile
    batch: int
    state: str


@dataclass(frozen=True, slots=True)
class Batch:
    """The unit of commit: `files`, in order. state: how far it is, one of UNFINISHED."""

    number: int
    files: tuple[PlannedFile, ...]
    state: str = "planned"


@dataclass(frozen=True, slots=True)
class Plan:
    """resumed: batches an earlier run planned and did not finish, whatever stage they are at. fresh: batches of files the
    ledger does not know, and of the files in `retried`, which an earlier run could not read. n_done: files of the input that
    need no work. n_left: files beyond the limit."""

    resumed: tuple[Batch, ...]
    fresh: tuple[Batch, ...]
    retried: tuple[LedgerEntry, ...]
    n_done: int
    n_left: int


@dataclass(frozen=True, slots=True)
class BatchSize:
    """A batch ends at `files` files or `bytes` bytes, whichever comes first; it has at least one file."""

    files: int
    bytes: int


def make_plan(
    files: Sequence[PlannedFile],
    ledger: Iterable[LedgerEntry],
    size: BatchSize,
    limit: int | None = None,
    states: Collection[str] = UNFINISHED,
) -> Plan:
    """Return what is to do for `files`, given the ledger.

    states: at which batches of an earlier run are resumed; at others they are none of this run's, and count as done.

    limit: at most so many files that are not done; whole batches of an earlier run are never cut, as their rows are
    committed together. Files of the ledger that are not in `files` are left alone.
    """
    entries = {entry.file.warc_file: entry for entry in ledger}
    wanted = {file.warc_file for file in files}
    unfinished = {
        entry.batch for entry in entries.values() if entry.state in UNFINISHED and entry.file.warc_file in wanted
    }
    resumed = [batch for batch in existing(entries.values(), unfinished) if batch.state in states]
    retried = [
        entry
        for file in files
        if (entry := entries.get(file.warc_file)) and entry.state == "failed" and entry.batch not in unfinished
    ]
    unknown = [file for file in files if file.warc_file not in entries]
    todo = unknown + [entry.file for entry in retried]
    room = len(todo) if limit is None else max(0, limit - sum(len(batch.files) for batch in resumed))
    chosen = todo[:room]
    chosen_names = {file.warc_file for file in chosen}
    first = 1 + max((entry.batch for entry in entries.values()), default=0)
    fresh = [Batch(first + i, tuple(group)) for i, group in enumerate(_groups(chosen, size))]
    n_done = len(wanted) - len(todo) - sum(len(wanted & {f.warc_file for f in batch.files}) for batch in resumed)
    return Plan(
        resumed=tuple(resumed),
        fresh=tuple(fresh),
        retried=tuple(entry for entry in retried if entry.file.warc_file in chosen_names),
        n_done=n_done,
        n_left=len(todo) - len(chosen),
    )


def split_into_tasks(batch: Batch, slots: int) -> list[list[PlannedFile]]:
    """Return the batch's files grouped into tasks of about equal bytes, the heaviest first, for `slots` cores.

    A file is never split: gzip members can only be read in order.
    """
    total = sum(file.weight for file in batch.files)
    target = max(SMALLEST_TASK_BYTES, total // max(1, slots * TASKS_PER_SLOT))
    tasks: list[list[PlannedFile]] = []
    room = 0
    for file in sorted(batch.files, key=lambda file: (-file.weight, file.warc_file)):
        if room < file.weight or not tasks:
            tasks.append([])
            room = target
        tasks[-1].append(file)
        room -= file.weight
    return tasks


def existing(entries: Iterable[LedgerEntry], numbers: Collection[int]) -> list[Batch]:
    """Return the batches of these numbers as the ledger has them, in order.

    A batch with a file that is planned is redone as a whole, hence planned.
    """
    chosen = sorted((e for e in entries if e.batch in numbers), key=lambda e: (e.batch, e.file.warc_file))
    batches = []
    for number, group in groupby(chosen, key=lambda e: e.batch):
        members = list(group)
        states = [state for state in UNFINISHED if any(member.state == state for member in members)]
        batches.append(Batch(number, tuple(member.file for member in members), states[0] if states else "planned"))
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
