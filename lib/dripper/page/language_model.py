"""Loads the language detector, its model mapped from files.

The package holds the model packed: to unpack it takes a third of a second and 68 MB of each
process. The first process that needs it writes it, unpacked, into the user's cache folder
(`$XDG_CACHE_HOME`, by default `~/.cache`), from where all map the same memory. Where that folder
cannot be written, each process unpacks its own.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

_PARTS = ("ptc", "pc", "classes", "nextmove", "row", "output")
"""The arguments of the detector, a file each."""


def load_identifier() -> Any:
    """Return the detector of py3langid."""
    from py3langid import langid

    # What cannot be read or written, or is not what it should be, is as if it were not there.
    with suppress(OSError, ValueError, TypeError, RuntimeError):
        return _map(_find_folder(langid), langid.LanguageIdentifier)
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    with suppress(OSError, AttributeError, RuntimeError):
        _write(_find_folder(langid), identifier)
    return identifier


def _find_folder(langid: Any) -> Path:
    """Return where the files of the installed model are, or will be. Raises RuntimeError without a
    home."""
    state = (Path(langid.__file__).parent / langid.MODEL_FILE).stat()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "dripper", f"py3langid-{state.st_size}-{state.st_mtime_ns}")


def _map(folder: Path, kind: Any) -> Any:
    ptc, pc, classes, moves, row, output = (np.load(folder / f"{part}.npy", mmap_mode="r") for part in _PARTS)
    # A memoryview gives plain numbers, where numpy would make an object of each.
    return kind(
        np.asarray(ptc), np.asarray(pc), classes.tolist(), memoryview(moves), output.tolist(),
        norm_probs=True, tk_row=row.tolist(),
    )  # fmt: skip


def _write(folder: Path, given: Any) -> None:
    """Write the files of a detector; they appear all at once, or not at all."""
    values = (given.nb_ptc, given.nb_pc, given.nb_classes, given.tk_nextmove, given.tk_row, given.tk_output)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
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
