"""The Spark session: an existing one (Databricks, spark-submit), or a new one with Delta."""

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib.resources import files
from pathlib import Path
from traceback import walk_tb
from typing import Any

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

import dripper
from dripper.errors import MachineError
from dripper.settings import SparkSettings
from dripper.spark.session import classes
from dripper.spark.session.capacity import context_of, is_local, properties
from dripper.spark.session.local import JAVA_OPTIONS, LOCAL, adapt_to_one_machine
from dripper.spark.tables.sql import first_line

_SUPPORTED_JAVA = ("17", "21")
_LEAN = {
    # With every commit, Delta stores the list of the table's files. It computes the list with a
    # query and never uses it (4.0 to 4.4).
    "spark.databricks.delta.allFilesInCrc.enabled": "false",
}
_QUIET = {JAVA_OPTIONS: f"-Dlog4j2.configurationFile={files('dripper.spark') / 'log4j2.properties'}"}
"""Java option for Spark's logging. By default, Spark logs a dozen warnings that nobody can act
on."""
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_ALWAYS = {
    # Timestamps must not depend on the time zone of the job's machine.
    "spark.sql.session.timeZone": "UTC",
    # Print the line of Python code at which a worker hangs or crashes.
    "spark.python.worker.faulthandler.enabled": "true",
    # Maximum number of rows in a worker's input batch. A page has up to 32 MiB, so with the default
    # of 10,000 rows, a string column could overflow its 2 GiB.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "32",
}


def open_session(settings: SparkSettings, app_name: str = "dripper") -> SparkSession:
    """Return a session that can read and write Delta.

    Under spark-submit or on Databricks, the running session is used and must include Delta. A
    session that spark-submit has started on this machine is adapted to a single machine
    (`dripper.spark.session.local`). Otherwise, a session is created, and Delta's jars come from
    `settings.jars`, from an earlier download, or from Maven Central. Raises MachineError, with
    advice, if there is no suitable Java, no Spark or no Delta.
    """
    builder = SparkSession.builder.appName(app_name)
    submitted, with_archive = _is_submitted(), False
    if submitted:
        # A session with Delta for another Spark version fails when its settings are read (Spark
        # 4.0). Detect this case first. A session without Delta may still get Delta from its
        # settings, so that case is checked at the end.
        SparkContext._ensure_initialized()
        _require_delta(pyspark.__version__, dict(SparkConf().getAll()) | _DELTA)
    properties = dict(_ALWAYS)
    if makes_one := not is_given():
        _require_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        master = settings.master or os.environ.get("MASTER") or "local[*,4]"
        builder = builder.master(master)
        properties |= (LOCAL if master.startswith("local") else {}) | _LEAN | _DELTA | delta_jars(settings)
        with_archive = master.startswith("local") and classes.is_used()
        options = classes.options(properties.get("spark.jars", "")) if with_archive else {}
        properties = _merge_properties(properties, _QUIET, options)
    builder = builder.config(map={**_merge_properties(properties, settings.properties)})
    # PySpark logs the whole JVM stack trace of every failed analysis, even if this program expects
    # and handles the failure.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    try:
        with classes.only_jars() if with_archive else nullcontext():
            spark = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise MachineError(
            "Spark did not start; its own words are above. Most often Delta's jars could not be fetched: without a network, "
            f"put the jars of {delta_package()} into a folder and pass --set spark.jars=FOLDER ({first_line(error)})"
        ) from None
    except KeyboardInterrupt as interrupt:
        _end_java(interrupt)
        raise
    if makes_one:
        _leave_signals_to_python(spark)
    if submitted:
        _quieten(spark)
        adapt_to_one_machine(spark)
    _require_delta(spark.version, dict(spark.conf.getAll))
    return spark


def _end_java(interrupt: KeyboardInterrupt) -> None:
    """Kill the Java process that PySpark was starting when it was interrupted.

    After an interrupt, PySpark removes the folder in which Java would write its port. Java fails to
    write the port, and waits forever for calls, even after Python has ended (Spark 4.2).
    """
    for frame, _ in walk_tb(interrupt.__traceback__):
        for process in frame.f_locals.values():
            if isinstance(process, subprocess.Popen) and process.pid:
                process.kill()


def _leave_signals_to_python(spark: SparkSession) -> None:
    """Make Java ignore SIGTERM, as PySpark already makes it ignore Ctrl-C.

    A scheduler that stops a run signals all of its processes. Java must survive the signal, so that
    the run can record its last batches and its end. Java exits when this process does.
    """
    if (context := context_of(spark)) is not None:
        misc = context._jvm.sun.misc
        misc.Signal.handle(misc.Signal("TERM"), misc.SignalHandler.SIG_IGN)
        # If Java is lost, the job's last line says so. PySpark's tracebacks add nothing.
        context._accumulatorServer.handle_error = lambda *_: None


def drop_connection() -> None:
    """Make this thread call Java over a new connection.

    The connection of an interrupted call stays busy. On the same connection, the next call would
    get the answer to the interrupted call.
    """
    client: Any = getattr(SparkContext._gateway, "_gateway_client", None)
    if hasattr(client, "thread_connection"):
        vars(client.thread_connection).pop("connection", None)


@contextmanager
def settings_restored() -> Iterator[None]:
    """Restore the settings of the caller's session, if any, when the context ends."""
    session = SparkSession.getActiveSession()
    before = dict(session.conf.getAll) if session is not None else {}
    try:
        yield
    finally:
        if session is not None:
            _restore(session, before)


def _restore(session: SparkSession, before: Mapping[str, str]) -> None:
    for key, value in dict(session.conf.getAll).items():
        with suppress(PySparkException):
            if key not in before:
                session.conf.unset(key)
            elif before[key] != value:
                session.conf.set(key, before[key])


def is_given() -> bool:
    """Return whether something other than this program manages the session.

    Examples are spark-submit, a notebook, Databricks and a Connect server.
    """
    variables = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "DATABRICKS_RUNTIME_VERSION")
    return any(name in os.environ for name in variables) or SparkSession.getActiveSession() is not None


def _quieten(spark: SparkSession) -> None:
    """Make Spark log only warnings, unless a user has configured logging.

    Otherwise, a thousand lines from Spark would hide the job's own.
    """
    home = os.environ.get("SPARK_HOME", str(Path(pyspark.__file__).parent))
    has_file = Path(os.environ.get("SPARK_CONF_DIR", f"{home}/conf"), "log4j2.properties").exists()
    chosen = "spark.log.level" in spark.conf.getAll or "log4j" in str(spark.conf.get(JAVA_OPTIONS, ""))
    if not (has_file or chosen) and (context := context_of(spark)) is not None:
        context.setLogLevel("WARN")


def _is_submitted() -> bool:
    """Return whether spark-submit runs this program and no session exists yet."""
    by_submit = "PYSPARK_GATEWAY_PORT" in os.environ and "DATABRICKS_RUNTIME_VERSION" not in os.environ
    return by_submit and SparkSession.getActiveSession() is None


def require_workers(spark: SparkSession, module: str = "dripper.spark.workers.read") -> None:
    """Raise MachineError if an executor cannot import the module that its tasks need.

    The check runs a single task. Without the check, every task of every batch would fail, one after
    another. Nothing is checked in local mode, because workers use the driver's Python, or with
    Spark Connect, because they use the platform's Python.

    Args:
        module: The module that the executor imports.
    """
    if is_local(properties(spark)) or (context := context_of(spark)) is None:
        return
    try:
        host, python, lacks, its_version = context.parallelize([module], 1).map(_probe()).collect()[0]
    except Exception as error:
        if not (words := _NO_PYTHON.search(str(error))):
            raise
        raise MachineError(f"the executors' Python does not start: {words[0].strip()}. {_SHIP}") from None
    if lacks:
        raise MachineError(f"the executor on {host} cannot run this job, its {python}: {lacks}. {_SHIP}")
    if its_version != dripper.__version__:
        raise MachineError(
            f"the executor on {host} has dripper {its_version} in its {python}, and the driver has {dripper.__version__}. {_SHIP}"
        )


_NO_PYTHON = re.compile(r"Cannot run program[^\n]*|\[PYTHON_VERSION_MISMATCH\][^\n]*")
_SHIP = "Every executor needs the driver's environment: docs/shipping.md says how it gets there"


def _probe() -> Callable[[str], tuple[str, str, str, str]]:
    """Return a function that checks a worker, and that a worker without this package can run.

    The function is nested, because Spark pickles nested functions by value but others by name.
    """

    def probe(module: str) -> tuple[str, str, str, str]:
        import importlib
        import platform
        import socket
        import sys

        python, lacks, version = f"Python {platform.python_version()} at {sys.executable}", "", ""
        try:
            importlib.import_module(module)
            version = importlib.import_module("dripper").__version__
        except Exception as error:
            lacks = str(error) or type(error).__name__
        return socket.gethostname(), python, lacks, version

    return probe


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    words = f"install Java {' or '.join(_SUPPORTED_JAVA)} (a JRE is enough) and set JAVA_HOME or PATH"
    if not java or not Path(java).exists():
        raise MachineError(f"no Java found{f' at JAVA_HOME={home}' if home else ''}: {words}")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "(\d+)', answer)
    if not match or match[1] not in _SUPPORTED_JAVA:
        raise MachineError(f"{java} is Java {match[1] if match else 'of an unknown version'}: {words}")


def _merge_properties(*layers: dict[str, str]) -> dict[str, str]:
    """Merge the properties. Later layers take precedence, but Java options are joined."""
    options = " ".join(filter(None, (layer.get(JAVA_OPTIONS) for layer in layers)))
    return {k: v for layer in layers for k, v in layer.items()} | ({JAVA_OPTIONS: options} if options else {})


def delta_jars(settings: SparkSettings) -> dict[str, str]:
    """Return the properties that add Delta to a session.

    Delta's jars come from `settings.jars`, from an earlier download, or from Maven Central.
    """
    if settings.jars:
        return {"spark.jars": ",".join(_list_jars(settings.jars))}
    package = delta_package()
    fetched = _find_fetched_jars(package)
    if fetched:
        return {"spark.jars": ",".join(fetched), "spark.jars.packages": ""}
    return {"spark.jars.packages": package}


def delta_package(spark_version: str | None = None) -> str:
    """Return the Maven coordinates of the newest Delta for a Spark version, by default PySpark's.

    Since Delta 4.1, each Spark version has its own build, with the Spark version in the artifact's
    name (delta/pip_utils.py). For Spark 4.0, the result is the last Delta that was built only for
    Spark 4.0.

    >>> delta_package("4.2.0"), delta_package("4.0.5")
    ('io.delta:delta-spark_4.2_2.13:4.4.0', 'io.delta:delta-spark_2.13:4.0.1')
    """
    spark = ".".join((spark_version or pyspark.__version__).split(".")[:2])
    return "io.delta:delta-spark_2.13:4.0.1" if spark == "4.0" else f"io.delta:delta-spark_{spark}_2.13:4.4.0"


def _list_jars(jars: str) -> list[str]:
    paths = (
        sorted(map(str, Path(jars).glob("*.jar"))) if Path(jars).is_dir() else [jar.strip() for jar in jars.split(",")]
    )
    missing = [jar for jar in paths if not Path(jar).is_file()]
    if missing or not paths:
        raise MachineError(
            f"setting spark.jars={jars}: {f'no such file {missing[0]}' if missing else 'no *.jar in that folder'}"
        )
    for part in ("delta-spark", "delta-storage"):
        if not any(part in Path(jar).name for jar in paths):
            raise MachineError(
                f"setting spark.jars={jars}: no {part} jar among {', '.join(Path(jar).name for jar in paths)}"
            )
    return paths


def _find_fetched_jars(package: str) -> list[str]:
    """Return the Delta jars that Ivy downloaded in an earlier run; none if some are missing.

    Running Ivy again would cost 2 s and 20 log lines.
    """
    group, artifact, version = package.split(":")
    for folder in sorted(Path.home().glob(".ivy2*/jars"), reverse=True):
        needed = [folder / f"{group}_{artifact}-{version}.jar", folder / f"io.delta_delta-storage-{version}.jar"]
        # Delta 4.3 has two more jars.
        needed += sorted(folder.glob(f"io.delta_delta-kernel-*-{version}.jar"))
        parsers = sorted(folder.glob("org.antlr_antlr4-runtime-*.jar"))
        if all(jar.is_file() for jar in needed) and parsers:
            return [str(jar) for jar in (*needed, parsers[-1])]
    return []


def _require_delta(version: str, conf: Mapping[str, str]) -> None:
    is_databricks = "DATABRICKS_RUNTIME_VERSION" in os.environ
    if not is_databricks and (fault := find_delta_fault(version, conf)):
        flags = " ".join(f"--conf {key}={value}" for key, value in _DELTA.items())
        raise MachineError(
            f"this Spark session has {fault}. Start the job with: spark-submit --packages {delta_package(version)} {flags} …"
        )


def find_delta_fault(version: str, conf: Mapping[str, str]) -> str:
    """Say why a session cannot use Delta: it has none, or Delta for another Spark. Return "" if it
    can.

    >>> find_delta_fault("4.1.4", {"spark.jars.packages": "io.delta:delta-spark_4.2_2.13:4.4.0"})
    'Delta for Spark 4.2, and is Spark 4.1.4'
    """
    built_for = re.search(r"delta-spark_(\d+\.\d+)_", f"{conf.get('spark.jars.packages')} {conf.get('spark.jars')}")
    if built_for and not version.startswith(f"{built_for[1]}."):
        return f"Delta for Spark {built_for[1]}, and is Spark {version}"
    return "" if "delta" in conf.get("spark.sql.extensions", "").lower() else "no Delta"
