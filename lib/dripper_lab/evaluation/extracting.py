"""Runs extractors over pages, one extractor at a time. Each page is processed in a guarded child
process that measures its CPU time."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dripper.errors import ErrorCode, PageError
from dripper.guard import Guard, GuardLimits
from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.extractors.base import Contender, Extract, Standing, Task, converter
from dripper_lab.evaluation.extractors.ensembles import Ensemble, majority_vote, page_tokens
from dripper_lab.evaluation.store import Output, Outputs, page_digest

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 10


class ProgressLog:
    """Counts the processed pages of all extractors and estimates the remaining time. Pages from an
    earlier run do not count toward the speed."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = self._fresh = 0
        self._place = ""
        self._start = self._said = time.monotonic()

    def at(self, place: str) -> None:
        """Set the description that the next log line shows."""
        self._place = place

    def done(self, pages: int = 1, fresh: bool = True) -> None:
        """Count pages. Log a line if the last one is at least ten seconds old."""
        self._done += pages
        self._fresh += pages if fresh else 0
        if time.monotonic() - self._said >= SECONDS_BETWEEN_LINES or self._done == self._total:
            self._said = time.monotonic()
            logger.info("%s", self)

    def __str__(self) -> str:
        share = 100 * self._done // self._total if self._total else 100
        if not self._fresh:
            return f"{share} % {self._place}"
        seconds = (self._total - self._done) * (time.monotonic() - self._start) / self._fresh
        return f"{share} % {self._place}, about {seconds / 60:.0f} min left"


TICK_SECONDS, MAX_CALLS = 0.01, 8


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits per page and extractor. They are far above the needs of any usable extractor; the
    slowest one here takes 0.15 s per page on average."""

    cpu_seconds: int = 20
    wall_seconds: float = 60.0
    memory_bytes: int = 2 << 30


def extract_set(
    extractor: Contender, tasks: Sequence[Task], data_set: str, folder: Path, limits: Limits, progress: ProgressLog
) -> None:
    """Add the missing outputs to `folder`. Raises MachineError if the extractor's package is
    missing."""
    with Outputs(folder, data_set, extractor) as outputs:
        earlier_outputs = outputs.read()
        waiting = [task for task in tasks if not _is_done(earlier_outputs, task.page)]
        progress.done(len(tasks) - len(waiting), fresh=False)
        for output in extract_tasks(extractor, waiting, limits):
            outputs.add(output)
            progress.done()


def extract_tasks(extractor: Contender, tasks: Sequence[Task], limits: Limits) -> Iterator[Output]:
    """Yield one output per page, also for pages on which the extractor fails, crashes or hangs."""
    if not tasks:
        return
    work = partial(_extract_timed, extractor.load(), converter(extractor.form, tasks[0].page.data_set))
    _warm_up(work, tasks[0], limits)
    with Guard(work, GuardLimits(limits.cpu_seconds, limits.wall_seconds, limits.memory_bytes)) as guard:
        for task in tasks:
            yield _output(guard, task, limits)


def vote_set(
    ensemble: Ensemble, tasks: Sequence[Task], data_set: str, folder: Path, members: Sequence[Contender]
) -> None:
    """Add the missing outputs of an ensemble, computed from the outputs of its members."""
    answers = {member.name: Outputs(folder, data_set, member).read() for member in members}
    with Outputs(folder, data_set, as_extractor(ensemble)) as outputs:
        earlier_outputs = outputs.read()
        for task in tasks:
            if not _is_done(earlier_outputs, task.page):
                outputs.add(
                    vote(ensemble, task, {name: of_member[task.page.id] for name, of_member in answers.items()})
                )


def vote(ensemble: Ensemble, task: Task, answers: Mapping[str, Output]) -> Output:
    """Return the output of an ensemble. Its cost is the cost of all members plus the cost of the
    vote."""
    start = time.process_time()
    texts = {name: answers[name].text for name in ensemble.members}
    text = majority_vote(page_tokens(task.html), texts, ensemble.members, ensemble.needed)
    cost = sum(answers[name].cpu_ms for name in ensemble.members) + 1000 * (time.process_time() - start)
    return Output(task.page.id, page_digest(task.page), text, round(cost, 3))


def as_extractor(ensemble: Ensemble) -> Contender:
    """Return an ensemble as an entry in the list of extractors."""
    return Contender(ensemble.name, Standing.ENSEMBLE, "dripper", _no_load, setting=ensemble.setting)


def _no_load() -> Extract:
    raise NotImplementedError("an ensemble votes over outputs; it does not read pages")


def _is_done(outputs: dict[str, Output], page: LabelledPage) -> bool:
    return page.id in outputs and outputs[page.id].digest == page_digest(page)


def _extract_timed(extract: Extract, convert: Callable[[str], str], task: Task) -> tuple[str, float]:
    """Return (text, CPU milliseconds of the extraction). Converting the text does not count.

    On some virtual machines, the CPU clock ticks only every 10 ms. A fast page is therefore
    extracted repeatedly until at least one tick has passed.
    """
    start = time.process_time()
    result, calls = extract(task), 1
    while time.process_time() - start < TICK_SECONDS and calls < MAX_CALLS:
        result, calls = extract(task), calls + 1
    return convert(result), 1000 * (time.process_time() - start) / calls


def _warm_up(work: Callable[[Task], object], task: Task, limits: Limits) -> None:
    """Extract a page so that lazily loaded tables are in memory before the fork and the first
    measurement. A child process extracts the page first, in case the extractor crashes."""
    try:
        with Guard(work, GuardLimits(limits.cpu_seconds, limits.wall_seconds, limits.memory_bytes)) as guard:
            guard.call(task)
        work(task)
    except Exception as error:  # the measured call raises the same error and records it
        logger.debug("warm-up failed: %s", error)


def _output(guard: Guard[Task, tuple[str, float]], task: Task, limits: Limits) -> Output:
    page = task.page
    try:
        text, cpu_ms = guard.call(task)
    except PageError as error:
        cpu_ms = 1000.0 * limits.cpu_seconds if error.code is ErrorCode.TIME_LIMIT else 0.0
        return Output(page.id, page_digest(page), "", cpu_ms, error.code.value, error.detail or None)
    return Output(page.id, page_digest(page), text, round(cpu_ms, 3))
