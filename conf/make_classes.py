"""Makes the CDS archive of Spark's and Delta's classes (`dripper.spark.session.classes`), with
which Spark starts faster.

This takes one to three minutes, and the archive has 200 MB. `make install` runs this program. In
other environments, run it with the Python that runs the jobs.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from dripper.settings import SparkSettings
from dripper.spark.session import classes
from dripper.spark.session.local import JAVA_OPTIONS
from dripper.spark.session.session import open_session
from dripper.spark.tables.books import among
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables


def main() -> int:
    """Make the archive, and replace an existing one. Return 0."""
    folder = classes.FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "conf").mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        loaded, made = Path(scratch, "loaded"), Path(scratch, "made")
        java, class_path = load(loaded)
        names = f"-XX:SharedClassListFile={loaded}", f"-XX:SharedArchiveFile={made}"
        subprocess.run([java, "-Xshare:dump", "-Xlog:disable", *names, "-cp", class_path], check=True)
        # Move the finished archive, so that a truncated one is never used.
        made.replace(folder / "classes.jsa")
    return 0


def load(loaded: Path) -> tuple[str, str]:
    """Use a session as a run does, and write the names of the loaded classes into the file
    `loaded`.

    Return the path of the Java program and its class path.
    """
    properties = {JAVA_OPTIONS: f"-XX:DumpLoadedClassList={loaded}"}
    spark = open_session(SparkSettings(master="local[1]", properties=properties))
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    system = gateway.jvm.java.lang.System
    java, class_path = Path(system.getProperty("java.home"), "bin", "java"), system.getProperty("java.class.path")
    work(spark, str(loaded.parent / "output"))
    spark.stop()
    # Java has written all names only when it has ended.
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    return str(java), class_path


def work(spark: SparkSession, output: str) -> None:
    """Perform the operations of a run: create tables, and write, replace, read and count rows."""
    tables = Tables(spark, output)
    books, row = SparkBooks(spark, tables), {"run_id": "", "epoch": 1, "state": "running"}
    for table in ("runs", "extractions"):
        tables.create(table)
    books.append("runs", [row], ("", 1))
    books.replace("runs", [row], among("run_id", [""]))
    books.read("runs")
    spark.range(1).mapInArrow(lambda batches: batches, "id long").collect()
    books.count_batches("extractions")


if __name__ == "__main__":
    sys.exit(main())
