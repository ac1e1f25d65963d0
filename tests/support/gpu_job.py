"""A staged run on a cluster of two workers with one fake GPU each; prints the places of its stages
as JSON.

Arguments: a WARC file, an output folder, a script that prints the GPUs of a machine.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession

from dripper.labels.config import load
from dripper.settings import Settings
from dripper.spark.run.run import run
from dripper.spark.session.session import open_session
from dripper.spark.tables.store import Tables
from support.stage_labelers import HashLabeler

ROOT = Path(__file__).parents[2]
PROPERTIES = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.worker.resource.gpu.amount": "1",
}
STAGES = {"gpus": 1, "engines": 1, "executor_cores": 1, "executor_memory": "512m", "executor_memory_overhead": "384m"}


class WhereLabeler(HashLabeler):
    """Its version shows the resources of its task."""

    def __init__(self) -> None:
        context = TaskContext.get()
        self.version = ",".join(sorted(context.resources())) if context else "on the driver"


def load_where(settings: Settings) -> WhereLabeler:
    return WhereLabeler()


def settings_with(script: str) -> Settings:
    """Settings of a standalone cluster inside this process, with workers that find a GPU by
    `script`."""
    paths = os.pathsep.join([str(ROOT / "lib"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    given = {f"stages.{key}={value}" for key, value in STAGES.items()} | {f"stages.gpu_discovery_script={script}"}
    given |= {f"spark.properties.{key}={value}" for key, value in PROPERTIES.items()}
    given |= {
        f"spark.properties.spark.worker.resource.gpu.discoveryScript={script}",
        f"spark.properties.spark.executorEnv.PYTHONPATH={paths}",
    }
    fixed = ["spark.master=local-cluster[2,4,1024]", "labeler.staged=true", "labeler.name=all"]
    return load([ROOT / "conf" / "local.yml"], [*sorted(given), *fixed])


def places(spark: SparkSession) -> dict[str, Any]:
    """Tasks of the stages by resource profile, and of the executors by resource profile and
    GPUs."""
    context = spark.sparkContext
    store = context._jsc.sc().statusStore()
    gateway = context._gateway
    none, quantiles = gateway.jvm.java.util.ArrayList(), gateway.new_array(gateway.jvm.double, 0)
    stages = store.stageList(None, False, False, quantiles, none)
    executors = store.executorList(False)
    return {
        "stages": [
            (stage.resourceProfileId(), stage.numCompleteTasks())
            for stage in (stages.apply(i) for i in range(stages.size()))
        ],
        "executors": [
            (executor.resourceProfileId(), executor.resources().contains("gpu"), executor.completedTasks())
            for executor in (executors.apply(i) for i in range(executors.size()))
            if executor.id() != "driver"
        ],
    }


def main(archive: str, output: str, script: str) -> None:
    """Run, and print the result."""
    settings = settings_with(script)
    spark = open_session(settings.spark, "gpu test")
    outcome = run(spark, archive, output, settings, loader=load_where)
    labels = Tables(spark, output).read("labels").select("labeler_version").collect()
    told = places(spark) | {"complaints": outcome.complaints, "labelled_with": [row[0] for row in labels]}
    spark.stop()
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
