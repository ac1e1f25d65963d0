"""Keeps what a Python worker makes once from task to task: an engine, a tokenizer, a second
half."""

from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
Thing = TypeVar("Thing")


class WorkerSingleton(Generic[P, Thing]):
    """The last thing that a function made, kept in this process as long as it is asked for the same
    one.

    As a decorator. Spark keeps workers, so that a thing that is slow to make serves many tasks.
    With other arguments it is made anew, and the one before is let go: two engines do not fit one
    machine.
    """

    def __init__(self, make: Callable[P, Thing]) -> None:
        update_wrapper(self, make)
        self._make = make
        self._cached: tuple[Hashable, Thing] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Thing:
        """Return what is kept for these arguments, which have to be hashable; else make it."""
        key = (args, tuple(sorted(kwargs.items())))
        if self._cached is None or self._cached[0] != key:
            self.forget()
            self._cached = key, self._make(*args, **kwargs)
        return self._cached[1]

    def __reduce__(self) -> str:
        """Travel to workers by name, as functions of a module do.

        The functions that Spark sends are closures, and what they name of their module is sent
        along by value: each task had a singleton of its own, and started an engine for itself.
        """
        name: str = self.__qualname__  # type: ignore[attr-defined]
        return name

    def forget(self) -> None:
        """Let go what is kept, so that the next call makes it anew."""
        self._cached = None
