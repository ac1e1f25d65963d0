"""Splits a batch's files into tasks, so that all cores finish at about the same time.

Small files are grouped, and big files are divided.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dripper.settings import ReadSettings
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.warc import read_records, read_selected
from dripper.warc.read.reader import RecordReader
from dripper.warc.read.record import Span, cut

SPLIT_BYTES = 4 << 20
"""Minimum size of the parts of a big file. Big files are divided, because a whole one would keep
one core busy while the others wait. A part of this size takes about 2 s of work, and finding its
beginning takes 2 ms."""
SMALLEST_TASK_BYTES = 1 << 20
"""Minimum size of a task. Scheduling a task takes about 50 ms, and processing 1 MiB of WARC takes
half a second. Smaller tasks would cost more time than they save."""

TASKS_PER_SLOT = 4
"""Target number of tasks per core. With several tasks per core, all cores finish a batch at about
the same time."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file to read, or a span of a file."""

    file: PlannedFile
    weight: int
    """Number of bytes to assume for planning."""
    span: Span = Span()  # noqa: RUF009, it is frozen
    """Range of bytes in the file. For a selection, range of indexes in `file.places`."""


Tasks = Sequence[Sequence[FilePart]]


def split_into_tasks(batch: Batch, slots: int) -> list[list[FilePart]]:
    """Group the batch's files into tasks of about equal size for `slots` cores.

    Tasks with the largest parts come first. A file larger than the target size of a task is split
    into parts of about that size, but at least `SPLIT_BYTES`. If a file's size is unknown, its
    spans are based on its weight, and the last span has no end.
    """
    total = sum(file.weight for file in batch.files)
    target = max(SMALLEST_TASK_BYTES, total // max(1, slots * TASKS_PER_SLOT))
    parts = [part for file in batch.files for part in _parts(file, target)]
    tasks: list[list[FilePart]] = []
    room = 0
    for part in sorted(parts, key=lambda part: (-part.weight, part.file.warc_file, part.span.start)):
        if room < part.weight or not tasks:
            tasks.append([])
            room = target
        tasks[-1].append(part)
        room -= part.weight
    return tasks


def _parts(file: PlannedFile, share: int) -> list[FilePart]:
    n_parts = min(-(-file.weight // share), file.weight // SPLIT_BYTES)
    spans = cut(file.weight if file.selection is None else len(file.places), n_parts)
    return [FilePart(file, file.weight // len(spans), span) for span in spans]


def reader_of(part: FilePart, settings: ReadSettings) -> RecordReader:
    """Return a reader for the records of a part.

    These are the records in a span of the file, or some of the file's selected records.
    """
    file, span = part.file, part.span
    if file.selection is None:
        return read_records(file.open_path, settings, span, file.warc_file)
    places = file.places[span.start : span.end]
    return read_selected(file.open_path, places, settings, file.warc_file, 0 if span.start else file.n_before)
