"""Spark's settings on one machine: what Spark does for a cluster costs seconds there and brings
nothing.

A session that this program makes starts with them. One that spark-submit makes has Spark's own
defaults by then, unless a file of properties said otherwise: it gets those that can still be set.
"""

import logging

from pyspark.sql import SparkSession

from dripper.spark.session.capacity import is_local, properties

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
LOCAL = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # Delta reads its own log with 50 tasks by default: half a minute of nothing on two busy cores.
    "spark.databricks.delta.snapshotPartitions": "1",
    # Delta's VACUUM lists a table with 10,000 tasks by default: 30 s of nothing a table.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    "spark.sql.adaptive.enabled": "false",
    # Spark writes and compiles Java for each query, which takes longer than to interpret it over a
    # few hundred rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings of queries, but for the first."""

_FAST_START = "-XX:TieredStopAtLevel=1"
_log = logging.getLogger(__name__)


def adapt_to_one_machine(spark: SparkSession) -> None:
    """Give a session that spark-submit has started on this machine the settings of `LOCAL`, where
    nobody has set others, and say what would have had to be set before. Other sessions stay as they
    are."""
    if not is_local(properties(spark)):
        return
    conf = spark.conf.getAll
    for name, value in LOCAL.items():
        # Spark knows Delta's only once something of Delta has been used.
        if name not in conf and (spark.conf.isModifiable(name) or name.startswith("spark.databricks.")):
            spark.conf.set(name, value)
    late = [
        *([JAVA_OPTIONS] if _FAST_START not in conf.get(JAVA_OPTIONS, "") else []),
        *(["spark.ui.enabled"] if "spark.ui.enabled" not in conf else []),
    ]
    if late:
        _log.info(
            "the start took some seconds longer than it needs to, as only the command can set %s: "
            "spark-submit --properties-file conf/spark-local.conf does",
            " and ".join(late),
        )
