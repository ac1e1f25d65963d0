"""How a job ends: exit codes, and sentences instead of traces."""

import logging
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dripper.errors import InputError, NoPageError, StorageError
from dripper.labels.config import load
from dripper.spark.cli import add_tries, parser, run_again, run_guarded, with_input


def run_as_command(job: Callable[[], int]) -> int:
    """Run a job without pytest's handlers of logs, so that it adds its own."""
    root = logging.getLogger()
    handlers, root.handlers = root.handlers, []
    try:
        return run_guarded(job)
    finally:
        root.handlers = handlers


def failing(error: BaseException) -> int:
    def job() -> int:
        raise error

    return run_guarded(job)


def test_a_run_reads_whole_files_or_a_selection(capsys: pytest.CaptureFixture[str]) -> None:
    made = parser("run.py", None, redoes=True)
    assert with_input(made, ["--select", "index=a.cdxj", "--output", "o"]).select == "index=a.cdxj"
    for flags, words in (
        (["--output", "o"], "required: --warcs or --select"),
        (["--warcs", "a", "--select", "index=a.cdxj", "--output", "o"], "give one of them"),
    ):
        with pytest.raises(SystemExit, match="2"):
            with_input(made, flags)
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("codes", "tries", "expected"),
    [([3, 3, 0, 3], 3, (0, 3)), ([3, 3, 3, 0], 3, (3, 3)), ([4, 0], 3, (4, 1)), ([3, 0], 1, (3, 1))],
)
def test_only_work_that_is_left_is_tried_again(codes: list[int], tries: int, expected: tuple[int, int]) -> None:
    left = list(codes)
    assert (run_again(lambda: left.pop(0), tries, 0), len(codes) - len(left)) == expected


def test_wrong_usage_is_not_tried_again() -> None:
    calls = []

    def job() -> int:
        calls.append(1)
        raise InputError("no such file")

    assert run_guarded(lambda: run_again(job, 3, 0)) == 2
    assert len(calls) == 1


@pytest.mark.parametrize("name", ["2026-01-01", "harbours: 2026", "no", "Häfen 🚢", ""])
def test_any_name_is_one_of_a_crawl(name: str) -> None:
    given = with_input(parser("run.py", None), ["--warcs", "a", "--output", "o", "--crawl", name])
    assert load(assignments=[f"reading.crawl={given.crawl}"]).reading.crawl == name


def test_files_that_are_read_again_are_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    made = parser("run.py", None, redoes=True)
    add_tries(made)
    with pytest.raises(SystemExit, match="2"):
        with_input(made, ["--redo", "a.warc", "--output", "o", "--tries", "3"])
    assert "give one of the two" in capsys.readouterr().err


def test_a_job_that_ends_gives_its_own_code() -> None:
    assert [run_guarded(lambda code=code: code) for code in (0, 3)] == [0, 3]  # type: ignore[misc]


def test_usage_errors_are_their_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(InputError("no such file")) == 2
    assert capsys.readouterr().err == "no such file\n"


def test_no_message_moves_the_cursor_or_forges_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    def job() -> int:
        logging.getLogger("dripper.x").warning("reading %s", "a\x1b[2J\n12:00:00 all is well")
        raise InputError("a\x1b[2J\0.warc does not exist")

    assert run_as_command(job) == 2
    logged, told = capsys.readouterr().err.splitlines()
    assert logged.endswith("reading a\\x1b[2J\\x0a12:00:00 all is well")
    assert told == "a\\x1b[2J\\x00.warc does not exist"


@pytest.mark.parametrize("error", [Py4JNetworkError("Answer from Java side is empty"), ConnectionRefusedError(111)])
def test_a_lost_jvm_is_one_sentence(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(error) == 3
    told = capsys.readouterr().err
    assert "JVM is gone" in told
    assert "run the same command again" in told
    assert told.count("\n") == 1


def test_an_interrupt_says_that_nothing_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(KeyboardInterrupt()) == 3
    assert "only what is missing is done" in capsys.readouterr().err


def test_a_signal_that_took_the_jvm_as_well_is_an_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    """As a scheduler sends it to a whole group of processes."""

    def clean_up() -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            raise ConnectionRefusedError(111)

    assert run_guarded(clean_up) == 3
    assert capsys.readouterr().err == "interrupted; run the same command again: only what is missing is done\n"


def test_a_second_signal_does_not_cut_the_cleanup_short(capsys: pytest.CaptureFixture[str]) -> None:
    """`timeout` sends SIGTERM to its command, and then to the command's group."""
    done = []

    def job() -> int:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGTERM)
            logging.getLogger("dripper").error("the connection to Java is lost", exc_info=KeyError())
            done.append("cleanup")
        return 0

    before = signal.getsignal(signal.SIGTERM)
    assert run_as_command(job) == 3
    assert done == ["cleanup"]
    assert signal.getsignal(signal.SIGTERM) is before
    assert capsys.readouterr().err == "interrupted; run the same command again: only what is missing is done\n"


@pytest.mark.spark
def test_after_an_interrupt_java_answers_the_calls_of_the_cleanup(spark: SparkSession) -> None:
    """The interrupted call is still at work then."""
    answers = []

    def job() -> int:
        threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
        try:
            spark.sql("SELECT java_method('java.lang.Thread', 'sleep', 20000L)").collect()
        finally:
            answers.append(spark.sql("SELECT 7").collect()[0][0])
            spark.sparkContext.cancelAllJobs()
        return 0

    assert run_guarded(job) == 3
    assert answers == [7]
    # Of the thread in Java that serves the new connection.
    spark._jvm.SparkSession.setActiveSession(spark._jsparkSession)


APPEND_ONLY = PySparkException("[DELTA_CANNOT_MODIFY_APPEND_ONLY] This table is configured to only allow appends.")
NO_SPACE = PySparkException("[TASK_WRITE_FAILED] Task failed.\nCaused by: java.io.IOException: No space left on device")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (APPEND_ONLY, 2, "refuses what this command has to write: [DELTA_CANNOT_MODIFY_APPEND_ONLY] This table"),
        (PySparkException("[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK"), 2, "Allow it, then run it again"),
        (PySparkException("java.nio.file.AccessDeniedException: s3a://b/k: 403 Forbidden"), 2, "403 Forbidden"),
        (
            PySparkException("the storage does not answer"),
            3,
            "Spark failed: the storage does not answer. Mend the cause",
        ),
        (NO_SPACE, 3, "Spark failed: no space is left on the disk"),
        (StorageError("no space"), 3, "no space"),
        (NoPageError("--url http://a/ names no page"), 5, "names no page"),
    ],
)
def test_what_spark_raises_is_a_sentence(
    error: Exception, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also between taking the lease and the batches, which report their errors themselves."""
    assert failing(error) == code
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_what_nobody_foresaw_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError())


def test_a_reader_that_closes_the_pipe_is_not_a_lost_jvm(python: str) -> None:
    """`spark-submit jobs/run.py … | head -3`."""
    code = "import sys; from dripper.spark import cli; sys.exit(cli.run_guarded(lambda: [print('told') for _ in iter(int, 1)]))"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "lib")}
    process = subprocess.Popen(
        [python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "told\n"
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 3
    assert told == "nobody reads what this command says any more; run it again for its closing counts\n"
