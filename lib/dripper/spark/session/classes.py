"""The CDS archive (class data sharing) of Spark's and Delta's classes, for a faster start.

`make install` runs `conf/make_classes.py`, which creates the archive. The archive is used if this
program starts Java itself, for Spark on one machine. Java ignores an archive that is truncated, or
that was created for another Java version or other jars.
"""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from dripper.spark.session.local import JAVA_OPTIONS

FOLDER = Path(pyspark.__file__).parent / "dripper"
"""A folder inside the PySpark package, so that it is deleted with the environment. It contains the
CDS archive and an empty folder `conf`."""
_CONF = Path(pyspark.__file__).parent / "conf"
_DEFAULTS = "spark-defaults.conf"
_BY_OTHERS = frozenset(["SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"])
"""Environment variables through which users set Spark's location and start options."""


def is_used() -> bool:
    """Return whether a session that this program creates can use the CDS archive.

    Java accepts the archive only if the class path has the same jars as when the archive was
    created, and no folder with a user's configuration.
    """
    files = {path.name: path for path in _CONF.iterdir()} if _CONF.is_dir() else {}
    is_own = files.keys() <= {_DEFAULTS, "log4j2.properties"} and not _BY_OTHERS & os.environ.keys()
    is_told = _DEFAULTS in files and "extraClassPath" in files[_DEFAULTS].read_text(encoding="utf-8")
    return (FOLDER / "conf").is_dir() and is_own and not is_told


def options(jars: str) -> dict[str, str]:
    """Return the Spark properties that make Java use the CDS archive.

    Args:
        jars: Delta's jars, separated by commas; empty if their location is unknown.
    """
    of_java = {JAVA_OPTIONS: f"-XX:SharedArchiveFile={FOLDER / 'classes.jsa'} -Xlog:cds*=off"}
    return of_java | ({"spark.driver.extraClassPath": jars.replace(",", os.pathsep)} if jars else {})


@contextmanager
def only_jars() -> Iterator[None]:
    """Make Java start inside the context without configuration files on its class path.

    `spark-defaults.conf` still applies.
    """
    defaults, variables = _CONF / _DEFAULTS, {"SPARK_CONF_DIR": str(FOLDER / "conf")}
    if defaults.is_file():
        variables["PYSPARK_SUBMIT_ARGS"] = f"--properties-file {shlex.quote(str(defaults))} pyspark-shell"
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
