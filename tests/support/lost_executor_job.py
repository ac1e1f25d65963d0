"""A staged run on a cluster of two executors; one is killed while it labels; prints how
often a page was labelled, and the run's complaints, as JSON.

Arguments: a WARC file, an output folder, stages.commit_pages, labelled pages after which to
kill.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from dripper.labels import Labels, SimplifiedPage
from dripper.labels.config import load
from dripper.settings import Settings
from dripper.spark.run.run import run
from dripper.spark.session.session import open_session
from support.processes import of_session
from support.stage_labelers import HashLabeler

ROOT = Path(__file__).parents[2]
PAUSE_SECONDS = 0.3
PROPERTIES = {
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class NotingLabeler(HashLabeler):
    """Notes each page that it labels, by a byte at the end of a file."""

    def __init__(self, file: str) -> None:
        self._file = file

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        time.sleep(PAUSE_SECONDS * len(pages))
        with Path(self._file).open("ab") as noted:
            noted.write(b"x" * len(pages))
        return super().label_simplified(pages)


def load_noting(settings: Settings) -> NotingLabeler:
    """The folder of the records is in a setting that the labeler does not use."""
    return NotingLabeler(settings.stages.gpu_discovery_script)


def kill_executor(noted: Path, after_pages: int) -> None:
    """Kill one executor as soon as n pages are labelled."""
    while not noted.exists() or noted.stat().st_size < after_pages:
        time.sleep(0.05)
    executors = [
        process for process, line in of_session(os.getsid(0)).items() if "CoarseGrainedExecutorBackend" in line
    ]
    os.kill(min(executors), signal.SIGKILL)


def main(archive: str, output: str, commit_pages: str, after_pages: str) -> None:
    """Run, and print the result."""
    noted = Path(output).with_name("noted")
    paths = os.pathsep.join([str(ROOT / "lib"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    given = [f"spark.properties.{key}={value}" for key, value in PROPERTIES.items()]
    given += [
        f"spark.properties.spark.executorEnv.PYTHONPATH={paths}",
        "spark.master=local-cluster[2,1,1024]",
        "labeler.staged=true",
        "labeler.name=all",
        "stages.engines=2",
        f"stages.commit_pages={commit_pages}",
        f"stages.gpu_discovery_script={noted}",
    ]
    settings = load([ROOT / "conf" / "local.yml"], given)
    spark = open_session(settings.spark, "a lost executor")
    threading.Thread(target=kill_executor, args=(noted, int(after_pages)), daemon=True).start()
    outcome = run(spark, archive, output, settings, loader=load_noting)
    spark.stop()
    told = {"labelled": noted.stat().st_size, "complaints": outcome.complaints, "exit_code": outcome.exit_code}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
