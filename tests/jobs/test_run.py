"""`jobs/run.py` as people start it: a process with flags, an exit code, and words a person can act on."""

import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from deltalake import DeltaTable

from support.warcs import pages, write_warc

ROOT = Path(__file__).parents[2]
JOB = [sys.executable, str(ROOT / "jobs" / "run.py"), "--conf", str(ROOT / "conf" / "local.yml")]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def run_job(*flags: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*JOB, *flags], capture_output=True, text=True, timeout=600, check=False, env=ENVIRONMENT | more, cwd=ROOT
    )


def rows(output: Path, *columns: str) -> list[dict[str, object]]:
    return DeltaTable(str(output / "extractions")).to_pyarrow_table(columns=list(columns) or None).to_pylist()


@pytest.fixture
def four_files(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(4):
        write_warc(folder / f"{i}.warc.gz", pages(10 * i, 5))
    return folder


def test_from_files_to_rows_and_again(four_files: Path, tmp_path: Path) -> None:
    flags = ("--warcs", str(four_files), "--output", str(tmp_path / "out"), "--show", "3")
    first = run_job(*flags)
    assert first.returncode == 0, first.stderr
    assert "4 files to do in 1 batches, 0 done before" in first.stderr
    assert re.search(r"4 of 4 files, 20 pages, [\d.]+ pages/s, 0 pages failed", first.stderr)
    assert "records   20 = 20 pages + 0 skipped" in first.stdout
    assert first.stdout.count("http://example.org/") == 3
    assert "SELECT url, n_main, markdown" in first.stdout
    second = run_job(*flags)
    assert second.returncode == 0
    assert "nothing to do: all 4 files were done before" in second.stdout
    assert len(rows(tmp_path / "out", "page_id")) == 20


def test_a_killed_job_goes_on_where_it_stopped(four_files: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    flags = ("--set", "batch.files=1", "--set", "batch.in_flight=1", "--set", "spark.master=local[1]")
    assert run_job("--warcs", str(four_files), "--output", str(whole), *flags).returncode == 0
    process = subprocess.Popen(
        [*JOB, "--warcs", str(four_files), "--output", str(killed), *flags],
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "batch 2 committed" in line:
            os.killpg(process.pid, signal.SIGKILL)
            break
    process.stderr.close()
    process.wait()
    at_kill = len(rows(killed, "page_id"))
    assert 10 <= at_kill < 20, "the job was meant to be killed half-way"
    again = run_job("--warcs", str(four_files), "--output", str(killed), *flags)
    assert again.returncode == 0, again.stderr
    assert "done before" in again.stderr
    by_page = {row["page_id"]: row for row in rows(whole)}
    assert {row["page_id"]: row for row in rows(killed)} == by_page
    assert len(rows(killed)) == len(by_page) == 20


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
def test_wrong_usage_is_one_sentence_and_exit_code_2(
    four_files: Path, tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    told = run_job(*(flag.replace("{in}", str(four_files)).replace("{out}", str(tmp_path / "out")) for flag in flags))
    assert told.returncode == 2
    assert words in told.stderr
    assert "Traceback" not in told.stderr


def test_without_java_nothing_starts(four_files: Path, tmp_path: Path) -> None:
    told = run_job("--warcs", str(four_files), "--output", str(tmp_path / "out"), JAVA_HOME=str(tmp_path))
    assert told.returncode == 2
    assert "no Java found at JAVA_HOME" in told.stderr


def test_a_file_that_vanished_ends_with_exit_code_3(four_files: Path, tmp_path: Path) -> None:
    (four_files / "list").write_text("0.warc.gz\ngone.warc.gz\n")
    told = run_job("--warcs", f"@{four_files}/list", "--output", str(tmp_path / "out"))
    assert told.returncode == 3
    assert "NOT DONE: 1 files could not be read to their end" in told.stdout
    assert "run the same command again" in told.stdout
    assert len(rows(tmp_path / "out", "page_id")) == 5


def test_a_cluster_of_processes_writes_the_same_rows(four_files: Path, tmp_path: Path) -> None:
    flags = ("--warcs", str(four_files), "--output")
    assert run_job(*flags, str(tmp_path / "local")).returncode == 0
    told = run_job(*flags, str(tmp_path / "cluster"), "--set", "spark.master=local-cluster[2,1,1024]")
    assert told.returncode == 0, told.stderr
    local, cluster = ({row["page_id"]: row for row in rows(tmp_path / name)} for name in ("local", "cluster"))
    assert local == cluster


def test_spark_submit_as_on_emr(four_files: Path, tmp_path: Path) -> None:
    """conf/emr/submit.sh as it stands, on a local cluster, with a Python that has the dependencies but not the package:
    what the workers import comes out of the zip."""
    bare = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    environment = ENVIRONMENT | {"PYTHONPATH": packages, "PYSPARK_PYTHON": bare, "PYTHON": bare}
    missing = subprocess.run(
        [bare, "-c", "import lxml, dripper"], capture_output=True, text=True, env=environment, check=False
    )
    assert "No module named 'dripper'" in missing.stderr
    flags = [
        *("--master", "local-cluster[1,1,1024]", "--packages", "io.delta:delta-spark_2.13:4.0.1"),
        *("--conf", "spark.jars=", "--conf", f"spark.pyspark.python={bare}", "--conf", "spark.executor.memory=1g"),
        *("--conf", "spark.executor.cores=1", "--conf", "spark.executor.memoryOverhead=0"),
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


def test_the_zip_holds_everything_that_is_read_at_run_time(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "zipfile", "-c", str(tmp_path / "d.zip"), "dripper"], cwd=ROOT / "lib", check=True
    )
    names = zipfile.ZipFile(tmp_path / "d.zip").namelist()
    assert any(name.endswith(".npz") for name in names)
    assert "dripper/spark/log4j2.properties" in names


def test_no_process_is_left_behind(four_files: Path, tmp_path: Path) -> None:
    told = run_job("--warcs", str(four_files), "--output", str(tmp_path / "out"), DRIPPER_TEST_MARK=str(tmp_path))
    assert told.returncode == 0
    for _ in range(50):
        left = [p.name for p in Path("/proc").iterdir() if p.name.isdigit() and _has_mark(p.name, str(tmp_path))]
        if not left:
            return
        time.sleep(0.2)
    pytest.fail(f"processes {left} outlived the job")


def _has_mark(process: str, mark: str) -> bool:
    try:
        return f"DRIPPER_TEST_MARK={mark}".encode() in Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return False
