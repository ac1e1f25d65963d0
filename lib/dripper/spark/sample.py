"""A few pages of the input, read and split on the driver: what an estimate of the cost stands on."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice

from dripper.config import Settings
from dripper.cost import Sample
from dripper.errors import PageError
from dripper.guard import Guard, GuardLimits
from dripper.spark.parts import FilePart, reader_of
from dripper.spark.plan import Plan, PlannedFile
from dripper.spark.worker import PageInput
from dripper.stages import Prepared, prepare
from dripper.warc import Record

_FILES = 4
"""Files that a sample is spread over: those of one crawl segment are alike."""


def planned_files(plan: Plan) -> list[PlannedFile]:
    """Return the files that a run would work on, in order."""
    return [file for batch in (*plan.resumed, *plan.fresh) for file in batch.files]


def take_sample(files: Sequence[PlannedFile], settings: Settings) -> Sample:
    """Return what the first pages of a few files tell, `settings.cost.sample_pages` in all, at most.

    A file that cannot be read, and a page that cannot be split, tells nothing, and ends nothing.
    """
    bytes_read = pages = 0
    made: list[Prepared] = []
    limits = GuardLimits.of(settings.limits)
    guard: Guard[PageInput, Prepared] = Guard(lambda page: prepare(page[0], page[1], settings.profile), limits)
    with closing(guard):
        for records in sampled_records(files, settings):
            end = 0
            for record in records:
                end = record.offset + record.length
                pages += 1
                made += _prepared(record, guard)
            bytes_read += end
    return Sample(bytes_read, pages, [page.tokens for page in made], [len(page.texts) for page in made])


def sampled_records(files: Sequence[PlannedFile], settings: Settings) -> Iterator[Iterator[Record]]:
    """Yield the first pages of each of a few files."""
    step = max(1, len(files) // _FILES)
    chosen = files[::step][:_FILES]
    wanted = -(-settings.cost.sample_pages // max(1, len(chosen)))
    for file in chosen:
        yield islice(_records(file, settings), wanted)


def _records(file: PlannedFile, settings: Settings) -> Iterator[Record]:
    return iter(reader_of(FilePart(file, file.weight), settings.reading))


def _prepared(record: Record, guard: Guard[PageInput, Prepared]) -> list[Prepared]:
    if record.error_code is not None:
        return []
    try:
        page = guard.call((record.payload, record.content_type, record.url))
    except PageError:
        return []
    return [page] if page.error_code is None else []
