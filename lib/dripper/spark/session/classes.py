"""The CDS archive (class data sharing) of Spark's and Delta's classes, with which a session starts
in less time.

`conf/make_classes.py` makes it, as `make install` does. It is used if this program starts Java
itself, for Spark on one machine. Java ignores an archive that does not fit (another Java, other
jars) or was cut short.
"""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from dripper.spark.session.local import JAVA_OPTIONS

FOLDER = Path(pyspark.__file__).parent / "dripper"
"""A folder beside Spark's jars, which is deleted with their environment. It has the CDS archive and
an empty folder `conf`."""
_CONF = Path(pyspark.__file__).parent / "conf"
_DEFAULTS = "spark-defaults.conf"
_BY_OTHERS = frozenset(["SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"])
"""Environment variables by which a user sets the place of Spark and its start."""


def is_used() -> bool:
    """Return whether Java is started with the CDS archive. The class path must then have only jars,
    the same as when the archive was made, and no folder with a user's configuration."""
    files = {path.name: path for path in _CONF.iterdir()} if _CONF.is_dir() else {}
    is_own = files.keys() <= {_DEFAULTS, "log4j2.properties"} and not _BY_OTHERS & os.environ.keys()
    is_told = _DEFAULTS in files and "extraClassPath" in files[_DEFAULTS].read_text(encoding="utf-8")
    return (FOLDER / "conf").is_dir() and is_own and not is_told


def options(jars: str) -> dict[str, str]:
    """Return the properties with which Java reads the archive.

    Args:
        jars: Delta's jars, separated by commas; empty if their place is unknown.
    """
    of_java = {JAVA_OPTIONS: f"-XX:SharedArchiveFile={FOLDER / 'classes.jsa'} -Xlog:cds*=off"}
    return of_java | ({"spark.driver.extraClassPath": jars.replace(",", os.pathsep)} if jars else {})


@contextmanager
def only_jars() -> Iterator[None]:
    """Start Java with only jars on its class path; it still gets Spark's defaults."""
    defaults, variables = _CONF / _DEFAULTS, {"SPARK_CONF_DIR": str(FOLDER / "conf")}
    if defaults.is_file():
        variables["PYSPARK_SUBMIT_ARGS"] = f"--properties-file {shlex.quote(str(defaults))} pyspark-shell"
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
