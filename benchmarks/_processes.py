"""CPU seconds of commands with everything they start; by prctl and /proc, so on Linux only."""

import ctypes
import os
import resource
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
"""prctl(2): processes whose parent has ended become children of this one."""
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Done:
    """What a command took, in seconds, and how it ended."""

    wall: float
    cpu: float
    code: int
    stderr: str


def timed_run(command: Sequence[str], cores: Iterable[int]) -> Done:
    """Run a command on these cores, and wait for all that it started.

    PySpark does not wait for its JVM: without adopting it, its CPU seconds would belong to nobody.
    """
    mine = set(cores)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    others = _children()
    start, before = time.perf_counter(), _ended_cpu()
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=lambda: os.sched_setaffinity(0, mine)
    )
    wall = time.perf_counter() - start
    while left := _children() - others:
        for process in left:
            os.waitpid(process, os.WNOHANG)
        time.sleep(_POLL_SECONDS)
    return Done(wall, _ended_cpu() - before, done.returncode, done.stderr)


def _children() -> set[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(process) for task in tasks for process in task.read_text().split()}


def _ended_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
