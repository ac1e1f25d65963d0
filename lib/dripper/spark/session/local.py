"""Spark's settings on one machine. They avoid work that helps only clusters, and that takes seconds
on one machine.

A session made by this program starts with these settings. A session made by spark-submit starts
with Spark's own defaults or a user's properties. It then gets the settings of `LOCAL` that can
still be set.
"""

import logging

from pyspark.sql import SparkSession

from dripper.spark.session.capacity import is_local, properties

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
LOCAL = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # Delta reads its own log with 50 tasks by default: half a minute wasted on two busy cores.
    "spark.databricks.delta.snapshotPartitions": "1",
    # Delta's VACUUM lists a table with 10,000 tasks by default: 30 s wasted per table.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    "spark.sql.adaptive.enabled": "false",
    # Spark generates and compiles Java code for each query. For a few hundred rows, this takes
    # longer than interpreting the query.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Query settings, except the first, which is for the console."""

_FAST_START = "-XX:TieredStopAtLevel=1"
_log = logging.getLogger(__name__)


def adapt_to_one_machine(spark: SparkSession) -> None:
    """Give a session that spark-submit has started on this machine the settings of `LOCAL` that
    nobody has set, and log the settings that only the spark-submit command can set. Other sessions
    are unchanged."""
    if not is_local(properties(spark)):
        return
    conf = spark.conf.getAll
    for name, value in LOCAL.items():
        # Spark knows Delta's settings only after Delta has been used.
        if name not in conf and (spark.conf.isModifiable(name) or name.startswith("spark.databricks.")):
            spark.conf.set(name, value)
    late = [
        *([f"--conf {JAVA_OPTIONS}={_FAST_START}"] if _FAST_START not in conf.get(JAVA_OPTIONS, "") else []),
        *(["--conf spark.ui.enabled=false"] if "spark.ui.enabled" not in conf else []),
    ]
    if late:
        _log.info("the next start takes some seconds less with spark-submit %s", " ".join(late))
