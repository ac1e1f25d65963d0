"""Gives each Python worker of an executor its own GPUs, which the worker keeps from task to task.

Spark assigns GPU addresses to tasks, but the engine in a worker outlives a task. Therefore, the
addresses of a task can be different from the GPUs that its worker's engine uses, for example if two
workers swap tasks. A new worker can even be assigned the address of a GPU that another engine
already uses. To avoid two engines on one GPU while another GPU is idle, the workers of an executor
share a folder. In this folder, each worker records the addresses that it was assigned and the
addresses that it holds.
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
    """The GPUs of a worker."""

    folder: Path
    """The folder with one file per worker, shared by all workers of an executor."""
    worker: int
    """The worker's process ID."""
    is_alive: Callable[[int], bool]
    held: tuple[str, ...] = ()
    """Addresses that the worker holds."""

    def hold(self, assigned: Sequence[str]) -> tuple[str, ...]:
        """Record the addresses assigned to the worker's task. Return the addresses to use instead.

        The result has as many addresses as were assigned. They are the same in every task, and no
        other live worker holds them.

        Spark never assigns one address to two running tasks. So if another worker holds an assigned
        GPU, the GPU assigned to that worker is free, or a third worker holds it, and so on.
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
    """Return environment variables that make an engine use this worker's GPUs; empty without GPUs.

    Call this in every task before the engine's packages are imported.
    """
    context = TaskContext.get()
    resources = context.resources() if context is not None else {}
    if RESOURCE not in resources:
        return {}
    addresses = _devices(os.getppid(), os.getpid()).hold(list(resources[RESOURCE].addresses))
    # Spark's script gets the addresses from nvidia-smi, which uses this order. By default, CUDA
    # lists the fastest GPU first.
    return {"CUDA_VISIBLE_DEVICES": ",".join(addresses), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


@WorkerSingleton
def _devices(parent: int, worker: int) -> Devices:
    """Return this worker's `Devices` singleton. `parent` is the process that forks an executor's
    workers.

    Workers with a different environment have a different parent.
    """
    folder = Path(tempfile.gettempdir()) / f"dripper-{RESOURCE}-{os.getuid()}-{parent}"
    return Devices(folder, worker, _is_alive)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
