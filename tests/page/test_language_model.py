"""The language detector's model: unpacked once, then mapped, and never needed to be."""

from pathlib import Path

import numpy as np
import pytest

from dripper.page.language_model import load_identifier

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
    assert list(cache.glob(".new-*")) == []


def test_a_damaged_cache_is_written_again(cache: Path) -> None:
    load_identifier()
    damaged = next(cache.glob("*/nextmove.npy"))
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:1000])
    assert load_identifier().rank(TEXT)[0][0] == "de"
    assert damaged.read_bytes() == whole


def test_no_cache_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load_identifier().rank(TEXT)[0][0] == "de"
