"""Measures the CPU time of a command and all its descendants. Reads /proc, so it works only on
Linux."""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_POLL_SECONDS = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Done:
    """The wall and CPU seconds of a command, its exit code, and its output."""

    wall: float
    cpu: float
    code: int
    stdout: str
    stderr: str


def timed_run(command: Sequence[str], cores: Iterable[int]) -> Done:
    """Run a command on these cores, in a new session, and wait for all processes that it started.

    CPU times are polled while the processes run, because the kernel's total for a parent excludes
    most of Spark: PySpark does not wait for its JVM, and its daemon does not wait for the workers.
    The last tenth of a second of each process is missed.
    """
    mine = set(cores)
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: os.sched_setaffinity(0, mine),
    )
    seen: dict[int, float] = {}
    ended = threading.Event()
    watching = threading.Thread(target=_watch, args=(process.pid, seen, ended))
    watching.start()
    stdout, stderr = process.communicate()
    wall = time.perf_counter() - start
    ended.set()
    watching.join()
    return Done(wall, sum(seen.values()), process.returncode, stdout, stderr)


def _watch(session: int, seen: dict[int, float], ended: threading.Event) -> None:
    """Record the CPU seconds of each process in a session, until the command has ended and no
    process is left."""
    while (found := _cpu_of(session)) or not ended.is_set():
        seen.update(found)
        time.sleep(_POLL_SECONDS)


def _cpu_of(session: int) -> dict[int, float]:
    found = {}
    for entry in Path("/proc").iterdir():
        # A process may end while it is being read.
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdecimal():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    found[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
    return found
