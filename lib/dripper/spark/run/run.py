"""The jobs as functions: make a plan, process the batches, and report the outcome."""

import logging
from collections.abc import Collection, Sequence

from pyspark.sql import SparkSession

from dripper.errors import InputError
from dripper.labels.engine import Loader, check_labeler, load_labeler
from dripper.labels.entry import Use
from dripper.labels.registry import check_blocks, check_use, load_from_settings, split_into_stages
from dripper.settings import Settings
from dripper.spark.ledger.inputs import Input, check_known, describe_input, drop_known, read_input
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import UNFINISHED, BatchSize, Plan, make_plan
from dripper.spark.ledger.reconcile import find_lost_rows
from dripper.spark.ledger.relocated import (
    Move,
    check_not_moved,
    find_first_name,
    locate,
    names_by_place,
    read_moves,
    rename_to_first_names,
)
from dripper.spark.ledger.work import Work
from dripper.spark.run.fused import FusedJob
from dripper.spark.run.label_stage import check_chain, check_profiles
from dripper.spark.run.outcome import Outcome, Totals, bad_inputs, work_left
from dripper.spark.run.output import BETWEEN, OpenOutput, open_output
from dripper.spark.run.progress import Progress
from dripper.spark.run.staged import STAGES, StagedJob
from dripper.spark.session import capacity
from dripper.spark.session.capacity import is_local, properties
from dripper.spark.session.engines import Engines, engine_profile, n_engines
from dripper.spark.session.session import require_workers
from dripper.spark.tables.batches import Batch
from dripper.spark.tables.counts import rows_by_batch
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import FILES_TO_JOIN, Tables
from dripper.spark.wording import say_count
from dripper.spark.workers.routing import is_staged
from dripper.warc.open.expand import list_named_files

logger = logging.getLogger(__name__)

BATCH_BYTES = 2 << 30
"""Archive bytes per batch and core. This is about two Common Crawl files."""


def dry_plan(
    spark: SparkSession,
    warcs: str,
    output: str,
    settings: Settings,
    limit: int | None = None,
    select: str = "",
    really_new: bool = False,
    moves: Sequence[Move] = (),
) -> Plan:
    """Return the plan of `run` without writing anything.

    Raises UsageError like `run`.

    Args:
        moves: Moves to assume in addition to the recorded ones.
    """
    tables = Tables(spark, output)
    existing = tables.find_existing()
    ledger = Ledger(SparkBooks(spark, tables), run_id="", is_new="warc_files" not in existing)
    source = read_input(warcs, "", select, settings)
    return _plan(spark, tables, ledger, source, settings, limit, really_new=really_new, moves=moves)


def run(
    spark: SparkSession,
    warcs: str,
    output: str,
    settings: Settings,
    limit: int | None = None,
    loader: Loader = load_labeler,
    redo: str = "",
    select: str = "",
    really_new: bool = False,
) -> Outcome:
    """Extract all pages of `warcs` into the tables below `output`. Files that are done are skipped.

    The run uses a single pass, or three stages if the labeler needs them (`labeler.staged`). See
    `run_stages` for the arguments and errors.
    """
    stages = STAGES if is_staged(settings) else ()
    return run_stages(spark, stages, output, settings, warcs, limit, loader, redo, select, really_new)


def dismiss(spark: SparkSession, files: str, output: str, settings: Settings) -> int:
    """Record in the ledger that these bad files need no more attempts. Return the number of files.

    Args:
        files: The files, in the format that `run` accepts. They need not exist.

    Raises:
        InputError: If one of the files did not fail and has no known fault.
    """
    names = [file.address for file in list_named_files(files, settings.reading)]
    with open_output(spark, output, settings, job="dismiss", input=describe_input(files)) as output_at_work:
        ledger = output_at_work.work.ledger
        bad = {
            entry.file.warc_file for entry in ledger.entries() if entry.fault or entry.state in ("failed", "set_aside")
        }
        moves = read_moves(SparkBooks(spark, output_at_work.work.tables))
        known = names_by_place((entry.file.warc_file for entry in ledger.entries()), moves)
        # Messages show the names under which files were first read, so users can pass these names,
        # too.
        names = [name if name in bad else find_first_name(name, moves, known) for name in names]
        if foreign := [name for name in names if name not in bad]:
            raise InputError(
                f"--dismiss {foreign[0]}: no file of that address failed, or is not a whole archive, in {output}"
            )
        ledger.dismiss(names)
        output_at_work.outcome = Outcome(Plan(), Totals(), ledger.counts())
    return len(names)


def _plan(
    spark: SparkSession,
    tables: Tables,
    ledger: Ledger,
    source: Input,
    settings: Settings,
    limit: int | None,
    states: Collection[str] = UNFINISHED,
    really_new: bool = False,
    moves: Sequence[Move] = (),
) -> Plan:
    # Use the maximum number of cores, because a cluster grows only while tasks wait for cores.
    size = BatchSize(settings.batch.files, BATCH_BYTES * capacity.slots(spark))
    entries = ledger.entries()
    if entries:
        moves = [*read_moves(SparkBooks(spark, tables)), *moves]
        source = rename_to_first_names(source, moves, entries)
        entries = locate(entries, moves)
    if not really_new:
        check_not_moved(source.files, entries)
    check_known(source, entries)
    plan = make_plan(source.files, entries, size, limit, states, source.redo, ledger.last_batch)
    return drop_known(spark, tables, plan, entries)


def _end_run(
    output_at_work: OpenOutput, plan: Plan, totals: Totals, problems: Sequence[str] = (), stages: Sequence[str] = ()
) -> Outcome:
    work = output_at_work.work
    ledger = work.ledger
    # Each commit of a batch adds one data file to the ledger. With fewer batches, there cannot be
    # enough files to join.
    if ledger.last_batch >= FILES_TO_JOIN:
        work.tables.join_files("warc_files")
    lost = find_lost_rows(work.spark, work.tables, ledger, work.lease.confirm) if totals.files else []
    outcome = Outcome(
        plan,
        totals,
        ledger.counts(),
        (*lost, *work_left(totals)),
        (*problems, *bad_inputs(totals, plan)),
        tuple(stages),
        work.lease.run_id,
    )
    output_at_work.outcome = outcome
    return outcome


def run_stages(
    spark: SparkSession,
    stages: Sequence[str],
    output: str,
    settings: Settings,
    warcs: str | None = None,
    limit: int | None = None,
    loader: Loader = load_labeler,
    redo: str = "",
    select: str = "",
    really_new: bool = False,
) -> Outcome:
    """Run adjacent STAGES, in order, on the batches that are ready for them.

    Without stages, extract in a single pass. Failures other than the errors below raise no
    exception. The `Outcome` reports them.

    Args:
        warcs: The input of `preprocess` and of the single pass. The other stages take the batches
            that the previous stage has finished.
        limit: Maximum number of files for `preprocess` and the single pass; otherwise, maximum
            number of batches.
        loader: Loads the labeler of a staged run.
        redo: Files to read again, in the format of `warcs`.
        select: Records of an index to read instead of `warcs` (`dripper.warc.index.selection`).
        really_new: Whether the files are new even if files with the same name and size were read
            from another location.

    Raises:
        UsageError: If the user has to change something.
        BusyError: If another run is working on the output.
    """
    is_staged(settings)
    plans = not stages or stages[0] == "preprocess"
    engines = _engines(spark, stages, settings, loader)
    is_here = bool(stages) and loader is load_labeler and is_local(properties(spark))
    _check_labeler(stages, settings, is_here=is_here)
    require_workers(spark)
    has_pages = not stages or Tables(spark, output).exists("pages")
    if not plans and not has_pages:
        raise InputError(
            f"--output {output}: there is no table pages; run jobs/preprocess.py into the same output first"
        )
    source = read_input(warcs or "", redo, select, settings) if plans else Input()
    with open_output(
        spark, output, settings, job=", ".join(stages) or "run", input=source.description, is_staged=bool(stages)
    ) as output_at_work:
        work = output_at_work.work
        put_back = [] if has_pages else _put_back_batches(work.ledger)
        plan = _plan_stages(work, stages, source, settings, limit, really_new)
        batches = _begin_batches(work.ledger, plan)
        totals = _work_off(work, engines, plan, stages) if batches else Totals()
        waiting = {batch.number for batch in put_back} - {batch.number for batch in batches}
        totals.put_back |= dict.fromkeys(waiting, ("preprocess", _NO_PAGES))
        return _end_run(output_at_work, plan, totals, source.problems, stages)


def _check_labeler(stages: Sequence[str], settings: Settings, *, is_here: bool) -> None:
    """Raise UsageError if the labeler cannot work with these settings. Log its warnings.

    Args:
        is_here: Whether this is a staged run on this machine.
    """
    if "preprocess" in stages:
        check_blocks(split_into_stages(settings.labeler)[1], settings.labels, settings.profile)
    for warning in check_use(settings.labeler, settings.labels, Use(settings.profile, stages, is_here)):
        logger.warning("%s", warning)
    if not stages:
        load_from_settings(settings.labeler, settings.labels)


def _plan_stages(
    work: Work, stages: Sequence[str], source: Input, settings: Settings, limit: int | None, really_new: bool
) -> Plan:
    """Return the plan for some stages.

    For `preprocess` and the single pass, the plan is computed from files. For the other stages, it
    has the batches that the previous stage has finished.
    """
    states = [UNFINISHED[STAGES.index(stage)] for stage in stages]
    if "planned" not in (states or UNFINISHED):
        plan = _plan_waiting(work.ledger, states[0], limit)
    else:
        for table in BETWEEN if stages else ():
            work.ledger.number_above(rows_by_batch(work.tables.read(table)))
        of_files = work.spark, work.tables, work.ledger, source, settings, limit
        plan = _plan(*of_files, states or UNFINISHED, really_new)
    if "label" in stages:
        _check_chains(work, plan, settings)
    return plan


def _work_off(work: Work, engines: Engines, plan: Plan, stages: Sequence[str]) -> Totals:
    """Process the batches of a plan. Log the engines' warnings, and add them to the totals."""
    batches = [*plan.resumed, *plan.fresh]
    with Progress(work.spark, _count_files(batches)) as progress:
        if stages:
            totals = StagedJob(work, engines).run(batches, progress, stages)
        else:
            totals = FusedJob(work).run(batches, progress, (batch.number for batch in plan.fresh))
    totals.label.warnings = tuple(progress.warnings)
    for warning in totals.label.warnings:
        logger.warning("%s", warning)
    return totals


_NO_PAGES = "the table pages is not there"


def _put_back_batches(ledger: Ledger) -> list[Batch]:
    """Put batches between stages back to `planned`, and return them.

    Their rows were lost with the `pages` table.
    """
    batches = [batch for state in UNFINISHED[1:] for batch in ledger.batches(state)]
    for batch in batches:
        logger.warning("batch %d goes back to the stage preprocess: %s", batch.number, _NO_PAGES)
        ledger.put_back(batch, UNFINISHED[0])
    return batches


def _check_chains(work: Work, plan: Plan, settings: Settings) -> None:
    for batch in plan.resumed:
        if batch.state == "preprocessed":
            run_ids = {report["run_id"] for report in work.ledger.reports(batch)}
            check_chain(work.tables, batch, run_ids, settings)
    last = split_into_stages(settings.labeler)[1]
    numbers = [
        batch.number for batch in plan.resumed if batch.state == "preprocessed" and batch.number not in plan.anew
    ]
    check_profiles(work.tables, numbers, settings.model_copy(update={"labeler": last}))


def _engines(spark: SparkSession, stages: Sequence[str], settings: Settings, loader: Loader) -> Engines:
    last = split_into_stages(settings.labeler)[1]
    if "preprocess" in stages or "label" in stages:
        # Check this before `preprocess`, too: its output would be useless without the labeler.
        check_labeler(settings.model_copy(update={"labeler": last}), loader)
    if "label" not in stages:
        return Engines(loader)
    return Engines(loader, n_engines(spark, settings.stages), engine_profile(spark, settings.stages))


def _plan_waiting(ledger: Ledger, state: str, limit: int | None) -> Plan:
    batches = ledger.batches(state)
    chosen = batches if limit is None else batches[:limit]
    return Plan(resumed=tuple(chosen), n_left=_count_files(batches) - _count_files(chosen))


def _begin_batches(ledger: Ledger, plan: Plan) -> list[Batch]:
    batches = [*plan.resumed, *plan.fresh]
    files, in_batches = say_count(_count_files(batches), "file"), say_count(len(batches), "batch")
    logger.info("%s to do in %s, %d done before", files, in_batches, plan.n_done)
    for batch in plan.resumed:
        if batch.number in plan.anew:
            ledger.put_back(batch, UNFINISHED[0])
    ledger.record(plan)
    return batches


def _count_files(batches: Sequence[Batch]) -> int:
    return sum(len(batch.files) for batch in batches)
