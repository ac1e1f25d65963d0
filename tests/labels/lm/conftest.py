"""One tiny checkpoint for all tests of the labeler lm."""

from pathlib import Path

import pytest

from dripper.labels.base import SimplifiedPage
from support.labelled import pages
from support.tiny_lm import make_checkpoint


@pytest.fixture(scope="session")
def simplified() -> list[SimplifiedPage]:
    """The labelled pages of the repository, as a GPU stage gets them, short ones first."""
    made = [SimplifiedPage.of(page) for page in pages()]
    return sorted(made, key=lambda page: len(page.simplified_html))


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, simplified: list[SimplifiedPage]) -> Path:
    """A tiny Qwen3 whose labels on real pages are about half main."""
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    return make_checkpoint(tmp_path_factory.mktemp("lm") / "tiny", simplified[:3])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of models in PyTorch alone first: vLLM, once it has loaded a model through
    transformers, leaves the class of that model unfit for a use without it."""
    items.sort(key=lambda item: item.get_closest_marker("vllm") is not None)
