"""Tiny checkpoints and tokenizers for all tests of the labeler lm, each made once."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.tokenizer import ChatTokenizer
from support.labelled import pages
from support.tiny_lm import MODELS, make_checkpoint

NO_TOKENIZERS = {"config.json", "generation_config.json", "model.safetensors"}


@pytest.fixture(scope="session")
def simplified() -> list[SimplifiedPage]:
    """The labelled pages of the repository, as a GPU stage gets them, short ones first."""
    made = [SimplifiedPage.of(page) for page in pages()]
    return sorted(made, key=lambda page: len(page.simplified_html))


@pytest.fixture(scope="session", autouse=True)
def _tokenizers_are_read_once() -> Iterator[None]:
    """The real one takes a second, and most folders have it."""
    load = ChatTokenizer.load
    read: dict[tuple[object, ...], ChatTokenizer] = {}

    def load_once(folder: Path, chat: str) -> ChatTokenizer:
        files = sorted(file for file in folder.glob("*") if file.is_file() and file.name not in NO_TOKENIZERS)
        kind = (chat, *((file.name, file.read_bytes()) for file in files))
        if kind not in read:
            read[kind] = load(folder, chat)
        return read[kind]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChatTokenizer, "load", load_once)
        yield


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, simplified: list[SimplifiedPage]) -> Callable[[str], Path]:
    """Makes a checkpoint, by its name in MODELS. About half of its labels on real pages are
    main."""
    pytest.importorskip("torch", reason="needs PyTorch: make test-vllm installs it")
    return cache(lambda name: make_checkpoint(tmp_path_factory.mktemp(name) / "tiny", simplified[:3], **MODELS[name]))


@pytest.fixture(scope="session")
def checkpoint(tiny: Callable[[str], Path]) -> Path:
    """A tiny Qwen3."""
    return tiny("qwen3")


@pytest.fixture(autouse=True)
def _vllm_is_there(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("vllm") and find_spec("vllm") is None:
        pytest.skip("needs vLLM: make test-vllm installs it")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of models in plain PyTorch first: after vLLM has loaded a model through
    transformers, the class of that model no longer works without vLLM."""
    items.sort(key=lambda item: item.get_closest_marker("vllm") is not None)
