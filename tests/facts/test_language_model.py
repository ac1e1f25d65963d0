"""The language detector's model: unpacked once, then mapped, and never needed to be."""

import os
from pathlib import Path

import numpy as np
import pytest

from dripper.facts.language_model import load_identifier

TEXT = "Die Fähre verlässt mittags den Hafen, und niemand winkt vom Steg."


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "dripper"


def test_a_mapped_model_says_the_same(cache: Path) -> None:
    unpacked = load_identifier()
    files = sorted(file.name for file in cache.glob("*/*"))
    mapped = load_identifier()
    assert len(files) == 6
    assert isinstance(mapped.tk_nextmove, memoryview)
    assert not isinstance(unpacked.tk_nextmove, memoryview)
    assert mapped.rank(TEXT) == unpacked.rank(TEXT)
    assert isinstance(mapped.nb_ptc, np.ndarray)
    assert [path.name[:10] for path in cache.iterdir()] == ["py3langid-"]


def test_a_damaged_cache_is_written_again(cache: Path) -> None:
    load_identifier()
    damaged = next(cache.glob("*/nextmove.npy"))
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:1000])
    assert load_identifier().rank(TEXT)[0][0] == "de"
    assert damaged.read_bytes() == whole
    damaged.unlink()
    assert load_identifier().rank(TEXT)[0][0] == "de"
    assert damaged.read_bytes() == whole


def test_while_one_process_writes_others_do_not(cache: Path) -> None:
    load_identifier()
    (written,) = cache.iterdir()
    being_written = written.rename(written.with_name(f".{written.name}"))
    assert load_identifier().rank(TEXT)[0][0] == "de"
    assert list(cache.iterdir()) == [being_written]
    os.utime(being_written, (0, 0))
    load_identifier()
    assert list(cache.iterdir()) == [written]


def test_no_cache_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load_identifier().rank(TEXT)[0][0] == "de"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert load_identifier().rank(TEXT)[0][0] == "de"


def no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")
