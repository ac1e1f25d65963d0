"""A batch's files in tasks: small files together, a big one in parts, so that the cores that there
are end together."""

from collections.abc import Sequence
from dataclasses import dataclass

from dripper.settings import ReadSettings
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.warc import RecordReader, read_records, read_selected
from dripper.warc.read.record import Span, cut

SPLIT_BYTES = 4 << 20
"""Least size of the parts in which a file is read that would keep one core busy while others wait:
some 2 s of work, and 2 ms to find where a part begins."""
SMALLEST_TASK_BYTES = 1 << 20
"""Tasks below this cost more to schedule (about 50 ms) than to share: 1 MiB of WARC is half a
second of work."""

TASKS_PER_SLOT = 4
"""Tasks a batch aims at, per core, so that the last ones end together."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file to read, or a span of it."""

    file: PlannedFile
    weight: int
    """Bytes that count for it."""
    span: Span = Span()  # noqa: RUF009, it is frozen
    """Range of its bytes; of a selection, of `file.places`, counted."""


Tasks = Sequence[Sequence[FilePart]]


def split_into_tasks(batch: Batch, slots: int) -> list[list[FilePart]]:
    """Return the batch's files grouped into tasks of about equal bytes, the heaviest first, for
    `slots` cores.

    A file that is more than a task's share is read in parts of that share, but not below
    `SPLIT_BYTES`. Of a file whose size is not known the spans are those of its weight: its last one
    has no end.
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
    """Return the reader of a part's records: those of a span of the file, or some of those that
    were selected in it."""
    file, span = part.file, part.span
    if file.selection is None:
        return read_records(file.open_path, settings, span, file.warc_file)
    places = file.places[span.start : span.end]
    return read_selected(file.open_path, places, settings, file.warc_file, 0 if span.start else file.n_before)
