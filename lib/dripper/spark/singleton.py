"""What a Python worker makes once and keeps from task to task: an engine, a tokenizer, a second half."""

from collections.abc import Callable, Hashable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
Thing = TypeVar("Thing")


class WorkerSingleton(Generic[P, Thing]):
    """The last thing that a function made, kept in this process as long as it is asked for the same one.

    As a decorator. Spark keeps workers, so that a thing that is slow to make serves many tasks. With other arguments it
    is made anew, and the one before is let go: two engines do not fit one machine.
    """

    def __init__(self, make: Callable[P, Thing]) -> None:
        self._make = make
        self._kept: tuple[Hashable, Thing] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Thing:
        """Return what is kept for these arguments, which have to be hashable; else make it."""
        key = (args, tuple(sorted(kwargs.items())))
        if self._kept is None or self._kept[0] != key:
            self.forget()
            self._kept = key, self._make(*args, **kwargs)
        return self._kept[1]

    def forget(self) -> None:
        """Let go what is kept, so that the next call makes it anew."""
        self._kept = None
