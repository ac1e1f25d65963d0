"""BLAS on one thread, with other users of it."""

from contextlib import ExitStack

from dripper.labels.arrays import one_thread


class Library:
    """A library as threadpoolctl shows it."""

    filepath = "libblas.so"

    def __init__(self) -> None:
        self.num_threads = 8

    def set_num_threads(self, n: int) -> None:
        self.num_threads = n


def test_the_threads_come_back_when_the_last_one_is_out() -> None:
    """As with two threads with overlapping labelers: the second entered during the first, and left
    later."""
    library = Library()
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_thread([library]))  # type: ignore[list-item]
    second.enter_context(one_thread([library]))  # type: ignore[list-item]
    assert library.num_threads == 1
    first.close()
    assert library.num_threads == 1
    second.close()
    assert library.num_threads == 8
