"""Gives each Python worker of an executor GPUs of its own, which it keeps from task to task.

Spark tells a task the addresses of its GPUs, and a worker keeps its engine longer than a task. So a
task may be told another address than that of the engine which its worker has: two workers with an
engine each swap their tasks. What may not be is that two engines share a GPU and another has none,
as a worker that starts then is told an address whose GPU is taken. All workers of an executor
therefore note in a folder what they are told and what they hold.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark import TaskContext

from dripper.spark.workers.singleton import WorkerSingleton

RESOURCE = "gpu"


@dataclass(slots=True)
class Devices:
    """The GPUs of one worker."""

    folder: Path
    """The same for all workers of an executor."""
    worker: int
    """The process."""
    is_alive: Callable[[int], bool]
    held: tuple[str, ...] = ()
    """Addresses."""

    def hold(self, assigned: Sequence[str]) -> tuple[str, ...]:
        """Note the addresses that the worker's task was told, and return those that the worker
        holds: as many, the same in every task, and those of no other worker that is alive.

        Where a GPU of its own address is taken, one is free that the worker which took it, or one
        further on, was told instead: at any time Spark tells running tasks different addresses.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            notes = self._read_notes()
            in_use = {address for note in notes for address in note["held"]}
            if len(self.held) != len(assigned):
                addresses = [*assigned, *(address for note in notes for address in note["told"])]
                free = [address for address in dict.fromkeys(addresses) if address not in in_use]
                self.held = tuple([*free, *(address for address in assigned if address in in_use)][: len(assigned)])
            note = {"told": list(assigned), "held": list(self.held)}
            (self.folder / f"{self.worker}.json").write_text(json.dumps(note))
        return self.held

    def _read_notes(self) -> list[dict[str, list[str]]]:
        notes = []
        for file in sorted(self.folder.glob("*.json")):
            worker = int(file.stem)
            if worker == self.worker:
                continue
            if self.is_alive(worker):
                notes.append(json.loads(file.read_text()))
            else:
                file.unlink()
        return notes


def hold_devices() -> dict[str, str]:
    """Return the environment by which an engine finds the GPUs of this worker; empty where the task
    has none. Called in every task, before the engine's packages are imported."""
    context = TaskContext.get()
    resources = context.resources() if context is not None else {}
    if RESOURCE not in resources:
        return {}
    addresses = _devices(os.getppid(), os.getpid()).hold(list(resources[RESOURCE].addresses))
    # nvidia-smi, by which Spark's script finds addresses, counts in this order; CUDA's own is the
    # fastest first.
    return {"CUDA_VISIBLE_DEVICES": ",".join(addresses), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@WorkerSingleton
def _devices(parent: int, worker: int) -> Devices:
    """This worker's singleton. parent: workers are forks of one process, a kind of worker and
    executor."""
    folder = Path(tempfile.gettempdir()) / f"dripper-{RESOURCE}-{os.getuid()}-{parent}"
    return Devices(folder, worker, _is_alive)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
