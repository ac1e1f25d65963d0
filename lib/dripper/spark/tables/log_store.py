"""Rejects storage on which two drivers could overwrite each other's commits.

A run's lease does not help there, because a run takes the lease with a commit, too.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress

from pyspark.sql import SparkSession

from dripper.errors import SettingsError
from dripper.spark.tables.store import Tables

_S3 = re.compile(r"(s3a?|s3n)://", re.IGNORECASE)
_SAFE = "S3DynamoDBLogStore"
"""Delta's log store for several writers. A DynamoDB table assigns each commit to one writer. Delta
4.0 to 4.4 has no other such store, and none that uses S3's conditional writes."""
_PACKAGE = "io.delta:delta-storage-s3-dynamodb"


def require_log_store(spark: SparkSession, tables: Tables, single_writer: bool) -> None:
    """Raise SettingsError if two drivers could overwrite each other's commits to these tables.

    Args:
        single_writer: Whether the user guarantees that there is only one writer.
    """
    if single_writer or "DATABRICKS_RUNTIME_VERSION" in os.environ:
        return

    def conf_get(key: str) -> str | None:
        # Other vendors' sessions reject unknown names, with various exception types.
        with suppress(Exception):
            return spark.conf.get(key, None)
        return None

    if problem := log_store_problem(tables.location(), conf_get):
        raise SettingsError(problem)


def log_store_problem(location: str, conf_get: Callable[[str], str | None]) -> str | None:
    """Return a message if settings for safe writes to `location` are missing; otherwise None.

    Args:
        location: The folder or prefix of the tables.
        conf_get: Returns a Spark property; None if it is not set.

    >>> log_store_problem("/data/out", {}.get)
    >>> print(log_store_problem("s3a://b/out", {}.get)[:48])
    s3a://b/out: Delta alone cannot keep two writers
    """
    match = _S3.match(location)
    if not match or _on_databricks(conf_get):
        return None
    scheme = match[1].lower()
    keys = (f"spark.delta.logStore.{scheme}.impl", "spark.delta.logStore.class")
    if any(_SAFE in (conf_get(key) or "") for key in keys):
        return None
    return (
        f"{location}: Delta alone cannot keep two writers on S3 from losing each other's commits; give it a log store "
        f"({keys[0]}=io.delta.storage.{_SAFE}, spark.io.delta.storage.{_SAFE}.ddb.region, and the package {_PACKAGE} of "
        "your Delta's version), or say --set output.single_writer=true where nothing else ever writes there"
    )


def _on_databricks(conf_get: Callable[[str], str | None]) -> bool:
    """Return whether this is Databricks. Its own service orders the commits of all clusters."""
    return any(conf_get(f"spark.databricks.clusterUsageTags.{name}") for name in ("clusterId", "sparkVersion"))
