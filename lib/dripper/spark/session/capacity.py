"""Counts the tasks that a session may run at once; this sets the size of batches and tasks.

A session that grows has few executors when a job starts, and gets more only while tasks wait. Work
that is sized for the running executors would keep the cluster at that size.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from dripper.spark.wording import say_count

UNTOLD_SLOTS = 200
"""Used for a session that does not report how far it may grow: 50 executors of 4 cores."""

_TAGS = "spark.databricks.clusterUsageTags."
_READ = (
    *("spark.master", "spark.task.cpus", "spark.executor.cores", "spark.executor.instances"),
    *("spark.dynamicAllocation.enabled", "spark.dynamicAllocation.maxExecutors"),
    *(_TAGS + name for name in ("clusterScalingType", "clusterMaxWorkers", "clusterWorkers")),
)


@dataclass(frozen=True, slots=True)
class Live:
    """The running part of a session: its executors (none in local mode), and the tasks that run at
    once."""

    executors: int
    slots: int


def slots(spark: SparkSession) -> int:
    """Return how many tasks `spark` may run at once, at least 1.

    This counts all executors that the session may get, or the running executors if there are more
    of them. It is UNTOLD_SLOTS if a session that grows has no bound, or if it does not report its
    size (Spark Connect).
    """
    return most_slots(properties(spark), live(spark))


def most_slots(properties: Mapping[str, str], live: Live | None) -> int:
    """Return how many tasks a session with these Spark properties may run at once (see `slots`).

    Args:
        live: The executors that are running; None if the session does not report them.

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
    """Return how many executors a session with these Spark properties may get; None if no property
    says so.

    Databricks runs one executor per worker, and gives the number of workers in the properties with
    which it tags its clusters.
    """
    if _allocates(properties):
        return _number(properties, "spark.dynamicAllocation.maxExecutors")
    workers = _number(properties, _TAGS + ("clusterMaxWorkers" if _autoscales(properties) else "clusterWorkers"))
    return workers or _number(properties, "spark.executor.instances")


def live(spark: SparkSession) -> Live | None:
    """Return the executors of `spark` that are running now; None if the session does not report
    them.

    `defaultParallelism` would be 2 while no executor is running, and otherwise follows
    `spark.default.parallelism`.
    """
    try:
        context: Any = spark.sparkContext._jsc.sc()
        slots = context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
        # One entry is the driver's.
        return Live(executors=context.getExecutorMemoryStatus().size() - 1, slots=slots)
    except Exception:  # Connect sessions have no context and raise one of several types here, by version.
        return None


def context_of(spark: SparkSession) -> Any:
    """Return the session's context; None if it has none, as with Spark Connect."""
    try:
        return spark.sparkContext
    except Exception:  # One of several types, by version.
        return None


class Losses(NamedTuple):
    """The executors that a session lost, and the tasks that failed in it."""

    executors: int = 0
    tasks: int = 0

    def describe(self, before: "Losses") -> list[str]:
        """Return a sentence if there are more than before.

        >>> Losses(2, 5).describe(before=Losses(1, 1))
        ['1 executor was lost, and 4 tasks failed and were tried again']
        """
        executors, tasks = self.executors - before.executors, self.tasks - before.tasks
        if executors <= 0 and tasks <= 0:
            return []
        again = f"{say_count(tasks, 'task')} failed and {'was' if tasks == 1 else 'were'} tried again"
        return [f"{say_count(executors, 'executor', 'was')} lost, and {again}"]


def count_losses(spark: SparkSession) -> Losses:
    """Return the losses of a session so far; none if it does not report them. Idle executors that
    dynamic allocation gives back are not lost."""
    try:
        found: Any = spark.sparkContext._jsc.sc().statusStore().executorList(False)
        executors = [found.apply(index) for index in range(found.size())]
        lost = [not each.isActive() and "killed by driver" not in str(each.removeReason()) for each in executors]
        return Losses(sum(lost), sum(each.failedTasks() for each in executors))
    except Exception:  # As in `live`.
        return Losses()


def properties(spark: SparkSession) -> dict[str, str]:
    """Return the session's properties that say how far it may grow."""
    values = {}
    for name in _READ:
        try:
            value = spark.conf.get(name, None)
        except Exception:  # Serverless sessions refuse most names, whatever the default, with one of several types.
            continue
        if value:
            values[name] = value
    return values


def is_local(properties: Mapping[str, str]) -> bool:
    """Return whether everything runs on this machine, in Spark's local mode. A session that does
    not report its master is not local.

    >>> [is_local({"spark.master": master}) for master in ("local[2]", "local-cluster[1,1,1024]")]
    [True, False]
    >>> is_local({})
    False
    """
    return properties.get("spark.master", "").partition("[")[0] == "local"


def _slots_of_an_executor(properties: Mapping[str, str], live: Live | None) -> int | None:
    cores = _number(properties, "spark.executor.cores")
    if cores is None and properties.get("spark.master", "").startswith(("yarn", "k8s://")):
        cores = 1  # Spark's default there; elsewhere an executor gets all cores of its machine.
    if cores is not None:
        return cores // (_number(properties, "spark.task.cpus") or 1)
    return live.slots // live.executors if live and live.executors else None


def _allocates(properties: Mapping[str, str]) -> bool:
    """Whether Spark asks for executors as it needs them; it never does in local mode."""
    return properties.get("spark.dynamicAllocation.enabled") == "true" and not is_local(properties)


def _autoscales(properties: Mapping[str, str]) -> bool:
    return properties.get(_TAGS + "clusterScalingType") == "autoscaling"


def _number(properties: Mapping[str, str], name: str) -> int | None:
    """Return a property as a number above 0; None if it is not set, or is Java's largest integer,
    which means no bound."""
    value = properties.get(name, "")
    return int(value) if value.isdecimal() and 0 < int(value) < (1 << 31) - 1 else None
