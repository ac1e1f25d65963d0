"""Loads the language detector, with its model memory-mapped from files.

The package of py3langid contains the packed model. Unpacking it takes a third of a second, and 68
MB of memory in each process. Therefore the first process that needs the model writes an unpacked
copy to the user's cache folder (`$XDG_CACHE_HOME`, by default `~/.cache`). All processes map this
copy, and share its memory. If the folder is not writable, each process unpacks its own copy.
"""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

_PARTS = ("ptc", "pc", "classes", "nextmove", "row", "output")
"""The detector's arguments, one file each."""
_STALE_SECONDS = 600
"""An unfinished folder that is older than this was left behind by a killed process."""


def load_identifier() -> Any:
    """Return py3langid's detector."""
    from py3langid import langid

    folder, is_damaged = _find_folder(langid), False
    # Files that cannot be read or written are treated as absent.
    try:
        if folder is not None:
            return _map(folder, langid.LanguageIdentifier)
    except (OSError, ValueError, TypeError):
        is_damaged = folder is not None and folder.exists()
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    with suppress(OSError, AttributeError):
        if folder is not None and (is_damaged or not folder.exists()):
            _write(folder, identifier)
    return identifier


def _find_folder(langid: Any) -> Path | None:
    """Return the folder for the files of the installed model; None for a user without a home
    folder."""
    state = (Path(langid.__file__).parent / langid.MODEL_FILE).stat()
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        return None
    return Path(cache, "dripper", f"py3langid-{state.st_size}-{state.st_mtime_ns}")


def _map(folder: Path, kind: Any) -> Any:
    ptc, pc, classes, moves, row, output = (np.load(folder / f"{part}.npy", mmap_mode="r") for part in _PARTS)
    # A memoryview returns plain integers; numpy would create an object for each.
    return kind(
        np.asarray(ptc), np.asarray(pc), classes.tolist(), memoryview(moves), output.tolist(),
        norm_probs=True, tk_row=row.tolist(),
    )  # fmt: skip


def _write(folder: Path, given: Any) -> None:
    """Write a detector's files atomically. Raises FileExistsError while another process writes
    them. This is common, because all workers on a machine start at the same time."""
    values = (given.nb_ptc, given.nb_pc, given.nb_classes, given.tk_nextmove, given.tk_row, given.tk_output)
    fresh = folder.with_name(f".{folder.name}")
    with suppress(FileNotFoundError):
        if time.time() - fresh.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(fresh)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh.mkdir(mode=0o700)
    try:
        for part, value in zip(_PARTS, values, strict=True):
            with (fresh / f"{part}.npy").open("wb") as file:
                np.save(file, np.asarray(value), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
