"""Array types, and a context manager to run small matrix products on one thread."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import LibController, ThreadpoolController

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
HashArray: TypeAlias = npt.NDArray[np.uint64]


def stack_columns(columns: Sequence[npt.ArrayLike], n_rows: int) -> FloatArray:
    """Stack columns into a matrix. A scalar is repeated in every row."""
    matrix = np.empty((n_rows, len(columns)))
    for number, column in enumerate(columns):
        matrix[:, number] = column
    return matrix


def find_blas() -> Sequence[LibController]:
    """Return the BLAS libraries that this process has loaded."""
    libraries: Sequence[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries


@contextmanager
def one_thread(libraries: Sequence[LibController]) -> Iterator[None]:
    """Limit BLAS to one thread until the last concurrent caller has left the context.

    (threadpoolctl's own `limit` would first query every property of the libraries.)
    """
    _limits.begin(libraries)
    try:
        yield
    finally:
        _limits.end(libraries)


class _Limits:
    """Counts the callers inside `one_thread`. The number of threads is the same for the whole
    process. Without the count, a second caller would take the first caller's limit of 1 for the
    original number, and restore it at the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside: dict[str, int] = {}
        self._before: dict[str, int] = {}

    def begin(self, libraries: Sequence[LibController]) -> None:
        with self._lock:
            for library in libraries:
                inside = self._inside.get(library.filepath, 0)
                if not inside:
                    self._before[library.filepath] = library.num_threads
                    library.set_num_threads(1)
                self._inside[library.filepath] = inside + 1

    def end(self, libraries: Sequence[LibController]) -> None:
        with self._lock:
            for library in libraries:
                self._inside[library.filepath] -= 1
                if not self._inside[library.filepath]:
                    library.set_num_threads(self._before[library.filepath])


_limits = _Limits()
# A page process may be forked while another thread holds the lock. The fork does not have that
# thread, so nothing would release the lock.
os.register_at_fork(after_in_child=_limits.__init__)  # type: ignore[misc]
