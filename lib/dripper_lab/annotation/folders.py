"""Writes folders completely or not at all, and holds the guidelines for annotators, both people and
models.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from dripper.errors import InputError


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Yield a folder to write into, which becomes `out` at the end. If an error is raised, `out`
    does not exist.

    Raises InputError if `out` already exists and is more than an empty folder.
    """
    require_new(out)
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        yield part
        part.replace(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def require_new(out: Path) -> None:
    """Raise InputError if a folder already exists and is more than an empty folder."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is there already: name another folder, or remove it")


FILE = "guidelines.md"


def guidelines() -> str:
    """Return the guidelines with the form of an answer, as Markdown."""
    return files("dripper_lab.annotation").joinpath(FILE).read_text(encoding="utf-8")
