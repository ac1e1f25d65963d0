"""Decides how many engines the `label` stage runs, and gives them GPUs and Python workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.resource import ExecutorResourceRequests, ResourceProfile, ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import SparkSession

from dripper.errors import SettingsError
from dripper.labels.engine import Loader
from dripper.settings import StageSettings
from dripper.spark.session.capacity import context_of, live, most_executors, properties

_ENVIRONMENT = "DRIPPER_STAGE"
_OWN_CLUSTER = (
    "give the stage its own cluster: run jobs/preprocess.py, jobs/label.py and jobs/extract.py one after the other, jobs/label.py "
    "with stages.gpus=0 on machines with GPUs, submitted with --conf spark.executor.resource.gpu.amount=1 and "
    "--conf spark.task.resource.gpu.amount=1"
)


@dataclass(frozen=True, slots=True)
class Engines:
    """The engines of the `label` stage.

    `loader` loads the labeler, `n` is the number of concurrent engines, and `profile` is the
    resource profile of their executors (None: any executor).
    """

    loader: Loader
    n: int = 1
    profile: ResourceProfile | None = None


def n_engines(spark: SparkSession, settings: StageSettings) -> int:
    """Return how many engines label concurrently.

    The number in the settings takes precedence. Otherwise, there is one engine per executor if
    `stages.gpus` is set. If not, there is one per GPU of the session, but at least one.
    """
    if settings.engines is not None:
        return settings.engines
    if settings.gpus:
        return _executors(spark)
    gpus = int(spark.conf.get("spark.executor.resource.gpu.amount", "0") or 0)
    # Spark runs several tasks on a GPU if each task requests a fraction of it, but an engine needs
    # a whole GPU.
    return max(1, gpus * _executors(spark))


def _executors(spark: SparkSession) -> int:
    up = live(spark)
    return most_executors(properties(spark)) or max(1, up.executors if up else 1)


def engine_profile(spark: SparkSession, settings: StageSettings) -> ResourceProfile | None:
    """Return the stage's resource profile; None if `stages.gpus` is 0.

    Without a profile, the stage runs with the session's own resources. Raises SettingsError, with
    advice, if the session cannot start separate executors for one stage.
    """
    if not settings.gpus:
        return None
    if not gives_profiles(spark):
        raise SettingsError(
            f"stages.gpus={settings.gpus}: only YARN, Kubernetes and standalone clusters, with "
            f"spark.dynamicAllocation.enabled=true, give one stage executors of its own. Otherwise {_OWN_CLUSTER}"
        )
    executors = (
        ExecutorResourceRequests()
        .cores(settings.executor_cores)
        .memory(settings.executor_memory)
        .memoryOverhead(settings.executor_memory_overhead)
        .resource("gpu", settings.gpus, settings.gpu_discovery_script, "nvidia.com")
    )
    # Give all cores of the executor to a single task, because each executor has one engine.
    tasks = TaskResourceRequests().cpus(settings.executor_cores).resource("gpu", settings.gpus)
    return ResourceProfileBuilder().require(executors).require(tasks).build


@contextmanager
def own_workers(spark: SparkSession) -> Iterator[None]:
    """Give Python functions that are planned inside the context their own worker processes.

    Spark gives a task the worker that has been idle longest, even if that worker served another
    stage. In a test with 6 batches on two cores, a second engine was therefore started. On a GPU,
    the first engine would leave no memory for the second. Spark never gives a task a worker with
    another environment, so this function sets an environment variable.
    """
    context = context_of(spark)
    # With Spark Connect, there is no context, and the platform manages the workers.
    environment: dict[str, str] = {} if context is None else context.environment
    environment[_ENVIRONMENT] = "label"
    try:
        yield
    finally:
        del environment[_ENVIRONMENT]


def gives_profiles(spark: SparkSession) -> bool:
    """Return whether the session can start separate executors for one stage."""
    master = spark.conf.get("spark.master", "") or ""
    is_cluster = master == "yarn" or master.startswith(("k8s://", "spark://", "local-cluster["))
    return is_cluster and spark.conf.get("spark.dynamicAllocation.enabled", "false") == "true"
