"""Imports the packages of extras when they are first used, and explains how to install a missing
one."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from dripper.errors import MachineError


def import_extra(module: str, needs: str, how: str) -> Any:
    """Import a module of an optional package.

    Args:
        module: The full name of the module.
        needs: Who needs it, with the verb: "--table needs".
        how: How to install it; see `explain_install`.

    Raises:
        MachineError: The package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MachineError(f"{needs} {find_package(module)} ({error}): {how}") from error


@contextmanager
def needed(what: str, extra: str) -> Iterator[None]:
    """Explain a missing package: a context manager around imports of an extra.

    Args:
        what: The part that needs the package, for the message.
        extra: The extra that brings it.

    Raises:
        MachineError: A package is not installed. The message says how to install the extra.

    >>> with needed("this example", "spark"):
    ...     import math
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if find_package(error.name or "") == "dripper":
            raise
        raise MachineError(f"{what} needs {error.name}: {explain_install(extra)}") from None


def explain_install(*extras: str) -> str:
    """Return how to install extras. The package is not on PyPI yet, so it names the other ways.

    >>> explain_install("lm")  # doctest: +NORMALIZE_WHITESPACE
    "pip install '.[lm]' in the project's folder, or pip install 'dripper_spark-….whl[lm]' with the
    path of a wheel"
    """
    names = ",".join(extras)
    return (
        f"pip install '.[{names}]' in the project's folder, or pip install 'dripper_spark-….whl[{names}]' "
        "with the path of a wheel"
    )


def find_package(module: str) -> str:
    """Return the package to which a module belongs.

    >>> find_package("vllm.platforms")
    'vllm'
    """
    return module.partition(".")[0]
