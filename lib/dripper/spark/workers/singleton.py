"""Keeps an object that a Python worker makes once, such as an engine, a tokenizer or a finisher,
from task to task."""

from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
Thing = TypeVar("Thing")


class WorkerSingleton(Generic[P, Thing]):
    """Keeps the last object that a function made in this process, as long as the function is called
    with the same arguments.

    Use as a decorator. Spark keeps workers, so an object that is slow to make serves many tasks. A
    call with other arguments drops the kept object before it makes a new one, because two engines
    may not fit on one machine.
    """

    def __init__(self, make: Callable[P, Thing]) -> None:
        update_wrapper(self, make)
        self._make = make
        self._cached: tuple[Hashable, Thing] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Thing:
        """Return the object for these arguments, which must be hashable, and make the object if it
        is not kept."""
        key = (args, tuple(sorted(kwargs.items())))
        if self._cached is None or self._cached[0] != key:
            self.forget()
            self._cached = key, self._make(*args, **kwargs)
        return self._cached[1]

    def __reduce__(self) -> str:
        """Pickle by name, like a module's functions.

        The functions that Spark sends are closures, and the module globals that they use are sent
        by value. Without this method, each task would have its own singleton and start its own
        engine.
        """
        name: str = self.__qualname__  # type: ignore[attr-defined]
        return name

    def forget(self) -> None:
        """Drop the kept object, so that the next call makes a new one."""
        self._cached = None
