"""The examples in docstrings give the output below them."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

LIB = Path(__file__).parents[1] / "lib"
MODULES = sorted(
    ".".join(path.relative_to(LIB).with_suffix("").parts) for path in LIB.rglob("*.py") if ">>> " in path.read_text()
)


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module: str) -> None:
    found = doctest.testmod(import_module(module))
    assert found.attempted > 0
    assert found.failed == 0


def test_there_are_examples() -> None:
    assert len(MODULES) > 20
