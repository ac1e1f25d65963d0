"""Spark settings for a single machine. They turn off work that takes seconds and pays off only on
clusters.

If this program creates the session, the session starts with these settings. If spark-submit creates
it, the session starts with Spark's defaults or the user's properties, and then gets those settings
in `LOCAL` that can still be changed.
"""

import logging

from pyspark.sql import SparkSession

from dripper.spark.session.capacity import is_local, properties

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
FAST_START = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""Java options for a fast start: only Java's first compiler, and room for all of its code. The JVM
mostly plans and commits, so the second compiler costs more than it saves. Without it, a run with
nothing to do takes 0.56 times as much CPU, and a run over 5,492 pages takes 0.93 times as much. If
there is only one compiler, Java reserves just 48 MB for code by default, and stops compiling when
Spark has filled them."""
LOCAL = {
    JAVA_OPTIONS: FAST_START,
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    # Delta reads its own log with 50 tasks by default. This wastes half a minute on two busy cores.
    "spark.databricks.delta.snapshotPartitions": "1",
    # Delta's VACUUM lists a table with 10,000 tasks by default. This wastes 30 s per table.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    "spark.sql.adaptive.enabled": "false",
    # By default, Spark generates and compiles Java code for each query. For a few hundred rows,
    # this takes longer than interpreting the query.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Spark properties for a single machine. The first makes Java start fast, the second hides the
progress bar in the console, and the others make queries faster."""

_log = logging.getLogger(__name__)


def adapt_to_one_machine(spark: SparkSession) -> None:
    """Apply the single-machine settings to a session that spark-submit started on this machine.

    Set the properties of `LOCAL` that nobody has set, and log the settings that only the
    spark-submit command can change. Sessions on clusters are left unchanged.
    """
    if not is_local(properties(spark)):
        return
    conf = spark.conf.getAll
    for name, value in LOCAL.items():
        # Spark does not know Delta's settings before Delta is used.
        if name not in conf and (spark.conf.isModifiable(name) or name.startswith("spark.databricks.")):
            spark.conf.set(name, value)
    late = [
        *([f"--conf '{JAVA_OPTIONS}={FAST_START}'"] if FAST_START not in conf.get(JAVA_OPTIONS, "") else []),
        *(["--conf spark.ui.enabled=false"] if "spark.ui.enabled" not in conf else []),
    ]
    if late:
        _log.info("the next start takes some seconds less with spark-submit %s", " ".join(late))
