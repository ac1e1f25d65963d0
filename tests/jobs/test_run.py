"""`jobs/run.py` as people start it: flags, an exit code, and words a person can act on.

A process is started only if the test is about the process; otherwise the job's main is called.
"""

import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from deltalake import DeltaTable

from dripper.spark.session.session import delta_package
from dripper.spark.tables.schemas import OF_RUN
from support.job_mains import job
from support.processes import of_session
from support.warcs import pages, write_warc

ROOT = Path(__file__).parents[2]
JOB = [sys.executable, str(ROOT / "jobs" / "run.py"), "--conf", str(ROOT / "conf" / "local.yml")]
SMALL_JAVA = "-XX:TieredStopAtLevel=1"
"""For Java processes that live for seconds: the second compiler would still be warming up at the
end."""
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}

pytestmark = pytest.mark.spark


def run_job(*flags: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*JOB, *flags], capture_output=True, text=True, timeout=600, check=False, env=ENVIRONMENT | more, cwd=ROOT
    )


def call(*flags: str) -> int:
    """Return the exit code of the job's main, called in this process and its session."""
    try:
        return int(job("run").main(list(flags)))
    except SystemExit as ended:
        return int(ended.code or 0)


def rows(output: Path, *columns: str) -> list[dict[str, object]]:
    return DeltaTable(str(output / "extractions")).to_pyarrow_table(columns=list(columns) or None).to_pylist()


def by_page(output: Path) -> dict[object, dict[str, object]]:
    """The rows without the columns that differ from run to run."""
    return {row["page_id"]: {name: value for name, value in row.items() if name not in OF_RUN} for row in rows(output)}


@pytest.fixture(scope="module")
def four_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    for i in range(4):
        write_warc(folder / f"{i}.warc.gz", pages(10 * i, 5))
    return folder


@dataclass(frozen=True)
class FirstRun:
    """A run as a separate process, its output, and the mark that all its processes carry."""

    told: "subprocess.CompletedProcess[str]"
    output: Path
    mark: str


@pytest.fixture(scope="module")
def first_run(four_files: Path, tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    output = tmp_path_factory.mktemp("first") / "out"
    told = run_job("--warcs", str(four_files), "--output", str(output), "--show", "3", DRIPPER_TEST_MARK=str(output))
    return FirstRun(told, output, str(output))


def test_from_files_to_rows(first_run: FirstRun) -> None:
    told = first_run.told
    assert told.returncode == 0, told.stderr
    assert "4 files to do in 1 batch, 0 done before" in told.stderr
    assert re.search(r"4 of 4 files, 20 pages, [\d.]+ pages/s, 0 pages failed", told.stderr)
    assert "records   20 = 20 pages + 0 skipped" in told.stdout
    assert told.stdout.count("http://example.org/") == 3
    assert "SELECT url, n_main, markdown" in told.stdout


def test_no_process_is_left_behind(first_run: FirstRun) -> None:
    for _ in range(50):
        left = [p.name for p in Path("/proc").iterdir() if p.name.isdigit() and _has_mark(p.name, first_run.mark)]
        if not left:
            return
        time.sleep(0.2)
    pytest.fail(f"processes {left} outlived the job")


def _has_mark(process: str, mark: str) -> bool:
    try:
        return f"DRIPPER_TEST_MARK={mark}".encode() in Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return False


@pytest.mark.usefixtures("spark")
def test_a_second_run_finds_the_work_done(
    four_files: Path, first_run: FirstRun, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {row["page_id"]: row for row in rows(first_run.output)}
    assert call("--warcs", str(four_files), "--output", str(first_run.output)) == 0
    assert "nothing to do: all 4 files were done before" in capsys.readouterr().out
    after = rows(first_run.output)
    assert len(after) == 20
    assert {row["page_id"]: row for row in after} == before


def kill_group(process: int) -> None:
    os.killpg(process, signal.SIGKILL)


def stop_group(process: int) -> None:
    """As `kill %1`, and as schedulers that stop a process group."""
    os.killpg(process, signal.SIGTERM)


def press_ctrl_c(process: int) -> None:
    os.killpg(process, signal.SIGINT)


def stop_all(process: int) -> None:
    """As schedulers that stop a cgroup: Java and the Python workers get the signal, too."""
    for each in of_session(process):
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGTERM)


@pytest.mark.draw("signal")
@pytest.mark.parametrize("send", [kill_group, stop_group, press_ctrl_c, stop_all])
@pytest.mark.usefixtures("spark")
def test_a_job_that_is_stopped_goes_on_where_it_stopped(
    four_files: Path,
    first_run: FirstRun,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    send: Callable[[int], None],
) -> None:
    stopped = tmp_path / "stopped"
    flags = ("--set", "batch.files=1")
    process = subprocess.Popen(
        [*JOB, "--warcs", str(four_files), "--output", str(stopped), *flags, "--set", "spark.master=local[1]"],
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    assert process.stderr is not None
    n_committed, told = 0, []
    for line in process.stderr:
        told.append(line)
        n_committed += " committed" in line
        if n_committed == 2 and " committed" in line:
            send(process.pid)
            if send is kill_group:
                break
    process.stderr.close()
    code = process.wait()
    if send is not kill_group:
        assert code == 3
        assert told[-1] == "interrupted; run the same command again: only what is missing is done\n"
        # A worker that dies in a task leaves Java's own stack trace, before the driver can act.
        words = ("Traceback", *(("Error", "Exception") if send is not stop_all else ()))
        assert not [line for line in told if any(word in line for word in words)]
    if send in (stop_group, press_ctrl_c):
        assert [run["state"] for run in DeltaTable(str(stopped / "runs")).to_pyarrow_table().to_pylist()] == [
            "interrupted"
        ]
    at_stop = len(rows(stopped, "page_id"))
    assert 10 <= at_stop < 20, "the job was meant to be stopped half-way"
    assert call("--warcs", str(four_files), "--output", str(stopped), *flags) == 0
    # Batches that ended in the ten seconds before the kill may not be recorded, and are done again.
    assert re.search(r"[0-3] done before", caplog.text)
    assert by_page(stopped) == by_page(first_run.output)
    assert len(rows(stopped)) == len(by_page(stopped)) == 20


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--warcs", "/nowhere.warc", "--output", "{out}"), "/nowhere.warc"),
        (
            ("--warcs", "{in}", "--output", "{out}", "--set", "reading.page_byte=5000"),
            "did you mean reading.page_bytes?",
        ),
        (("--warcs", "{in}", "--output", "{out}", "--labeler", "cpuu"), "did you mean 'cpu'"),
        (("--warcs", "{in}", "--output", "{out}", "--conf", "{in}/none.yml"), "none.yml: No such file or directory"),
        (("--warcs", "{in}", "--output", "{out}", "--limit", "0"), "'0' is not a whole number above 0"),
        (("--warcs", "{in}"), "the following arguments are required: --output"),
    ],
)
@pytest.mark.usefixtures("spark")
def test_wrong_usage_is_one_sentence_and_exit_code_2(
    four_files: Path, tmp_path: Path, flags: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [flag.replace("{in}", str(four_files)).replace("{out}", str(tmp_path / "out")) for flag in flags]
    assert call(*asked) == 2
    assert words in capsys.readouterr().err


def test_without_java_nothing_starts(four_files: Path, tmp_path: Path) -> None:
    told = run_job("--warcs", str(four_files), "--output", str(tmp_path / "out"), JAVA_HOME=str(tmp_path))
    assert told.returncode == 2
    assert "no Java found at JAVA_HOME" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_file_that_vanished_ends_with_exit_code_4(
    four_files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list").write_text(f"{four_files}/0.warc.gz\n{four_files}/gone.warc.gz\n")
    assert call("--warcs", f"@{tmp_path}/list", "--output", str(tmp_path / "out")) == 4
    told = capsys.readouterr().out
    assert f"BAD INPUT: 1 file does not exist, {four_files}/gone.warc.gz; if that is known, say so with" in told
    assert len(rows(tmp_path / "out", "page_id")) == 5


@pytest.mark.slow
def test_spark_submit_as_on_emr_writes_the_same_rows(four_files: Path, first_run: FirstRun, tmp_path: Path) -> None:
    """conf/emr/submit.sh, unchanged, on a cluster of processes, with a Python that has the
    dependencies but not the package: workers import the package from the zip."""
    bare = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    environment = ENVIRONMENT | {"PYTHONPATH": packages, "PYSPARK_PYTHON": bare, "PYTHON": bare}
    missing = subprocess.run(
        [bare, "-c", "import lxml, dripper"], capture_output=True, text=True, env=environment, check=False
    )
    assert "No module named 'dripper'" in missing.stderr
    flags = [
        *("--master", "local-cluster[2,1,1024]", "--packages", delta_package()),
        *("--conf", "spark.jars=", "--conf", f"spark.pyspark.python={bare}", "--conf", "spark.executor.memory=1g"),
        *("--conf", "spark.executor.cores=1", "--conf", "spark.executor.memoryOverhead=0"),
        *(f"--conf=spark.{part}.extraJavaOptions={SMALL_JAVA}" for part in ("driver", "executor")),
        *("--conf", "spark.sql.codegen.wholeStage=false", "--conf", "spark.databricks.delta.snapshotPartitions=1"),
    ]
    environment["SPARK_SUBMIT_FLAGS"] = " ".join(flags)
    environment["SPARK_SUBMIT"] = str(Path(sys.executable).parent / "spark-submit")
    told = subprocess.run(
        [str(ROOT / "conf/emr/submit.sh"), "--warcs", str(four_files), "--output", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=environment,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    assert "records   20 = 20 pages + 0 skipped" in told.stdout
    assert by_page(tmp_path / "out") == by_page(first_run.output)


def test_the_zip_holds_everything_that_is_read_at_run_time(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "zipfile", "-c", str(tmp_path / "d.zip"), "dripper"], cwd=ROOT / "lib", check=True
    )
    names = zipfile.ZipFile(tmp_path / "d.zip").namelist()
    assert any(name.endswith(".npz") for name in names)
    assert "dripper/spark/log4j2.properties" in names
