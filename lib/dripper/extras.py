"""Packages of extras: loaded when first used, with a sentence for people when they are not
there."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from dripper.errors import MachineError


def import_extra(module: str, needs: str, how: str) -> Any:
    """Import a module of an optional package. Raises MachineError where it is not there: who
    `needs` it, `how` to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MachineError(f"{needs} {package_of(module)} ({error}): {how}") from error


@contextmanager
def needed(what: str, extra: str) -> Iterator[None]:
    """Around imports: raises MachineError, with what needs it and how to install the extra, where a
    package is not there.

    >>> with needed("this example", "spark"):
    ...     import math
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if package_of(error.name or "") == "dripper":
            raise
        raise MachineError(f"{what} needs {error.name}: {install(extra)}") from None


def install(*extras: str) -> str:
    """Return how to install extras: the package is on no index, so by the ways that work.

    >>> install("lm")  # doctest: +NORMALIZE_WHITESPACE
    "pip install '.[lm]' in the project's folder, or pip install 'dripper_spark-….whl[lm]' with the
    path of a wheel"
    """
    names = ",".join(extras)
    return (
        f"pip install '.[{names}]' in the project's folder, or pip install 'dripper_spark-….whl[{names}]' "
        "with the path of a wheel"
    )


def package_of(module: str) -> str:
    """Return the package that a module is of.

    >>> package_of("vllm.platforms")
    'vllm'
    """
    return module.partition(".")[0]
