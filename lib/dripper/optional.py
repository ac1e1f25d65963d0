"""Packages of extras: loaded when first used, with a sentence for people when they are not there."""

from importlib import import_module
from typing import Any

from dripper.errors import MachineError


def import_extra(module: str, needs: str, how: str) -> Any:
    """Import a module of an optional package. Raises MachineError where it is not there: who `needs` it, `how` to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MachineError(f"{needs} {package_of(module)} ({error}): {how}") from error


def package_of(module: str) -> str:
    """Return the package that a module is of.

    >>> package_of("vllm.platforms")
    'vllm'
    """
    return module.partition(".")[0]
