"""Counts the tasks that a session can run concurrently, to choose the size of batches and tasks.

A session with dynamic allocation starts with few executors and gets more only while tasks wait.
Work sized for the running executors would never make the session grow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from dripper.spark.wording import say_count

UNTOLD_SLOTS = 200
"""Number of concurrent tasks to assume if a session does not report its limit. This is the number
for 50 executors with 4 cores each."""

_TAGS = "spark.databricks.clusterUsageTags."
_READ = (
    *("spark.master", "spark.task.cpus", "spark.executor.cores", "spark.executor.instances"),
    *("spark.dynamicAllocation.enabled", "spark.dynamicAllocation.maxExecutors"),
    *(_TAGS + name for name in ("clusterScalingType", "clusterMaxWorkers", "clusterWorkers")),
)


@dataclass(frozen=True, slots=True)
class Live:
    """A session's running executors (0 in local mode), and how many tasks they can run
    concurrently."""

    executors: int
    slots: int


def slots(spark: SparkSession) -> int:
    """Return how many tasks `spark` can run concurrently, at least 1.

    All executors that the session can get are counted. If more executors than that are running, the
    running executors are counted. The result is at least UNTOLD_SLOTS if the session can grow
    without a limit or does not report its size (Spark Connect).
    """
    return most_slots(properties(spark), live(spark))


def most_slots(properties: Mapping[str, str], live: Live | None) -> int:
    """Return how many tasks a session with these properties can run concurrently (see `slots`).

    Args:
        live: The running executors; None if the session does not report them.

    >>> conf = {"spark.executor.instances": "3", "spark.executor.cores": "4"}
    >>> most_slots(conf, Live(executors=1, slots=4))
    12
    """
    now = live.slots if live else 0
    executors, each = most_executors(properties), _slots_of_an_executor(properties, live)
    if executors and each:
        return max(now, executors * each)
    if live and not (_allocates(properties) or _autoscales(properties)):
        return max(now, 1)
    return max(now, UNTOLD_SLOTS)


def most_executors(properties: Mapping[str, str]) -> int | None:
    """Return the maximum number of executors for a session with these Spark properties; None if
    unknown.

    Databricks runs one executor per worker. The properties with the cluster's tags contain the
    number of workers.
    """
    if _allocates(properties):
        return _number(properties, "spark.dynamicAllocation.maxExecutors")
    workers = _number(properties, _TAGS + ("clusterMaxWorkers" if _autoscales(properties) else "clusterWorkers"))
    return workers or _number(properties, "spark.executor.instances")


def live(spark: SparkSession) -> Live | None:
    """Return the running executors of `spark`; None if the session does not report them.

    `defaultParallelism` is not suitable: it is 2 while no executor is running, and depends on
    `spark.default.parallelism` otherwise.
    """
    try:
        context: Any = spark.sparkContext._jsc.sc()
        slots = context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
        # The driver has an entry, too, which must not be counted.
        return Live(executors=context.getExecutorMemoryStatus().size() - 1, slots=slots)
    except Exception:  # Connect has no context. The exception type depends on the version.
        return None


def context_of(spark: SparkSession) -> Any:
    """Return the session's context; None with Spark Connect, which has none."""
    try:
        return spark.sparkContext
    except Exception:  # The exception type depends on the version.
        return None


class Losses(NamedTuple):
    """Counts of a session's lost executors and failed tasks."""

    executors: int = 0
    tasks: int = 0

    def describe(self, before: "Losses") -> list[str]:
        """Return a list with one sentence about the losses since `before`, or [] if nothing was
        lost since.

        >>> Losses(2, 5).describe(before=Losses(1, 1))
        ['1 executor was lost, and 4 tasks failed and were tried again']
        """
        executors, tasks = self.executors - before.executors, self.tasks - before.tasks
        lost = [f"{say_count(executors, 'executor', 'was')} lost"] if executors > 0 else []
        if tasks > 0:
            lost.append(f"{say_count(tasks, 'task')} failed and {'was' if tasks == 1 else 'were'} tried again")
        return [", and ".join(lost)] if lost else []


def count_losses(spark: SparkSession) -> Losses:
    """Return a session's losses so far; zero if the session does not report them.

    Idle executors that dynamic allocation released are not counted.
    """
    try:
        found: Any = spark.sparkContext._jsc.sc().statusStore().executorList(False)
        executors = [found.apply(index) for index in range(found.size())]
        lost = [not each.isActive() and "killed by driver" not in str(each.removeReason()) for each in executors]
        return Losses(sum(lost), sum(each.failedTasks() for each in executors))
    except Exception:  # The exception type depends on the version, as in `live`.
        return Losses()


def properties(spark: SparkSession) -> dict[str, str]:
    """Return the session's properties that determine how many tasks it can run."""
    values = {}
    for name in _READ:
        try:
            value = spark.conf.get(name, None)
        except Exception:  # Serverless sessions refuse most names, with various exception types.
            continue
        if value:
            values[name] = value
    return values


def is_local(properties: Mapping[str, str]) -> bool:
    """Return whether everything runs on this machine, in Spark's local mode.

    A session that does not report its master is not local.

    >>> [is_local({"spark.master": master}) for master in ("local[2]", "local-cluster[1,1,1024]")]
    [True, False]
    >>> is_local({})
    False
    """
    return properties.get("spark.master", "").partition("[")[0] == "local"


def _slots_of_an_executor(properties: Mapping[str, str], live: Live | None) -> int | None:
    cores = _number(properties, "spark.executor.cores")
    if cores is None and properties.get("spark.master", "").startswith(("yarn", "k8s://")):
        cores = 1  # Spark's default on YARN and Kubernetes; elsewhere, all cores.
    if cores is not None:
        return cores // (_number(properties, "spark.task.cpus") or 1)
    return live.slots // live.executors if live and live.executors else None


def _allocates(properties: Mapping[str, str]) -> bool:
    """Return whether Spark requests executors on demand. It never does so in local mode."""
    return properties.get("spark.dynamicAllocation.enabled") == "true" and not is_local(properties)


def _autoscales(properties: Mapping[str, str]) -> bool:
    return properties.get(_TAGS + "clusterScalingType") == "autoscaling"


def _number(properties: Mapping[str, str], name: str) -> int | None:
    """Return a property as a positive integer; None if it is unset or Java's largest integer.

    Spark uses Java's largest integer for "no limit".
    """
    value = properties.get(name, "")
    return int(value) if value.isdecimal() and 0 < int(value) < (1 << 31) - 1 else None
