"""What all jobs share: flags, settings, the session, and usage errors as one sentence and exit code 2."""

import argparse
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dripper.config import Settings
from dripper.errors import MachineError, UsageError
from dripper.flags import add_settings, positive, settings
from dripper.labels.registry import runs_staged
from dripper.optional import install

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["dry_run", "guarded", "parser", "positive", "session", "settings", "stage"]

logger = logging.getLogger(__name__)


def parser(name: str, description: str | None, *, reads_archives: bool = True) -> argparse.ArgumentParser:
    """Return a parser with the flags that every job has, and --warcs where it reads archives."""
    made = argparse.ArgumentParser(
        prog=name, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if reads_archives:
        kinds = "comma-separated files, folders, globs, s3:// objects or prefixes, and @lists of paths"
        made.add_argument("--warcs", required=True, help=kinds)
    made.add_argument("--output", required=True, help="a folder, an s3a:// prefix, or catalog.schema")
    add_settings(made)
    return made


@contextmanager
def session(settings: Settings) -> Iterator["SparkSession"]:
    """Give a Spark session, and stop it at the end where this program made it. Raises MachineError."""
    try:
        from dripper.spark.session import is_given, open_session
    except ImportError as error:
        raise MachineError(f"{error.name} is not installed: {install('spark')}") from None
    given = is_given()
    spark = open_session(settings.spark)
    try:
        yield spark
    finally:
        if not given:
            spark.stop()


def guarded(job: Callable[[], int]) -> int:
    """Return the job's exit code; a UsageError becomes its message on stderr and 2, Ctrl-C and the loss of the JVM become 3."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logging.getLogger("dripper").setLevel(logging.INFO)
    try:
        return job()
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; run the same command again: only what is missing is done\n")
        return 3
    except Exception as error:
        if not _is_lost_jvm(error):
            raise
        sys.stderr.write(
            f"Spark's JVM is gone ({type(error).__name__}), maybe killed for its memory (spark.driver.memory); run the same "
            "command again: only what is missing is done\n"
        )
        return 3


def _is_lost_jvm(error: Exception) -> bool:
    """By name, as this module is also there where Spark is not."""
    return isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError"


def stage(name: str, arguments: argparse.Namespace) -> int:
    """Run one stage of a staged run, print its closing counts, return the exit code: 0, or 3 where it ended short."""
    asked = settings(arguments, {"labeler.name": getattr(arguments, "labeler", None)})
    with session(asked) as spark:
        from dripper.spark.report import summary
        from dripper.spark.run import run_stages

        warcs = getattr(arguments, "warcs", None)
        outcome = run_stages(spark, (name,), arguments.output, asked, warcs, arguments.limit)
        sys.stdout.write(summary(outcome, arguments.output, asked.cost.devices))
    return 3 if outcome.complaints else 0


def dry_run(arguments: argparse.Namespace) -> int:
    """Print what `jobs/run.py` would do with the same flags, for a staged run with its estimated cost; write nothing."""
    asked = settings(arguments, {"labeler.name": arguments.labeler})
    with session(asked) as spark:
        from dripper.spark.report import cost_summary, plan_summary
        from dripper.spark.run import dry_plan

        plan = dry_plan(spark, arguments.warcs, arguments.output, asked, arguments.limit)
        sys.stdout.write(plan_summary(plan))
        if runs_staged(asked.labeler):
            sys.stdout.write(cost_summary(plan, asked))
    return 0
