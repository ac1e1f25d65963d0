"""How often this machine may ask a server: one pace for all processes of an executor, slower after
each refusal.

A worker that is told to slow down (503 SlowDown, 429) knows what its neighbours do not, and a retry
of one call helps little while sixteen others go on. So the pace is kept in a small file in the
folder for temporary files.
"""

import fcntl
import os
import random
import struct
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

BUSY_STATUSES = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
"""What servers answer to whom asks too often."""

_FIRST_GAP = 0.05
_LONGEST_GAP = 2.0
"""Seconds between two requests of a machine: a thousand machines then ask 500 times a second, a
tenth of what one S3 prefix takes."""

_FASTER = 0.8
_NO_GAP = 0.01
_SLOWER_EVERY = 1.0
"""Seconds in which refusals count once: sixteen requests that were under way together are one
reason to slow down."""

_STATE = struct.Struct("<ddd")


class _State(NamedTuple):
    """gap: seconds between requests, 0 for none. next_at: when the next one may start. slowed_at:
    of the last refusal."""

    gap: float = 0.0
    next_at: float = 0.0
    slowed_at: float = 0.0


class Pace:
    """The pace of requests to one server. Where its file cannot be had, the process keeps a pace of
    its own."""

    def __init__(self, server: str, folder: Path | None = None) -> None:
        self._state = _State()
        name = sha256(server.encode()).hexdigest()[:16]
        try:
            folder = folder or Path(tempfile.gettempdir()) / f"dripper-pace-{os.getuid()}"
            folder.mkdir(mode=0o700, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file: int | None = os.open(folder / name, flags, 0o600)
        except OSError:
            self._file = None

    def wait(self) -> None:
        """Wait for this process's turn; no time at all while nobody was refused."""
        now = time.time()

        def reserve(state: _State) -> _State:
            if not state.gap:
                return state
            start = min(max(now, state.next_at), now + 64 * _LONGEST_GAP)  # a clock that was set back must not block
            return state._replace(next_at=start + state.gap * random.uniform(0.5, 1.5))

        before, after = self._change(reserve)
        if after is not before:
            time.sleep(max(0.0, min(before.next_at, now + 64 * _LONGEST_GAP) - now))

    def answered(self, status: int) -> None:
        """Learn from the status of an answer: slower after a refusal, a little faster after
        anything else."""
        now = time.time()

        def learn(state: _State) -> _State:
            if status not in BUSY_STATUSES:
                gap = state.gap * _FASTER
                return state if not state.gap else state._replace(gap=gap if gap > _NO_GAP else 0.0)
            if 0 <= now - state.slowed_at < _SLOWER_EVERY:
                return state
            return state._replace(gap=min(_LONGEST_GAP, max(_FIRST_GAP, 2 * state.gap)), slowed_at=now)

        self._change(learn)

    @property
    def gap(self) -> float:
        """Seconds between two requests, on average."""
        return self._change(lambda state: state)[0].gap

    def _change(self, change: Callable[[_State], _State]) -> tuple[_State, _State]:
        """Return the state before and after `change`, which no other process touches in between."""
        if self._file is None:
            before = self._state
            self._state = after = change(before)
            return before, after
        # Locks of lockf are a process's own, those of flock are shared with forked children.
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            stored = os.pread(self._file, _STATE.size, 0)
            before = _State(*_STATE.unpack(stored)) if len(stored) == _STATE.size else _State()
            after = change(before)
            if after is not before:
                os.pwrite(self._file, _STATE.pack(*after), 0)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
        return before, after


@lru_cache(maxsize=64)
def pace_of(server: str) -> Pace:
    """Return this process's hold of the pace for `server`."""
    return Pace(server)
