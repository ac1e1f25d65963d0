"""Runs the main job on a real YARN, on one machine: conf/emr/submit.sh in client and cluster mode,
compared with the job without YARN.

    python benchmarks/yarn/run.py [--warcs tests/data/sample]

MiniYarn.java is the cluster; Maven downloads its jars once (94 MB). As on EMR, spark-defaults.conf
enables dynamic allocation and the event log. The event logs show whether these settings were in
effect, and how often YARN started the driver. The rows and the exit code of each run are compared
with those of the job without YARN. Seconds come from a single run, and consist mostly of starting
Spark and YARN. Needs the project's environment (`make install`), mvn, Java 17 or 21, and 7 GiB of
memory.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import pyspark
from deltalake import DeltaTable

from dripper.settings import SparkSettings
from dripper.spark.session.session import delta_jars

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
JARS = Path.home() / ".cache" / "dripper" / "mini-yarn"
SPARK = Path(pyspark.__file__).parent
START_SECONDS = 120
_ATTEMPT = re.compile(r"appattempt_\d+_\d+_\d+")
DEFAULTS = """\
spark.dynamicAllocation.enabled true
spark.dynamicAllocation.shuffleTracking.enabled true
spark.dynamicAllocation.maxExecutors 3
spark.eventLog.enabled true
spark.eventLog.compress false
spark.eventLog.dir file://{folder}/events
"""
YARN = """\
#!/bin/sh
# The two of Hadoop's commands that submit.sh uses.
case $1 in
    logs) shift; client=LogsCLI ;;
    *) client=ApplicationCLI ;;
esac
exec java -cp "$HADOOP_CONF_DIR:{jars}/*" "org.apache.hadoop.yarn.client.cli.$client" "$@"
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A command to run. mode: `client`, `cluster`, or "" for no YARN."""

    name: str
    mode: str
    flags: tuple[str, ...]
    output: Path


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command. `digest` covers all rows; it is None if there is no table. `drivers`
    is the number of driver starts, according to the event logs and YARN's report. `problems` lists
    settings that were not in effect, and driver output that did not reach the client."""

    code: int
    seconds: float
    rows: int
    digest: str | None
    drivers: int
    problems: tuple[str, ...]


def main() -> int:
    """Run all cases, and print a line for each. Return 1 if a case differs from the job without
    YARN."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warcs", type=Path, default=ROOT / "tests/data/sample", help="a folder of archives")
    archives = sorted(parser.parse_args().warcs.resolve().glob("*.warc.gz"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, archives)
        with yarn(folder):
            return compare(folder)


def write_inputs(folder: Path, archives: list[Path]) -> None:
    """Write a list of all archives, a list with a missing file, and a settings file. Only a driver
    that has read these settings makes more than one batch."""
    (folder / "all.list").write_text("".join(f"{file}\n" for file in archives))
    (folder / "gone.list").write_text(f"{archives[0]}\n{archives[0].parent}/gone.warc.gz\n")
    (folder / "batches.yml").write_text("batch: {files: 2}\n")


def compare(folder: Path) -> int:
    """Run every command without YARN and in both modes. Print the result of each."""
    print(f"{'case':12} {'mode':8} {'code':>4} {'seconds':>8} {'rows':>6} {'drivers':>7}  differences", flush=True)
    differs = False
    for name, flags in (
        ("good", ("--warcs", "@all.list", "--conf", "batches.yml")),
        ("wrong usage", ("--warcs", "@all.list", "--set", "nonsense=1")),
        ("file gone", ("--warcs", "@gone.list")),
    ):
        expected: Result | None = None
        for mode in ("", "client", "cluster"):
            case = Case(name, mode, flags, folder / f"out-{name.replace(' ', '-')}-{mode}")
            result = run(case, folder)
            expected = expected or result
            problems = [*result.problems, *differences(result, expected)]
            if mode == "cluster" and result.drivers != 1:
                problems.append("one driver expected")
            differs = differs or bool(problems)
            told = f"{name:12} {mode or 'no YARN':8} {result.code:4} {result.seconds:8.0f} {result.rows:6} {result.drivers:7}"
            print(f"{told}  {'; '.join(problems) or 'none'}", flush=True)
    return int(differs)


def differences(result: Result, expected: Result) -> list[str]:
    """Return the differences between `result` and the job without YARN."""
    found = []
    if result.code != expected.code:
        found.append(f"exit code {expected.code} expected")
    if result.digest != expected.digest:
        found.append(f"other rows than the {expected.rows} expected")
    return found


def run(case: Case, folder: Path) -> Result:
    """Run a case, and inspect its output, logs and event logs."""
    events = folder / "events"
    shutil.rmtree(events, ignore_errors=True)
    events.mkdir()
    job = [*case.flags, "--output", str(case.output)]
    submit = [str(ROOT / "conf/emr/submit.sh"), *job]
    alone = [sys.executable, str(ROOT / "jobs/run.py"), *job, "--conf", str(ROOT / "conf/local.yml")]
    started = time.monotonic()
    told = subprocess.run(
        submit if case.mode else alone,
        cwd=folder,
        env=os.environ | (environment(folder) | {"MODE": case.mode} if case.mode else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - started
    (folder / f"{case.output.name}.log").write_text(told.stdout + told.stderr)
    rows, digest = read(case.output / "extractions")
    problems = []
    if case.mode and digest and not allocates(events):
        problems.append("no dynamic allocation")
    if digest and f"{rows} extractions" not in told.stdout:
        problems.append("no closing counts")
    # A driver that ends before Spark starts leaves no event log, but YARN names its attempt.
    drivers = max(len(list(events.iterdir())), len(set(_ATTEMPT.findall(told.stderr))))
    return Result(told.returncode, seconds, rows, digest, drivers, tuple(problems))


def environment(folder: Path) -> dict[str, str]:
    """Return the environment variables with which submit.sh finds YARN, Spark, Delta and Python.
    Executors are small enough for two small nodes."""
    properties = {
        **delta_jars(SparkSettings()),
        "spark.pyspark.python": sys.executable,
        "spark.executor.cores": "2",
        "spark.executor.memory": "900m",
        "spark.executor.memoryOverhead": "1g",
        "spark.driver.memory": "900m",
        # Delta reads its own log with 50 tasks by default.
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    return {
        "SPARK_HOME": str(SPARK),
        "SPARK_CONF_DIR": str(folder),
        "HADOOP_CONF_DIR": str(folder / "conf"),
        "SPARK_SUBMIT": str(SPARK / "bin" / "spark-submit"),
        "YARN": str(folder / "yarn"),
        "PYTHON": sys.executable,
        "SPARK_SUBMIT_FLAGS": " ".join(f"--conf {name}={value}" for name, value in properties.items()),
    }


def read(table: Path) -> tuple[int, str | None]:
    """Return a table's number of rows, and a digest of the rows in key order."""
    if not table.is_dir():
        return 0, None
    rows = DeltaTable(table).to_pyarrow_table().sort_by("page_id").to_pylist()
    return len(rows), hashlib.sha256(json.dumps(rows, sort_keys=True, default=str).encode()).hexdigest()


def allocates(events: Path) -> bool:
    """Return whether the event log of every application shows dynamic allocation, as set in
    spark-defaults.conf."""
    logs = [log.read_text() for log in events.glob("*/events_1_*")]
    return bool(logs) and all('"spark.dynamicAllocation.enabled":"true"' in log for log in logs)


@contextmanager
def yarn(folder: Path, nodes: int = 2, properties: Mapping[str, str] | None = None) -> Iterator[None]:
    """Run a YARN cluster during the `with` block. Its configuration, programs and logs are in
    `folder`.

    Args:
        properties: Properties of the cluster. MiniYarn.java may override them.
    """
    if not JARS.is_dir():
        fetch = ["mvn", "-q", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies", f"-DoutputDirectory={JARS}"]
        subprocess.run(fetch, check=True)
    (folder / "spark-defaults.conf").write_text(DEFAULTS.format(folder=folder))
    (folder / "yarn").write_text(YARN.format(jars=JARS))
    (folder / "yarn").chmod(0o755)
    write_cluster(folder / "cluster.xml", properties or {})
    opens = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "util")]
    command = ["java", "-Xmx700m", *opens, "-cp", f"{JARS}/*", str(HERE / "MiniYarn.java"), str(folder), str(nodes)]
    with (
        (folder / "yarn.log").open("w") as log,
        subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=log, stderr=log) as cluster,
    ):
        try:
            wait_until_up(cluster, folder / "yarn.log")
            yield
        finally:
            # The cluster ends when its standard input is closed, and ends all processes it has
            # started.
            assert cluster.stdin
            cluster.stdin.close()


def write_cluster(file: Path, properties: Mapping[str, str]) -> None:
    """Write properties as a Hadoop XML configuration file."""
    written = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in properties.items()
    )
    file.write_text(f"<configuration>\n{written}</configuration>\n")


def wait_until_up(cluster: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until the cluster accepts applications. If it does not start, exit with the end of its
    log."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and cluster.poll() is None:
        if "\nUP\n" in f"\n{log.read_text()}":
            return
        time.sleep(0.5)
    sys.exit(f"YARN did not start: {log.read_text()[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
