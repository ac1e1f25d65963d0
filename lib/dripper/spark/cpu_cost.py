"""What labelling on CPUs would cost: a few pages of the input are split and labelled on the driver,
and timed, each labeler of a vote by itself."""

import time
from collections import Counter
from collections.abc import Mapping
from contextlib import closing

from dripper.config import Settings
from dripper.cost import CpuSample, cpu_words
from dripper.errors import PageError
from dripper.guard import Guard, GuardLimits
from dripper.html import preprocess
from dripper.labels.base import Labeler
from dripper.labels.registry import load_from_settings
from dripper.preparation import Decoded, split_into_blocks
from dripper.spark.sample import PagesRead, weight_until
from dripper.spark.worker import PageInput

_PROBE = "<p>One page, so that nothing is loaded on the first one that counts.</p>"


def cpu_summary(read: PagesRead, settings: Settings) -> str:
    """Return the CPU time that the pages of a plan would take to split and label; "" where there is
    nothing to do. Raises as the labeler's loading does."""
    if not read.files:
        return ""
    labeler = load_from_settings(settings.labeler, settings.labels)
    labelers: Mapping[str, Labeler] = getattr(labeler, "members", {labeler.name: labeler})
    for each in labelers.values():
        each.label([preprocess(_PROBE)])
    seconds: Counter[str] = Counter()
    pages = bytes_read = 0
    with closing(_guard(labelers, settings)) as guard:
        for file, records in read.files:
            end = 0
            for record in records:
                pages, end = pages + 1, weight_until(file, record, end)
                if record.error_code is None:
                    seconds.update(_timed(guard, (record.payload, record.content_type, record.url)))
            bytes_read += end
    sample = CpuSample(bytes_read, pages, dict(seconds))
    return "\n".join(cpu_words(sample, read.weight)) + "\n"


def _guard(labelers: Mapping[str, Labeler], settings: Settings) -> Guard[PageInput, dict[str, float]]:
    def work(page: PageInput) -> dict[str, float]:
        started = time.process_time()
        blocks = split_into_blocks(Decoded.of(page[0], page[1]), settings.profile)
        took = {"split": time.process_time() - started}
        for name, labeler in labelers.items():
            started = time.process_time()
            labeler.label([blocks])
            took[name] = time.process_time() - started
        return took

    return Guard(work, GuardLimits.of(settings.limits))


def _timed(guard: Guard[PageInput, dict[str, float]], page: PageInput) -> Mapping[str, float]:
    """Return CPU seconds by step; nothing of a page that ends as an error row."""
    try:
        return guard.call(page)
    except PageError:
        return {}
