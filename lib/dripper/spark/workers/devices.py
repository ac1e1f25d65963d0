"""Gives each Python worker of an executor its own GPUs, which it keeps from task to task.

Spark assigns GPU addresses to tasks, but a worker's engine outlives a task. So the address assigned
to a task may differ from its engine's address, for example if two workers with engines swap tasks.
Two engines must not share a GPU while another GPU has none, but a new worker may be assigned a GPU
that is taken. Therefore, all workers of an executor note in a folder the addresses that they are
assigned and the addresses that they hold.
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
    """The folder for the notes, shared by all workers of an executor."""
    worker: int
    """The worker's process ID."""
    is_alive: Callable[[int], bool]
    held: tuple[str, ...] = ()
    """Addresses that the worker holds."""

    def hold(self, assigned: Sequence[str]) -> tuple[str, ...]:
        """Note the addresses assigned to the worker's task, and return the same number of
        addresses, which the worker holds. These are the same in every task, and no other live
        worker holds them.

        If an assigned GPU is taken, another GPU is free: the GPU assigned to the worker that took
        it, or to a worker further along this chain. Spark always assigns different addresses to
        running tasks.
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
    """Return the environment variables with which an engine finds this worker's GPUs; empty if the
    task has no GPUs. Called in every task, before the engine's packages are imported."""
    context = TaskContext.get()
    resources = context.resources() if context is not None else {}
    if RESOURCE not in resources:
        return {}
    addresses = _devices(os.getppid(), os.getpid()).hold(list(resources[RESOURCE].addresses))
    # Spark's script gets the addresses from nvidia-smi, which uses this order; CUDA's default order
    # is fastest first.
    return {"CUDA_VISIBLE_DEVICES": ",".join(addresses), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@WorkerSingleton
def _devices(parent: int, worker: int) -> Devices:
    """Return this worker's singleton. parent: the process from which Spark forks all of an
    executor's workers with the same environment."""
    folder = Path(tempfile.gettempdir()) / f"dripper-{RESOURCE}-{os.getuid()}-{parent}"
    return Devices(folder, worker, _is_alive)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
