"""Products of small matrices on one thread."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from threadpoolctl import LibController, ThreadpoolController


def blas_libraries() -> Sequence[LibController]:
    """Return the libraries that multiply matrices in this process."""
    found: Sequence[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


@contextmanager
def one_thread(libraries: Sequence[LibController]) -> Iterator[None]:
    """Limit BLAS to one thread. (threadpoolctl's own `limit` first asks the libraries for all they
    know.)"""
    threads = [library.num_threads for library in libraries]
    for library in libraries:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, before in zip(libraries, threads, strict=True):
            library.set_num_threads(before)
