"""Faults that fuzzing found stay fixed, and the targets pass for real pages and archives."""

from pathlib import Path

import pytest

from fuzz.seeds import write_seeds
from fuzz.targets import TARGETS
from support.dangers import VECTORS

DATA = Path(__file__).parents[1] / "data"
FINDS = sorted(path for path in (DATA / "fuzz").glob("*/*") if path.suffix != ".md")


@pytest.mark.parametrize("path", FINDS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_find_stays_mended(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_each_target_takes_nothing_and_noise(name: str) -> None:
    for data in (b"", b"\x00", b"\xff\xfe\x00", bytes(range(256)), b"<p>a"):
        TARGETS[name](data)


@pytest.mark.parametrize("name", ["html", "markdown", "metadata"])
def test_each_target_takes_the_vectors(name: str) -> None:
    TARGETS[name]("\n".join(vector for vector in VECTORS if "plaintext" not in vector).encode())


@pytest.mark.parametrize("name", TARGETS)
def test_each_target_takes_its_seeds(name: str, tmp_path: Path) -> None:
    assert write_seeds(name, tmp_path) >= 20
    for path in sorted(tmp_path.iterdir())[::10]:
        TARGETS[name](path.read_bytes())
