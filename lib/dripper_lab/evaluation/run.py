"""Runs a complete evaluation: every extractor on every set, followed by the scores. A stopped run
can be resumed.

Extraction uses a single core, one extractor at a time, so that load does not distort the measured
CPU times. Meanwhile, another core scores the set that was extracted before.
"""

import logging
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

from dripper.errors import MachineError
from dripper_lab.evaluation.benchmarks.wceb import OUR_SETS, Reference
from dripper_lab.evaluation.extracting import Limits, ProgressLog, as_extractor, extract_set, vote_set
from dripper_lab.evaluation.extractors.base import Contender, Standing, Task
from dripper_lab.evaluation.extractors.ensembles import Ensemble, ensembles
from dripper_lab.evaluation.score_set import SetScoring, score_set
from dripper_lab.evaluation.sources import PageSource
from dripper_lab.evaluation.store import Outputs, decode_page
from dripper_lab.metrics.scoring import DEFAULT_METRICS, check_metrics

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of an evaluation."""

    source: PageSource
    folder: Path
    """The folder for the state of the run."""
    sets: Sequence[str]
    """The names of the data sets."""
    extractors: Sequence[Contender]
    metrics: Sequence[str] = DEFAULT_METRICS
    limits: Limits = field(default_factory=Limits)
    reference: Reference | None = None
    """WCEB's published scores, if available."""

    def for_set(self, data_set: str) -> list[Contender]:
        """Return the extractors for a set. Extractors with WCEB's settings run only on WCEB's
        parts."""
        return [one for one in self.extractors if one.kind is not Standing.WCEB or data_set in OUR_SETS]

    def voting(self) -> list[Ensemble]:
        """Return the ensembles of the peers in this run."""
        return ensembles([one.name for one in self.extractors if one.kind is Standing.PEER])

    def everyone(self) -> list[Contender]:
        """Return all extractors and ensembles."""
        return [*self.extractors, *map(as_extractor, self.voting())]


def run_evaluation(settings: RunSettings) -> list[SetScoring]:
    """Extract and score everything that is missing in `settings.folder`. Return the scoring of each
    set.

    Raises UsageError for mistakes in the settings, before anything runs. Raises MachineError if the
    scoring process died.
    """
    check_metrics(settings.metrics)
    _ = [extractor.version for extractor in settings.extractors]
    sizes = {name: settings.source.size(name) for name in settings.sets}
    progress = ProgressLog(sum(size * len(settings.for_set(name)) for name, size in sizes.items()))
    jobs = []
    scoring: BaseProcess | None = None
    for name in settings.sets:
        _extract(settings, name, progress)
        _finish(scoring)
        jobs.append(scoring_of(settings, name))
        # Spawned, not forked: the parent keeps forking extractors and must share nothing with this
        # process.
        scoring = multiprocessing.get_context("spawn").Process(target=score_set, args=(jobs[-1],))
        scoring.start()
    logger.info("all extracted; the last scores are being computed")
    _finish(scoring)
    return jobs


def _extract(settings: RunSettings, data_set: str, progress: ProgressLog) -> None:
    tasks = [Task(page, decode_page(page)) for page in settings.source.pages(data_set)]
    for extractor in settings.for_set(data_set):
        progress.at(f"{data_set}: {extractor.name}")
        extract_set(extractor, tasks, data_set, settings.folder, settings.limits, progress)
    for ensemble in settings.voting():
        members = [one for one in settings.extractors if one.name in ensemble.members]
        vote_set(ensemble, tasks, data_set, settings.folder, members)


def scoring_of(settings: RunSettings, data_set: str) -> SetScoring:
    """Return the scoring of a set, with the paths of the extractors' outputs."""
    extractors = [*settings.for_set(data_set), *map(as_extractor, settings.voting())]
    paths = {one.name: Outputs(settings.folder, data_set, one).path for one in extractors}
    ids = settings.reference.ids.get(data_set, {}) if settings.reference else {}
    return SetScoring(settings.source, settings.folder, data_set, paths, settings.metrics, frozenset(ids))


def _finish(process: BaseProcess | None) -> None:
    if process is not None:
        process.join()
        if process.exitcode:
            raise MachineError(
                f"the process that computes scores ended with code {process.exitcode}; see its trace above"
            )
