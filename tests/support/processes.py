"""The processes of one session (setsid), and their shared memory; from /proc, so only on Linux."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

PROC = Path("/proc")
SHARED_MEMORY = "/dev/shm/"
T = TypeVar("T")


def require_proc() -> None:
    """Skip if there is no /proc."""
    if not (PROC / "self" / "maps").is_file():
        pytest.skip("processes are looked for in /proc, which is Linux's")


def of_session(leader: int) -> dict[int, str]:
    """Return the living processes of the session that `leader` began: process id -> command
    line."""
    found = {}
    for entry in PROC.iterdir():
        # A process may end at any point here.
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdecimal() and os.getsid(int(entry.name)) == leader and not _is_zombie(entry):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def parent(process: int) -> int:
    """Return the process that started this one; 0 if it has ended."""
    try:
        return int((PROC / str(process) / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def shared_memory(processes: dict[int, str]) -> set[Path]:
    """Return the files below /dev/shm that the processes have mapped."""
    files = set()
    for process in processes:
        with contextlib.suppress(OSError):
            lines = (PROC / str(process) / "maps").read_text().splitlines()
            files |= {Path(line[line.index(SHARED_MEMORY) :]) for line in lines if SHARED_MEMORY in line}
    return {file for file in files if file.exists()}


def wait_for(what: Callable[[], T], seconds: float) -> T:
    """Return the result of a function as soon as it is true, or at the end of the time."""
    end = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


def _is_zombie(entry: Path) -> bool:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
