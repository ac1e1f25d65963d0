"""The jobs as functions: plan, work, close the counts, say how it ended."""

import logging
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import SparkSession

from dripper.config import Settings
from dripper.errors import InputError
from dripper.labels.entry import Use
from dripper.labels.registry import check_use, load_from_settings, runs_staged
from dripper.spark.engines import engine_profile, n_engines
from dripper.spark.fused import FusedJob
from dripper.spark.label_worker import Loader, check_labeler, load_labeler
from dripper.spark.ledger import Ledger
from dripper.spark.outcome import Outcome, unclosed, unclosed_stages, unfinished
from dripper.spark.plan import UNFINISHED, Batch, BatchSize, Plan, PlannedFile, make_plan
from dripper.spark.progress import Progress
from dripper.spark.session import slots
from dripper.spark.staged import STAGES, Engines, StagedJob
from dripper.spark.tables import Tables
from dripper.spark.totals import Totals
from dripper.warc import expand

logger = logging.getLogger(__name__)

NAMES = ("warc_files", "extractions")
BETWEEN = ("blocks", "labels", "pages")
"""Tables between stages; `pages` last, as its presence tells that the others are there."""


def open_tables(spark: SparkSession, output: str, staged: bool = False) -> tuple[Tables, Ledger]:
    """Return the tables below `output`, made if they are not there, and the ledger among them."""
    tables = Tables(spark, output)
    # At once, as each waits for the file system and for Spark's planner most of the time.
    names = (*NAMES, *BETWEEN[:-1]) if staged else NAMES
    with ThreadPoolExecutor(max_workers=len(names)) as pool:
        is_new = dict(zip(names, pool.map(tables.create, names), strict=True))
    if staged:
        tables.create(BETWEEN[-1])
    return tables, Ledger(spark, tables, is_new["warc_files"])


def plan_files(
    ledger: Ledger,
    warcs: str,
    settings: Settings,
    slots: int,
    limit: int | None,
    states: Collection[str] = UNFINISHED,
) -> Plan:
    """Return what is to do for the files that `warcs` names (states: see `make_plan`). Raises InputError where it names none
    that exist."""
    files = [PlannedFile(file.path, file.size_bytes) for file in expand(warcs, settings.reading)]
    size = BatchSize(settings.batch.files, settings.batch.bytes_per_core * slots)
    return make_plan(files, ledger.entries(), size, limit, states)


def dry_plan(spark: SparkSession, warcs: str, output: str, settings: Settings, limit: int | None = None) -> Plan:
    """Return what `run` would do, and write nothing. Raises UsageError like `run`."""
    tables = Tables(spark, output)
    ledger = Ledger(spark, tables, is_new=tables.version("warc_files") is None)
    return plan_files(ledger, warcs, settings, slots(spark), limit)


def run(
    spark: SparkSession,
    warcs: str,
    output: str,
    settings: Settings,
    limit: int | None = None,
    loader: Loader = load_labeler,
) -> Outcome:
    """Extract all pages of `warcs` into the tables below `output`; files that are done are left alone.

    In one pass, or where the labeler wants it (`labeler.staged`) in three, several batches at once in different stages.
    loader: makes the labeler of a staged run. Raises UsageError for what a person has to change. Everything else ends in
    `Outcome.complaints`.
    """
    if runs_staged(settings.labeler):
        return run_stages(spark, STAGES, output, settings, warcs, limit, loader)
    _check_use(settings)
    load_from_settings(settings.labeler, settings.labels)
    tables, ledger = open_tables(spark, output)
    at_once = slots(spark)
    plan = plan_files(ledger, warcs, settings, at_once, limit)
    batches = _begun(plan)
    ledger.record(plan)
    totals = Totals()
    if batches:
        with Progress(spark, _n_files(batches)) as progress:
            totals = FusedJob(spark, tables, ledger, settings, at_once).run(batches, progress)
    with ThreadPoolExecutor(max_workers=2) as pool:
        problems = pool.submit(unclosed, tables, totals, _written(batches, totals))
        counts = ledger.counts()
        complaints = [*unfinished(totals), *problems.result()]
    return Outcome(plan, totals, counts, tuple(complaints))


def _check_use(settings: Settings, stages: Sequence[str] = ()) -> None:
    for warning in check_use(settings.labeler.name, settings.labels, Use(settings.profile, stages)):
        logger.warning("%s", warning)


def run_stages(
    spark: SparkSession,
    stages: Sequence[str],
    output: str,
    settings: Settings,
    warcs: str | None = None,
    limit: int | None = None,
    loader: Loader = load_labeler,
) -> Outcome:
    """Run some of STAGES, neighbours in their order, over what is ready for them in the tables below `output`.

    warcs: the input of `preprocess`, which plans; the others take the batches that the stage before has left. limit: at most so
    many files for `preprocess`, else batches. Raises UsageError for what a person has to change.
    """
    engines = Engines(loader)
    _check_use(settings, stages)
    if "label" in stages:
        check_labeler(settings, loader)
        engines = Engines(loader, n_engines(spark, settings.stages), engine_profile(spark, settings.stages))
    if stages[0] != "preprocess" and Tables(spark, output).version("pages") is None:
        raise InputError(
            f"--output {output}: there is no table pages; run jobs/preprocess.py into the same output first"
        )
    tables, ledger = open_tables(spark, output, staged=True)
    at_once = slots(spark)
    states = [UNFINISHED[STAGES.index(stage)] for stage in stages]
    plan = (
        _ready(ledger, states[0], limit)
        if warcs is None
        else plan_files(ledger, warcs, settings, at_once, limit, states)
    )
    batches = _begun(plan)
    ledger.record(plan)
    totals = Totals()
    if batches:
        with Progress(spark, _n_files(batches)) as progress:
            job = StagedJob(spark, tables, ledger, settings, at_once, engines)
            totals = job.run(batches, progress, stages)
    problems = unclosed_stages(tables, stages, _written(batches, totals))
    return Outcome(plan, totals, ledger.counts(), (*unfinished(totals), *problems), tuple(stages))


def _ready(ledger: Ledger, state: str, limit: int | None) -> Plan:
    batches = ledger.batches(state)
    taken = batches if limit is None else batches[:limit]
    return Plan(tuple(taken), (), (), n_done=0, n_left=_n_files(batches) - _n_files(taken))


def _begun(plan: Plan) -> list[Batch]:
    batches = [*plan.resumed, *plan.fresh]
    logger.info("%d files to do in %d batches, %d done before", _n_files(batches), len(batches), plan.n_done)
    return batches


def _written(batches: Sequence[Batch], totals: Totals) -> list[int]:
    return [batch.number for batch in batches if batch.number not in totals.failed_batches]


def _n_files(batches: Sequence[Batch]) -> int:
    return sum(len(batch.files) for batch in batches)
