"""Creates folders completely or not at all, and provides the guidelines for annotators, both people
and models."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from dripper.errors import InputError


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Yield a temporary folder to write to, and rename it to `out` at the end. If an error is
    raised, `out` is not created.

    Raises InputError if `out` already exists and is not an empty folder.
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
    """Raise InputError if `out` already exists and is not an empty folder."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is there already: name another folder, or remove it")


FILE = "guidelines.md"


def guidelines() -> str:
    """Return the guidelines, including the answer format, as Markdown."""
    return files("dripper_lab.annotation").joinpath(FILE).read_text(encoding="utf-8")
