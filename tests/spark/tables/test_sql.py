"""Quoting texts for SQL, and extracting messages from exceptions."""

import pytest

from dripper.spark.tables.sql import first_line, quoted, reason


@pytest.mark.parametrize(("text", "literal"), [("a", "'a'"), ("it's", r"'it\'s'"), ("a\\b", r"'a\\b'")])
def test_sql_literals(text: str, literal: str) -> None:
    assert quoted(text) == literal


def test_first_lines() -> None:
    assert first_line(ValueError("\n one\ntwo")) == "one"
    assert first_line(KeyError()) == "KeyError"


def test_reasons_leave_out_traces_of_both_languages() -> None:
    trace = (
        "Job aborted: Lost task 0.3: org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
        '  File "worker.py", line 5, in main\n'
        "dripper.errors.MachineError: vLLM is not installed: pip install vllm\n"
        "\n\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:581)\n"
    )
    assert reason(RuntimeError(trace)) == "MachineError: vLLM is not installed: pip install vllm"
    assert reason(RuntimeError("no Error: here\nsecond")) == "RuntimeError: no Error: here"


def test_reasons_of_the_jvm_are_its_inmost_causes() -> None:
    trace = (
        "An error occurred while calling o44.save.\n: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed.\n"
        "\tat org.apache.spark.a.B(C.scala:1)\nCaused by: org.apache.spark.SparkException: Job aborted\n\tat a.b.C\n"
        "Caused by: java.nio.file.FileSystemException: /out/a.parquet: {}\n\tat a.b.C\n\t... 9 more\n"
    )
    error = RuntimeError("[TASK_WRITE_FAILED] Task failed.\n" + trace.format("Stale file handle"))
    words = "RuntimeError: [TASK_WRITE_FAILED] Task failed: FileSystemException: /out/a.parquet: Stale file handle"
    assert reason(error) == words
    read_only = reason(RuntimeError(trace.format("Read-only file system")))
    assert read_only == "the disk has become read-only (Read-only file system)"
