"""Keeps objects that are slow to create, such as engines and tokenizers, for later tasks."""

from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
Thing = TypeVar("Thing")


class WorkerSingleton(Generic[P, Thing]):
    """Keeps the last object that a function returned, and returns it again for the same arguments.

    Use as a decorator. Spark reuses workers, so a single object that is slow to create serves many
    tasks. A call with other arguments drops the old object before it creates a new one, because two
    engines might not fit on one machine.
    """

    def __init__(self, make: Callable[P, Thing]) -> None:
        update_wrapper(self, make)
        self._make = make
        self._cached: tuple[Hashable, Thing] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Thing:
        """Return the object for these arguments, which must be hashable. Make it if necessary."""
        key = (args, tuple(sorted(kwargs.items())))
        if self._cached is None or self._cached[0] != key:
            self.forget()
            self._cached = key, self._make(*args, **kwargs)
        return self._cached[1]

    def __reduce__(self) -> str:
        """Pickle by name, like a function of the module.

        Spark sends closures to workers, together with the values of the module globals that they
        use. Without this method, each task would get its own singleton and start its own engine.
        """
        name: str = self.__qualname__  # type: ignore[attr-defined]
        return name

    def forget(self) -> None:
        """Drop the object, so that the next call creates a new one."""
        self._cached = None
