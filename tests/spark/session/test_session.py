"""The session: a clear sentence for every machine that lacks something."""

import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from dripper.errors import MachineError
from dripper.settings import SparkSettings
from dripper.spark.session import session
from support.processes import of_session, require_proc, wait_for


@pytest.mark.spark
def test_a_caller_gets_the_settings_of_the_session_back(spark: SparkSession) -> None:
    mine = {"spark.sql.session.timeZone": "Asia/Kathmandu", "mine": "1"}
    before = dict(spark.conf.getAll)
    try:
        for key, value in mine.items():
            spark.conf.set(key, value)
        with session.settings_restored():
            for key in (*mine, "spark.sql.files.maxRecordsPerFile"):
                spark.conf.set(key, "7" if "Records" in key else "UTC")
        assert dict(spark.conf.getAll) == before | mine
    finally:
        spark.conf.unset("mine")
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.spark
def test_java_leaves_the_signals_that_stop_a_run_to_python(spark: SparkSession) -> None:
    status = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/status").read_text()
    ignored = int(next(line for line in status.splitlines() if line.startswith("SigIgn"))[7:], 16)
    assert all(ignored & 1 << number - 1 for number in (signal.SIGINT, signal.SIGTERM))


def test_each_logger_that_is_made_quiet_exists_in_spark() -> None:
    """Spark moves classes: then the logger's new name would be as loud as before."""
    text = (Path(session.__file__).parents[1] / "log4j2.properties").read_text(encoding="utf-8")
    quiet = re.findall(r"^logger\.\w+\.name = (org\.apache\.spark\.(?!sql\.delta\.).+)$", text, re.MULTILINE)
    classes = {
        name.removesuffix(".class").replace("/", ".")
        for jar in Path(pyspark.__file__).parent.glob("jars/spark-*.jar")
        for name in zipfile.ZipFile(jar).namelist()
    }
    assert quiet
    assert {name.rpartition(".")[2] for name in quiet} == {name.rpartition(".")[2] for name in quiet if name in classes}


def fake_java(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return folder


OPENING = """
import sys
from dripper.settings import SparkSettings
from dripper.spark.cli import run_guarded
from dripper.spark.session.session import open_session
sys.exit(run_guarded(lambda: open_session(SparkSettings()) and 0))
"""


def test_a_signal_while_java_starts_leaves_no_process(tmp_path: Path) -> None:
    """PySpark waits for Java's port, which the script in Java's place never writes."""
    require_proc()
    started, home = tmp_path / "started", tmp_path / "spark"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "spark-submit"
    script.write_text(f"#!/bin/sh\ntouch {started}\nexec sleep 100\n")
    script.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    environment |= {"SPARK_HOME": str(home), "JAVA_HOME": str(fake_java(tmp_path / "jdk", "17.0.1"))}
    with (tmp_path / "told").open("w+") as told:
        process = subprocess.Popen(
            [sys.executable, "-c", OPENING], env=environment, stderr=told, start_new_session=True
        )
        assert wait_for(started.exists, 60)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 3
        told.seek(0)
        assert told.read() == "interrupted; run the same command again: only what is missing is done\n"
    is_empty = wait_for(lambda: not of_session(process.pid), 5)
    for each in of_session(process.pid):
        os.kill(each, signal.SIGKILL)
    assert is_empty


@pytest.fixture
def not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "is_given", lambda: False)


@pytest.mark.usefixtures("not_given")
def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="no Java found: install Java 17 or 21"):
        session.open_session(SparkSettings())


@pytest.mark.usefixtures("not_given")
@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_292", "25"])
def test_wrong_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", version)))
    with pytest.raises(MachineError, match=rf"is Java {version.split('.')[0]}: install Java 17 or 21"):
        session.open_session(SparkSettings())


@pytest.mark.usefixtures("not_given")
@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "no \\*.jar in that folder"),
        (["other.jar"], "no delta-spark jar among other.jar"),
        (["delta-spark_2.13-4.0.1.jar"], "no delta-storage jar"),
    ],
)
def test_jars_on_disk_that_are_not_delta(tmp_path: Path, names: list[str], words: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(MachineError, match=words):
        session.open_session(SparkSettings(jars=str(tmp_path)))


@pytest.mark.usefixtures("not_given")
def test_jars_that_are_not_there() -> None:
    with pytest.raises(MachineError, match=r"no such file /nowhere/delta\.jar"):
        session.open_session(SparkSettings(jars="/nowhere/delta.jar"))


def test_jars_of_an_earlier_run_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    package = "io.delta:delta-spark_2.13:4.0.1"
    monkeypatch.setattr(session, "delta_package", lambda: package)
    settings = SparkSettings()
    assert session.delta_jars(settings) == {"spark.jars.packages": package}
    folder = tmp_path / ".ivy2.5.2" / "jars"
    folder.mkdir(parents=True)
    for name in ("io.delta_delta-spark_2.13-4.0.1", "io.delta_delta-storage-4.0.1", "org.antlr_antlr4-runtime-4.13.1"):
        (folder / f"{name}.jar").touch()
    jars = session.delta_jars(settings)
    assert jars["spark.jars"].count(".jar") == 3
    assert jars["spark.jars.packages"] == ""


@pytest.mark.parametrize(
    ("spark_version", "package"),
    [
        ("4.0.5", "io.delta:delta-spark_2.13:4.0.1"),
        ("4.1.4", "io.delta:delta-spark_4.1_2.13:4.4.0"),
        ("4.2.0", "io.delta:delta-spark_4.2_2.13:4.4.0"),
    ],
)
def test_delta_fits_the_spark_that_runs(monkeypatch: pytest.MonkeyPatch, spark_version: str, package: str) -> None:
    monkeypatch.setattr(session.pyspark, "__version__", spark_version)
    assert session.delta_package() == session.delta_package(spark_version) == package


@pytest.mark.spark
def test_a_session_reads_and_writes_delta(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path / "t"))
    assert spark.read.format("delta").load(str(tmp_path / "t")).count() == 3


@pytest.mark.spark
def test_a_table_that_is_not_there_prints_no_stack(spark: SparkSession) -> None:
    """From the second run of a session, Spark's query listeners ask for metrics even of failed
    queries."""
    java = spark._jvm
    assert java is not None
    asking = java.java.lang.Class.forName("org.apache.spark.sql.util.ExecutionListenerBus")
    assert not java.org.apache.logging.log4j.LogManager.getLogger(asking).isFatalEnabled()


def test_an_executor_that_lacks_something_is_named_before_any_work(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.require_workers(spark, "dripper.no_such_module")  # Local: workers are of the driver's Python.
    monkeypatch.setattr(session, "is_local", lambda properties: False)
    session.require_workers(spark)
    words = rf"cannot run this job, its Python 3\.\d+\.\d+ at {sys.executable}: No module named 'dripper.no_such_module'. Every"
    with pytest.raises(MachineError, match=words):
        session.require_workers(spark, "dripper.no_such_module")
    monkeypatch.setattr(session.dripper, "__version__", "0.0.7")
    with pytest.raises(MachineError, match=r"and the driver has 0\.0\.7"):
        session.require_workers(spark)
