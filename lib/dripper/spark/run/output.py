"""Opens an output for one run: upgrades its tables, and keeps other drivers from writing to
them."""

import json
import logging
import platform
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pyspark.sql import SparkSession

import dripper
from dripper.addresses import loggable
from dripper.settings import Settings
from dripper.spark.ledger import lease
from dripper.spark.ledger.forgotten import NO_RULES
from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.reconcile import reconcile
from dripper.spark.ledger.work import Work
from dripper.spark.run.outcome import Outcome, Totals
from dripper.spark.run.scheduler import IN_FLIGHT
from dripper.spark.session.capacity import count_losses
from dripper.spark.tables.log_store import require_log_store
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from dripper.spark.upkeep.forget import SparkPages

logger = logging.getLogger(__name__)

_STAGES_AT_ONCE = 3
"""Maximum number of batches that a staged run processes in parallel, one for each stage."""
BETWEEN = ("blocks", "labels", "pages")
"""Tables between the stages of a staged run. `pages` must be last: if it exists, the others exist,
too."""


@dataclass(slots=True)
class OpenOutput:
    """An output that is open for a run.

    Set `outcome` before the context ends. The outcome is then recorded in the `runs` table.
    """

    work: Work
    outcome: Outcome | None = None


@contextmanager
def open_output(
    spark: SparkSession, output: str, settings: Settings, *, job: str, input: str, is_staged: bool = False
) -> Iterator[OpenOutput]:
    """Open the tables below `output` for one run. Create missing tables, and hold the lease.

    Args:
        job, input: Values for the run's row in the `runs` table.

    Raises:
        BusyError: If another run is working on the output.
        InputError: If the output cannot be used.
        SettingsError: If two writers could overwrite each other's commits.
        DifferenceError: If the rows of `extractions` differ from the ledger's counts.
    """
    tables, losses = Tables(spark, output), count_losses(spark)
    require_log_store(spark, tables, settings.output.single_writer)
    is_new = _bring_up_tables(tables, settings, is_staged)
    writers = _STAGES_AT_ONCE if is_staged else IN_FLIGHT
    run_lease, start = Lease(SparkBooks(spark, tables), writers=writers), time.monotonic()
    run_lease.take(
        is_new=is_new[lease.TABLE],
        job=job,
        input=input,
        settings=changed_settings(settings),
        versions=_list_versions(spark, settings),
    )
    ending: dict[str, Any] = {"state": "interrupted", "exit_code": 3}
    try:
        if is_staged:
            tables.create(BETWEEN[-1])
        output_at_work = OpenOutput(_open_books(spark, tables, run_lease, settings, is_new))
        yield output_at_work
        run_lease.confirm_commits()
        if output_at_work.outcome is not None:
            ending = {"state": "ended", **_describe_ending(output_at_work.outcome, time.monotonic() - start)}
            ending["complaints"] += count_losses(spark).describe(losses)
    except Exception as error:
        ending = {"state": "ended", "exit_code": 3, "complaints": [f"{type(error).__name__}: {error}"[:1000]]}
        raise
    finally:
        run_lease.end(**ending)


def _bring_up_tables(tables: Tables, settings: Settings, is_staged: bool) -> dict[str, bool]:
    """Create or upgrade the tables of a run. Return for each table whether it is new."""
    by_layout = ("layouts",) if settings.layouts.enabled else ()
    names = (lease.TABLE, "warc_files", "extractions", *(BETWEEN[:-1] if is_staged else ()), *by_layout)
    existing = tables.find_existing()
    # Work in parallel, because each table mostly waits for the file system and Spark's planner.
    with ThreadPoolExecutor(max_workers=len(names)) as pool:
        return dict(zip(names, pool.map(lambda name: tables.bring_up(name, name in existing), names), strict=True))


def _open_books(
    spark: SparkSession, tables: Tables, run_lease: Lease, settings: Settings, is_new: Mapping[str, bool]
) -> Work:
    """Return the `Work` object of a run that holds the lease.

    First, check that the rows match the ledger, and delete pages that must be forgotten.
    """
    books = SparkBooks(spark, tables)
    # Another run may have written to a new table before this run took the lease.
    is_empty = is_new.get("warc_files", False) and run_lease.is_first
    ledger = Ledger(books, run_lease.run_id, is_new=is_empty)
    rules = NO_RULES
    if not (is_empty and is_new.get("extractions", False)):
        rules, _ = reconcile(spark, tables, SparkPages(tables), ledger, run_lease)
    return Work(spark, tables, ledger, run_lease, settings, rules)


def changed_settings(settings: Settings) -> str:
    """Return the settings that differ from their defaults, as JSON, without secrets."""
    secret: Mapping[str, Any] = {"spark": {"properties"}, "labels": {"lm": {"api_key"}}}
    changed = settings.model_dump(mode="json", exclude_defaults=True, exclude=dict(secret))
    return json.dumps(_hide_secrets(changed), sort_keys=True)


def _hide_secrets(value: Any) -> Any:
    """Remove secrets from the URLs in these settings."""
    if isinstance(value, dict):
        return {key: _hide_secrets(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_hide_secrets(part) for part in value]
    return loggable(value) if isinstance(value, str) and "://" in value else value


def _list_versions(spark: SparkSession, settings: Settings) -> dict[str, str]:
    versions = {
        "dripper": dripper.__version__,
        "spark": spark.version,
        "python": platform.python_version(),
        "profile": settings.profile,
        "labeler": settings.labeler.name,
    }
    with suppress(PackageNotFoundError):
        versions["delta"] = version("delta-spark")
    return versions


def _describe_ending(outcome: Outcome, seconds: float) -> dict[str, Any]:
    totals: Totals = outcome.totals
    names = ("files", "records", "pages", "failed_pages", "skipped", "errors", "stage_ms")
    return {name: getattr(totals, name) for name in names} | {
        "exit_code": outcome.exit_code,
        "pages_per_second": totals.pages / seconds if seconds else None,
        "complaints": [*outcome.complaints, *outcome.bad_inputs, *totals.label.warnings],
    }
