"""Imports packages from this distribution's extras (optional dependencies) on first use, and
explains how to install a missing package."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from dripper.errors import MachineError


def import_extra(module: str, needs: str, how: str) -> Any:
    """Import a module from an optional package.

    Args:
        needs: The beginning of the error message, such as "--table needs".
        how: How to install the package; see `explain_install`.

    Raises:
        MachineError: The package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MachineError(f"{needs} {find_package(module)} ({error}): {how}") from error


@contextmanager
def needed(what: str, extra: str) -> Iterator[None]:
    """Explain how to install a missing package. Wrap imports from an extra in this context manager.

    Args:
        what: The part that needs the package, for the error message.
        extra: The extra that installs the package.

    Raises:
        MachineError: A package is not installed.

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
    """Return instructions for installing extras. This package is not on PyPI yet, so the
    instructions use the project folder or a wheel.

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
    """Return the top-level package that contains a module.

    >>> find_package("vllm.platforms")
    'vllm'
    """
    return module.partition(".")[0]
