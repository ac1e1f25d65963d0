"""Estimates the cost of labelling from a small sample of the input pages.

The driver reads, splits and labels the sample.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np

from dripper.addresses import host_name
from dripper.blocks.profiles.registry import preprocess
from dripper.errors import PageError
from dripper.guard import Guard, GuardLimits
from dripper.labels import Labeler
from dripper.labels.chain import chain_of, is_sure
from dripper.labels.cost import CpuSample, Sample, describe_cpu
from dripper.labels.registry import bound_of, load_from_settings, runs_staged, split_into_stages
from dripper.layouts import PageLayout
from dripper.layouts.skeletons import group_by_layout
from dripper.layouts.templates import LEAST_PAGES, choose_representatives
from dripper.page.split import Decoded, split_into_blocks
from dripper.page.stages import Preprocessed, preprocess_page
from dripper.settings import LabelerSettings, Settings
from dripper.spark.ledger.plan import Plan
from dripper.spark.tables.batches import REQUEST_BYTES, PlannedFile
from dripper.spark.workers.parts import FilePart, reader_of
from dripper.spark.workers.read import PageInput, Result, warm_labeler
from dripper.tree.parser import Reading
from dripper.warc import Record

_FILES, _PAGES = 4, 200
"""Maximum numbers of files and pages in a sample. The files are spread over the plan, because files
from the same crawl segment are similar."""


@dataclass(frozen=True, slots=True)
class PagesRead:
    """The first pages of a few files in a plan, read once for all estimates."""

    weight: int
    """Total weight of all files in the plan (`PlannedFile.weight`)."""
    files: Sequence[tuple[PlannedFile, Sequence[Record]]]
    """Files with their first records; empty if there is nothing to do."""


def read_pages(plan: Plan, settings: Settings) -> PagesRead:
    """Return the first pages of a few files that a run would process, about _PAGES in total.

    A file that cannot be read has no pages.
    """
    files = [file for batch in (*plan.resumed, *plan.fresh) for file in batch.files]
    step = max(1, len(files) // _FILES)
    chosen = files[::step][:_FILES]
    a_file = -(-_PAGES // max(1, len(chosen)))
    first = [(file, list(islice(reader_of(FilePart(file, file.weight), settings.reading), a_file))) for file in chosen]
    return PagesRead(sum(file.weight for file in files), first)


def take_sample(pages_read: PagesRead, settings: Settings) -> Sample:
    """Return a sample from the pages.

    A page that cannot be split adds no tokens, and is not an error.
    """
    bytes_read = pages = 0
    prepared: list[tuple[str, Preprocessed]] = []
    limits = GuardLimits.of(settings.limits)
    first = _first_of_chain(settings)
    guard: Guard[PageInput, Preprocessed] = Guard(lambda page: preprocess_page(*page, settings, first=first), limits)
    with closing(guard):
        for file, records in pages_read.files:
            end = 0
            for record in records:
                end = weight_until(file, record, end)
                pages += 1
                page = _call(guard, record)
                if page is not None and page.error_code is None:
                    prepared.append((host_name(record.url) or "", page))
            bytes_read += end
    going = [page for _, page in prepared]
    if first is not None and settings.layouts.enabled:
        going = _choose_by_layout(prepared, settings)
    elif first is not None:
        going = _choose_going_on(going, settings.labeler)
    return Sample(bytes_read, pages, [page.tokens for page in going], [page.n_blocks for page in going], len(prepared))


def _first_of_chain(settings: Settings) -> Labeler | None:
    names = chain_of(settings.labeler.name)
    if len(names) == 1:
        return None
    first = split_into_stages(settings.labeler)[0] if runs_staged(settings.labeler) else None
    alone = settings.labeler.model_copy(update={"name": names[0]})
    return warm_labeler(first or alone, settings.labels)


def _choose_going_on(pages: Sequence[Preprocessed], labeler: LabelerSettings) -> list[Preprocessed]:
    """Return the pages that a chain's next labeler would get, as in `spark.workers.routing`."""
    if labeler.escalate_share is None:
        below = bound_of(labeler)
        return [page for page in pages if page.labels is None or not is_sure(page.labels, below)]
    by_confidence = sorted(pages, key=lambda page: np.nan_to_num(page.labels.confidence, nan=-1) if page.labels else -1)
    return by_confidence[: round(labeler.escalate_share * len(pages))]


def _choose_by_layout(pages: Sequence[tuple[str, Preprocessed]], settings: Settings) -> list[Preprocessed]:
    """Like `_choose_going_on`, but choose pages by their layouts, as in `spark.layouts.choice`.

    `pages` are pairs of a host and a page.
    """
    by_host: dict[str, list[tuple[Preprocessed, PageLayout]]] = defaultdict(list)
    unplaced: list[Preprocessed] = []
    for host, page in pages:
        if host and page.layout is not None:
            by_host[host].append((page, page.layout))
        else:
            unplaced.append(page)
    going = _choose_going_on(unplaced, settings.labeler)
    layouts = (group_by_layout(site, lambda pair: pair[1].skeleton) for site in by_host.values())
    for layout in chain.from_iterable(layouts):
        if len(layout) < LEAST_PAGES:
            going += _choose_going_on([page for page, _ in layout], settings.labeler)
        else:
            blocks_by_name = {f"{i:09}": parts.blocks for i, (_, parts) in enumerate(layout)}
            going += [layout[int(i)][0] for i in choose_representatives(blocks_by_name)]
    return going


def weight_until(file: PlannedFile, record: Record, before: int) -> int:
    """Return how much of a file's weight has been read after this record.

    Args:
        before: The result for the previous record.
    """
    return record.offset + record.length if file.selection is None else before + record.length + REQUEST_BYTES


def _call(guard: Guard[PageInput, Result], record: Record) -> Result | None:
    """Return a page's result; None if the page would become an error row."""
    if record.error_code is not None:
        return None
    try:
        return guard.call((record.payload, record.content_type, record.url))
    except PageError:
        return None


_PROBE = "<p>One page, so that nothing is loaded on the first one that counts.</p>"


def cpu_summary(pages_read: PagesRead, settings: Settings) -> str:
    """Describe the CPU time for splitting and labelling a plan's pages.

    Return "" if there is nothing to do. Errors from loading the labeler are raised.
    """
    if not pages_read.files:
        return ""
    labeler = load_from_settings(settings.labeler, settings.labels)
    labelers: Mapping[str, Labeler] = getattr(labeler, "members", {labeler.name: labeler})
    for each in labelers.values():
        each.label([preprocess(_PROBE)])
    seconds: Counter[str] = Counter()
    pages = bytes_read = 0
    with closing(_guard(labelers, settings)) as guard:
        for file, records in pages_read.files:
            end = 0
            for record in records:
                pages, end = pages + 1, weight_until(file, record, end)
                took = _call(guard, record)
                seconds.update(took or {})
            bytes_read += end
    sample = CpuSample(bytes_read, pages, dict(seconds))
    return "\n".join(describe_cpu(sample, pages_read.weight)) + "\n"


def _guard(labelers: Mapping[str, Labeler], settings: Settings) -> Guard[PageInput, dict[str, Any]]:
    def work(page: PageInput) -> dict[str, Any]:
        started = time.process_time()
        reading = Reading(keeps_hidden=settings.html.hidden == "keep")
        blocks = split_into_blocks(Decoded.of(page[0], page[1]), settings.profile, reading)
        took = {"split": time.process_time() - started}
        for name, labeler in labelers.items():
            started = time.process_time()
            labeler.label([blocks])
            took[name] = time.process_time() - started
        return took

    return Guard(work, GuardLimits.of(settings.limits))
