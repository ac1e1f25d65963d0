"""Runs that are killed: in place of a step; or a staged one in its stage `label`, and checks that
nothing of it remains."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.labels.config import load
from dripper.spark.run.run import run
from dripper.spark.tables.store import Tables
from support.processes import of_session, parent, require_proc, shared_memory, wait_for
from support.stage_labelers import load_hash
from support.warcs import pages, write_warc

TESTS = Path(__file__).parents[1]
N_PAGES = 5
# Of a machine with 16 waiting processes on 2 cores.
PATIENCE_SECONDS = 400


SETTINGS = load(assignments=["labeler.staged=true", "labeler.name=all"])


def killed(*_: object, **__: object) -> None:
    """Stand in for a step before which a run is killed."""
    raise RuntimeError("killed")


def write_archive(folder: Path) -> Path:
    """Write the input of the run."""
    return write_warc(folder / "a.warc", pages(1, N_PAGES))


class Job:
    """A staged run in its own session, stopped in the middle of its stage `label`."""

    def __init__(self, python: str, folder: Path, model: Path | None = None, archive: Path | None = None) -> None:
        """Into `folder / "out"`.

        model: a checkpoint for the labeler lm; None: a pretended engine. archive: one of
        `write_archive`, which the output has preprocessed; None: a new one.
        """
        require_proc()
        self.archive = archive or write_archive(folder)
        told = folder / "engine"
        path = os.pathsep.join([str(TESTS.parent / "lib"), str(TESTS), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [
                python,
                str(Path(__file__).with_name("killed_job.py")),
                str(self.archive),
                str(folder / "out"),
                str(told),
                str(model or ""),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
            cwd=folder,
            start_new_session=True,
        )
        wait_for(lambda: told.exists() or self.process.poll() is not None, PATIENCE_SECONDS)
        if not told.exists():
            self.end()
            pytest.fail(f"the job did not get to its engine: {self.process.communicate()[0][-3000:]}")
        self.engine = int(told.read_text())

    def kill(self, who: str) -> None:
        """SIGKILL the driver, the JVM, the daemon that forks Python workers, or the worker with the
        engine."""
        java = next(process for process, command in self.alive().items() if "java" in command.split(" ")[0])
        daemon = parent(self.engine)
        target = {"driver": self.process.pid, "jvm": java, "daemon": daemon, "worker": self.engine}[who]
        os.kill(target, signal.SIGKILL)

    def alive(self) -> dict[int, str]:
        """Return the processes of the run."""
        return of_session(self.process.pid)

    def end(self) -> None:
        """Leave nothing behind if a test fails."""
        for process in self.alive():
            os.kill(process, signal.SIGKILL)
        self.process.wait()


def assert_nothing_stays(job: Job, who: str) -> None:
    """Kill one process and wait for the others."""
    assert job.engine in job.alive()
    memory = shared_memory(job.alive())
    job.kill(who)
    told, _ = job.process.communicate(timeout=PATIENCE_SECONDS)
    assert job.process.returncode == (-signal.SIGKILL if who == "driver" else 3)
    assert ("run the same command again" in told) == (who != "driver")
    assert wait_for(lambda: not job.alive(), PATIENCE_SECONDS), job.alive()
    assert not [file for file in memory if file.exists()]


def assert_the_next_run_ends_it(spark: SparkSession, job: Job, folder: Path) -> None:
    """Every page is there once; pages that were preprocessed before the kill are not done again."""
    outcome = run(spark, str(job.archive), str(folder / "out"), SETTINGS, loader=load_hash)
    assert (outcome.complaints, outcome.totals.files) == ((), 0)
    rows = Tables(spark, str(folder / "out")).read("extractions").collect()
    assert len({row["page_id"] for row in rows}) == len(rows) == outcome.ledger["pages"] == N_PAGES
