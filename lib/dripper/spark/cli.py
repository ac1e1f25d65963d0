"""Code that all jobs share: flags, settings, the session, exit codes, and error messages for
users."""

import argparse
import json
import logging
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dripper.addresses import printable
from dripper.errors import BusyError, DifferenceError, MachineError, NoPageError, StorageError, UsageError
from dripper.extras import explain_install
from dripper.flags import Parser
from dripper.labels.chain import chain_of
from dripper.labels.config import add_settings
from dripper.labels.config import positive as positive
from dripper.labels.config import settings as settings
from dripper.parse_place import output_place
from dripper.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)


def parser(
    name: str, description: str | None, *, reads_archives: bool = True, redoes: bool = False
) -> argparse.ArgumentParser:
    """Return a parser with the flags that all jobs share.

    `reads_archives` adds the flags that describe the input (--warcs, --select, --crawl). `redoes`
    adds --redo, --relocated and --really-new.
    """
    command = Parser(prog=name, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if reads_archives:
        kinds = "comma-separated files, folders, globs, s3:// objects or prefixes, and @lists of paths"
        command.add_argument("--warcs", help=kinds)
        records = "only these records, by an index: index=FILES,host=…,domain=…,language=…,status=…,mime=…,url-prefix=…,urls=@FILE"
        command.add_argument("--select", default="", metavar="index=…,…", help=records)
        # Quote the name: settings are YAML, and YAML would read 2026-01-01 as a date.
        quoted = partial(json.dumps, ensure_ascii=False)
        of_crawl = "the crawl that the archives are of, for the column crawl (setting reading.crawl)"
        command.add_argument("--crawl", type=quoted, metavar="NAME", help=of_crawl)
    if redoes:
        command.add_argument(
            "--redo", default="", metavar="FILES", help="read these files again although they are done"
        )
        relocated_help = "archives have moved from the prefix OLD to the prefix NEW: they count as read"
        command.add_argument("--relocated", default="", metavar="OLD=NEW", help=relocated_help)
        really_new_help = "new files are not copies of those with the same name and size that were read elsewhere"
        command.add_argument("--really-new", action="store_true", help=really_new_help)
    command.add_argument("--output", required=True, type=_output, help="a folder, an s3a:// prefix, or catalog.schema")
    add_settings(command)
    return command


def add_staged_labeler(command: argparse.ArgumentParser) -> None:
    """Add --labeler, with `lm` as the default, to a job that runs a single stage."""
    command.add_argument(
        "--labeler", help="the labeler, which decides what is main content (default: that of --conf, else lm)"
    )
    command.set_defaults(defaults=["labeler.name=lm"])


def add_tries(command: argparse.ArgumentParser) -> None:
    """Add --tries, which makes the job itself retry while work is unfinished.

    The flag is for schedulers that ignore exit codes.
    """
    again = (
        "if work is left (exit code 3), try again, up to N tries in all, a minute apart; wrong usage is never repeated"
    )
    command.add_argument("--tries", type=positive, default=1, metavar="N", help=again)


def run_again(work: Callable[[], int], tries: int, pause_seconds: float = 60) -> int:
    """Call `work` until its exit code is not 3, at most `tries` times. Return the last code.

    Exceptions are not caught, because another attempt would not help.
    """
    for n in range(1, tries):
        if (code := work()) != _WORK_IS_LEFT:
            return code
        logger.warning("work is left after try %d of %d: the next one begins in %d s", n, tries, pause_seconds)
        time.sleep(pause_seconds)
    return work()


_WORK_IS_LEFT = 3


def _output(typed: str) -> str:
    """Return the output's location, with a path made absolute.

    A mistyped location is rejected here, before Spark starts.
    """
    place = output_place("--output", typed, catalogs=True)
    return str(Path(place.text).absolute()) if place.kind == "path" else place.text


def with_input(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Parse the flags of a job that reads archives. Reject flags that name no files or records."""
    arguments = parser.parse_args(argv)
    if not any(getattr(arguments, name, None) for name in ("warcs", "select", "redo", "dismiss")):
        parser.error("the following arguments are required: --warcs or --select")
    if arguments.warcs and arguments.select:
        parser.error(
            "--warcs reads whole files, --select single records of the files that an index names: give one of them"
        )
    if getattr(arguments, "tries", 1) > 1 and arguments.redo:
        parser.error("--tries would read the files of --redo again with every try: give one of the two")
    return arguments


@contextmanager
def session(settings: Settings) -> Iterator["SparkSession"]:
    """Yield a Spark session. Stop it at the end if this program created it.

    Raises MachineError if there is no suitable Spark.
    """
    try:
        from dripper.spark.session.session import is_given, open_session, settings_restored
    except ImportError as error:
        raise MachineError(f"{error.name} is not installed: {explain_install('spark')}") from None
    is_callers = is_given()
    with settings_restored():
        on_interrupt = signal.getsignal(signal.SIGINT)
        spark = open_session(settings.spark)
        if threading.current_thread() is threading.main_thread():
            # Undo PySpark's handler. It calls Java over a connection that may still be waiting for
            # the answer to an earlier call.
            signal.signal(signal.SIGINT, on_interrupt)
        try:
            yield spark
        finally:
            if not is_callers:
                spark.stop()


class _OneLine(logging.Formatter):
    """Formats a message as one line, with unprintable characters (such as in URLs) escaped.

    A traceback keeps its line breaks.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802, logging's name
        record.message = printable(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record), keeps="\n")


def run_guarded(job: Callable[[], int]) -> int:
    """Run a job, and return its exit code.

    If an error has a message for users, print the message to stderr and return the error's exit
    code, such as 2 for a UsageError. After Ctrl-C or the loss of the JVM, return 3.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("%(asctime)s %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("dripper").setLevel(logging.INFO)
    # If the JVM is lost, this command's last line says so. Py4j's tracebacks add nothing.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    interrupt = _Interrupt()
    handler.addFilter(interrupt)
    try:
        with interrupt.on_signals():
            return job()
    except KeyboardInterrupt:
        return _end(_INTERRUPTED, 3)
    except Exception as error:
        if interrupt.at is not None:  # The signal came first, and may also have killed Java.
            return _end(_INTERRUPTED, 3)
        if code := next((code for kind, code in _EXIT_CODES.items() if isinstance(error, kind)), 0):
            return _end(str(error), code)
        if isinstance(error, BrokenPipeError) and _reader_is_gone():
            # Redirect stdout, as Python's manual recommends. Otherwise, the interpreter fails again
            # when it flushes stdout on exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _end("nobody reads what this command says any more; run it again for its closing counts", 3)
        if _is_of_spark(error):
            return _tell_spark_error(error)
        if not _is_lost_jvm(error):
            raise
        return _end(
            f"Spark's JVM is gone ({type(error).__name__}), maybe killed for its memory (spark.driver.memory); run the same "
            "command again: only what is missing is done",
            3,
        )


class _Interrupt(logging.Filter):
    """Interrupts a command on a signal, and hides the warnings and errors that follow.

    Work in progress is cancelled. Committed work is kept.
    """

    at: float | None = None
    """Time of the interruption in seconds, from a monotonic clock."""

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Raise KeyboardInterrupt on Ctrl-C and SIGTERM."""
        is_main = threading.current_thread() is threading.main_thread()
        before = {each: signal.signal(each, self._ask) for each in (signal.SIGINT, signal.SIGTERM) if is_main}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _ask(self, *_: object) -> None:
        # `timeout` signals the command and then its process group. The second signal must not
        # interrupt the cleanup that the first one started.
        if self.at is not None and time.monotonic() - self.at < _SAME_SECONDS:
            return
        self.at = time.monotonic()
        # The session module might be only partly imported when the signal comes.
        if drop := getattr(sys.modules.get("dripper.spark.session.session"), "drop_connection", None):
            drop()
        raise KeyboardInterrupt

    def filter(self, record: logging.LogRecord) -> bool:
        return self.at is None or record.levelno <= logging.INFO


_SAME_SECONDS = 5
"""Signals within this many seconds count as one."""
_EXIT_CODES = {UsageError: 2, BusyError: 3, DifferenceError: 3, StorageError: 3, NoPageError: 5}
"""Exit codes of the exceptions that have messages for users."""
_INTERRUPTED = "interrupted; run the same command again: only what is missing is done"


def _end(words: str, exit_code: int) -> int:
    """Print why the command ends, and return `exit_code`."""
    sys.stderr.write(printable(words, keeps="\n") + "\n")
    return exit_code


def _reader_is_gone() -> bool:
    """Return whether the reader of standard output, such as `| head`, has closed the pipe."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


def _is_of_spark(error: Exception) -> bool:
    """Return whether Spark raised the error. This checks class names, like `_is_lost_jvm`."""
    return any(kind.__name__ in ("PySparkException", "Py4JJavaError") for kind in type(error).__mro__)


def _tell_spark_error(error: Exception) -> int:
    """Print a one-sentence message about an error that Spark raised outside a batch.

    Return exit code 2 if the user must first allow the write to a table; otherwise, 3.
    """
    from dripper.spark.tables.sql import first_line

    logger.debug("what Spark raised", exc_info=error)
    words = printable(first_line(error)).rstrip(".")
    if _REFUSED.search(words):
        return _end(
            f"a table of the output refuses what this command has to write: {words}. Allow it, then run it again", 2
        )
    return _end(f"Spark failed: {words}. Mend the cause, then run the same command again", 3)


_REFUSED = re.compile(
    r"APPEND_ONLY|CONSTRAINT|NOT_NULL|PERMISSION|ACCESS_?DENIED|Permission denied|Access Denied|AccessControlException|Forbidden",
    re.IGNORECASE,
)
"""Matches error messages of Spark, Delta and storage systems about a refused write. The cause is a
property or constraint of the table, or a missing permission."""


def _is_lost_jvm(error: Exception) -> bool:
    """Return whether the error means that the JVM is gone.

    This checks the error's class name, because this module is also used without Spark.
    """
    return isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError"


def note_relocated(spark: "SparkSession", arguments: argparse.Namespace, settings: Settings) -> None:
    """Record that archives have moved, if --relocated is given."""
    if arguments.relocated:
        from dripper.spark.ledger.relocated import parse_move, relocate

        move, single_writer = parse_move(arguments.relocated), settings.output.single_writer
        sys.stdout.write(relocate(spark, arguments.output, move, single_writer=single_writer) + "\n")


def stage(name: str, arguments: argparse.Namespace) -> int:
    """Run one stage of a staged run, print its final counts, and return `Outcome.exit_code`."""
    flags = {"labeler.name": "labeler", "reading.crawl": "crawl"}
    configured = settings(arguments, {key: getattr(arguments, flag, None) for key, flag in flags.items()})
    with session(configured) as spark:
        from dripper.spark.reports.report import summary
        from dripper.spark.run.run import run_stages

        names = ("warcs", "limit", "redo", "select", "really_new")
        given: dict[str, Any] = {name: value for name, value in vars(arguments).items() if name in names}
        if hasattr(arguments, "relocated"):
            note_relocated(spark, arguments, configured)

        def once() -> int:
            outcome = run_stages(spark, (name,), arguments.output, configured, **given)
            sys.stdout.write(summary(outcome, arguments.output, configured.cost.devices))
            return outcome.exit_code

        return run_again(once, arguments.tries)


def dry_run(arguments: argparse.Namespace) -> int:
    """Print the plan and estimated cost of `jobs/run.py` with these flags. Write nothing."""
    configured = settings(arguments, {"labeler.name": arguments.labeler})
    with session(configured) as spark:
        from dripper.labels.registry import split_into_stages
        from dripper.spark.ledger.relocated import parse_move
        from dripper.spark.reports.report import cost_summary, plan_summary
        from dripper.spark.reports.sample import cpu_summary, read_pages
        from dripper.spark.run.run import dry_plan
        from dripper.spark.workers.routing import is_staged

        staged, is_chain = is_staged(configured), len(chain_of(configured.labeler.name)) > 1
        moved, really_new = getattr(arguments, "relocated", ""), getattr(arguments, "really_new", False)
        given = (arguments.limit, arguments.select, really_new, [parse_move(moved)] if moved else [])
        plan = dry_plan(spark, arguments.warcs or "", arguments.output, configured, *given)
        sys.stdout.write(plan_summary(plan))
        pages = read_pages(plan, configured)
        if is_chain or staged:
            sys.stdout.write(cost_summary(pages, configured))
        if configured.layouts.enabled:
            # The second labeler of a chain adds no CPU cost.
            alone = configured.model_copy(update={"labeler": split_into_stages(configured.labeler)[0]})
            sys.stdout.write(cpu_summary(pages, alone))
        elif not staged:
            sys.stdout.write(cpu_summary(pages, configured))
    return 0
