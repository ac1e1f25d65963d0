"""Splits a batch's files into tasks: small files together, big files in parts, so that all cores
end together."""

from collections.abc import Sequence
from dataclasses import dataclass

from dripper.settings import ReadSettings
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.warc import read_records, read_selected
from dripper.warc.read.reader import RecordReader
from dripper.warc.read.record import Span, cut

SPLIT_BYTES = 4 << 20
"""Least size of the parts of a big file, which would otherwise keep one core busy while the others
wait: about 2 s of work, and 2 ms to find the beginning of a part."""
SMALLEST_TASK_BYTES = 1 << 20
"""Smaller tasks cost more time to schedule (about 50 ms) than they save: 1 MiB of WARC is half a
second of work."""

TASKS_PER_SLOT = 4
"""Tasks per core that a batch aims for, so that the last tasks end together."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file to read, or a span of it."""

    file: PlannedFile
    weight: int
    """Bytes that the part counts for."""
    span: Span = Span()  # noqa: RUF009, it is frozen
    """Range of its bytes; for a selection, range of indices of `file.places`."""


Tasks = Sequence[Sequence[FilePart]]


def split_into_tasks(batch: Batch, slots: int) -> list[list[FilePart]]:
    """Return the batch's files grouped into tasks of about equal bytes, the heaviest first, for
    `slots` cores.

    A file that is larger than a task's share is read in parts of that share, but no part is below
    `SPLIT_BYTES`. If the size of a file is unknown, its weight sets the spans, and the last span
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
    """Return the reader of a part's records: the records in a span of the file, or some of the
    records that were selected in it."""
    file, span = part.file, part.span
    if file.selection is None:
        return read_records(file.open_path, settings, span, file.warc_file)
    places = file.places[span.start : span.end]
    return read_selected(file.open_path, places, settings, file.warc_file, 0 if span.start else file.n_before)
