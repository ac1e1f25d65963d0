"""The CDS archive: when it is used, and that only time depends on it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dripper.spark.session import classes
from dripper.spark.session.local import JAVA_OPTIONS

ROOT = Path(__file__).parents[3]
IN_FOLDER = """
import runpy, sys
from pathlib import Path
from dripper.settings import SparkSettings
from dripper.spark.session import classes, session
classes.FOLDER = Path(sys.argv[1])
"""
A_SESSION = """
properties = {"spark.driver.extraJavaOptions": f"-Xlog:class+load:file={sys.argv[2]}"}
spark = session.open_session(SparkSettings(master="local[1]", properties=properties))
assert spark.range(3).count() == 3
"""


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Folders of an archive and of Spark's configuration, without any settings."""
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)
    folder, conf = tmp_path / "dripper", tmp_path / "conf"
    (folder / "conf").mkdir(parents=True)
    conf.mkdir()
    monkeypatch.setattr(classes, "FOLDER", folder)
    monkeypatch.setattr(classes, "_CONF", conf)
    return folder, conf


def test_without_an_archive_none_is_used(folders: tuple[Path, Path]) -> None:
    (folders[0] / "conf").rmdir()
    assert not classes.is_used()


def test_java_gets_spark_defaults_and_no_folder_with_files(folders: tuple[Path, Path]) -> None:
    folder, conf = folders
    (conf / "log4j2.properties").touch()
    (conf / "spark-defaults.conf").write_text("spark.ui.enabled false\n")
    assert classes.options("a.jar,b.jar")["spark.driver.extraClassPath"] == "a.jar:b.jar"
    assert str(folder / "classes.jsa") in classes.options("")[JAVA_OPTIONS]
    before = dict(os.environ)
    with classes.only_jars():
        assert os.environ["SPARK_CONF_DIR"] == str(folder / "conf")
        assert os.environ["PYSPARK_SUBMIT_ARGS"] == f"--properties-file {conf / 'spark-defaults.conf'} pyspark-shell"
    assert dict(os.environ) == before


def test_what_somebody_configured_stays(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    conf = folders[1]
    assert classes.is_used()
    (conf / "hive-site.xml").touch()
    assert not classes.is_used()
    (conf / "hive-site.xml").unlink()
    (conf / "spark-defaults.conf").write_text("spark.driver.extraClassPath /opt/jdbc.jar\n")
    assert not classes.is_used()
    (conf / "spark-defaults.conf").unlink()
    monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")
    assert not classes.is_used()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an archive that was made."""
    folder = tmp_path_factory.mktemp("archive") / "dripper"
    run("runpy.run_path('conf/make_classes.py', run_name='__main__')", folder)
    (folder / "classes.jsa").rename(folder / "whole")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("share", [1, 0.5, 0], ids=["whole", "cut", "empty"])
def test_java_reads_a_whole_archive_or_goes_without(tmp_path: Path, made: Path, share: float) -> None:
    archive, loaded = made / "classes.jsa", tmp_path / "loaded"
    # A new file each time, because the previous Java process may still run.
    part = tmp_path / "part"
    part.write_bytes((made / "whole").read_bytes()[: int((made / "whole").stat().st_size * share)])
    part.replace(archive)
    run(A_SESSION, made, loaded)
    of_spark = next(line for line in loaded.read_text().splitlines() if " org.apache.spark.SparkContext " in line)
    assert ("shared objects file" in of_spark) == (share == 1)


def run(code: str, *arguments: Path) -> None:
    """Run code in a separate process, with the archive in the folder of the first argument."""
    subprocess.run([sys.executable, "-c", IN_FOLDER + code, *map(str, arguments)], check=True, cwd=ROOT)
