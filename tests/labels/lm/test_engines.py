"""The decoders on a real vLLM engine, on the CPU in float32: the same labels, label for label, over
real pages."""

import gc
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper.errors import ErrorCode, PageError
from dripper.labels import Labels, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.form_check import FormCheck
from dripper.labels.lm.generating import FsmDecoder
from dripper.labels.lm.labeler import LmLabeler
from dripper.labels.lm.parallel import cache_tokens
from dripper.labels.lm.settings import LmSettings
from support.labelled import pages
from support.processes import of_session, shared_memory

pytestmark = pytest.mark.vllm

# The reference for the other decoders.
SETTINGS = {
    "json": {},
    "as prompt v0 shows it": {"answer": "json_v0"},
}


@contextmanager
def labeler(checkpoint: Path, **options: object) -> Iterator[LmLabeler]:
    """An engine, stopped at the end: a machine of CI has room for one."""
    made = load("lm", model=str(checkpoint), dtype="float32", **options)
    assert isinstance(made, LmLabeler)
    try:
        yield made
    finally:
        made.close()
        gc.collect()


@pytest.fixture(scope="module")
def by_state_machine(checkpoint: Path, simplified: list[SimplifiedPage]) -> dict[str, tuple[list[Labels], float]]:
    """Labels of the state machine and its passes, for all settings on one engine."""
    told = {}
    with labeler(checkpoint, decoder="fsm") as first:
        engine: Any = first._decoder._engine
        for name, options in SETTINGS.items():
            settings = LmSettings.model_validate({"model": str(checkpoint), **options})
            encoder = PageEncoder.load(settings)
            fsm = LmLabeler(encoder, FsmDecoder(engine, encoder.templates, FormCheck.of(encoder)))
            told[name] = fsm.label_simplified(simplified), fsm.stats()["passes"]
    return told


@pytest.fixture(scope="module", params=SETTINGS)
def oracle(
    request: pytest.FixtureRequest, by_state_machine: dict[str, tuple[list[Labels], float]]
) -> dict[str, object]:
    """Labels of the state machine, and its settings."""
    labels, passes = by_state_machine[request.param]
    return {"settings": SETTINGS[request.param], "labels": labels, "passes": passes}


def same(ours: list[Labels], theirs: list[Labels]) -> bool:
    return all(np.array_equal(one.main, two.main) for one, two in zip(ours, theirs, strict=True))


@contextmanager
def failing_step(made: LmLabeler, at: int) -> Iterator[None]:
    """Lets the engine's model fail in its nth step, as it does if memory runs out."""
    executor = made._decoder._engine.llm_engine.engine_core.engine_core.model_executor
    steps = 0

    def fail(*arguments: object, **options: object) -> object:
        nonlocal steps
        steps += 1
        if steps == at:
            raise MemoryError("no room for this batch")
        return type(executor).execute_model(executor, *arguments, **options)

    executor.execute_model = fail
    yield
    del executor.execute_model


def fails_and_lives_on(made: LmLabeler, some: list[SimplifiedPage], right: list[Labels], at: int) -> bool:
    with failing_step(made, at), pytest.raises(PageError, match="MemoryError: no room for this batch"):
        made.label_simplified(some)
    return same(made.label_simplified(some), right)


@pytest.mark.draw("form of answers")
def test_parallel_gives_the_state_machines_labels(
    oracle: dict, checkpoint: Path, simplified: list[SimplifiedPage]
) -> None:
    with labeler(checkpoint, decoder="parallel", **oracle["settings"]) as parallel:
        labels = parallel.label_simplified(simplified)
        assert same(labels, oracle["labels"])
        stats = parallel.stats()
        # Random models are harder than trained ones: their labels depend on each other at random.
        assert stats["passes"] * 20 < oracle["passes"]
        assert stats["pages"] == len(simplified)
        assert all(not np.isnan(one.probability).any() for one in labels)

        # Labelled again, and one by one: neither the cache nor other pages change a label.
        assert same(parallel.label_simplified(simplified), oracle["labels"])
        assert same([parallel.label_simplified([page])[0] for page in simplified[:4]], oracle["labels"][:4])

        assert fails_and_lives_on(parallel, simplified[:4], oracle["labels"][:4], at=2)

        # The cache has the requested size: 3 layers, keys and values, 2 heads of 32
        # numbers of 4 bytes.
        assert 0.95 * 2**30 < cache_tokens(parallel._decoder._engine) * 3 * 2 * 2 * 32 * 4 <= 2**30
        parallel._decoder._cache_tokens = 5000
        assert same(parallel.label_simplified(simplified), oracle["labels"])

        # From the second pass on, unchanged tokens come from the cache; from the second page
        # on, the instruction.
        prompts = sum(
            len(parallel.encoder.job(window).prompt_ids)
            for page in simplified
            for window in parallel.encoder.windows(page)
        )
        assert stats["tokens"] < 2 * prompts < stats["passes"] / len(simplified) * prompts


def test_pytorch_alone_gives_the_state_machines_labels(
    oracle: dict, checkpoint: Path, simplified: list[SimplifiedPage]
) -> None:
    with labeler(checkpoint, engine="transformers", device="cpu", **oracle["settings"]) as in_torch:
        assert same(in_torch.label_simplified(simplified), oracle["labels"])


def test_labels_of_the_tiny_model_are_worth_comparing(oracle: dict) -> None:
    main = np.concatenate([one.main for one in oracle["labels"]])
    assert 0.1 < main.mean() < 0.9
    assert sum(bool(one.main.any()) and not one.main.all() for one in oracle["labels"]) >= 9


def test_pages_longer_than_the_context_are_windowed(checkpoint: Path, simplified: list[SimplifiedPage]) -> None:
    with labeler(checkpoint, context_tokens=1500) as parallel:
        labels = parallel.label_simplified(simplified)
        assert [len(one.main) for one in labels] == [page.n_blocks for page in simplified]
        assert any(one.windows > 1 for one in labels)
        for page in simplified:
            for window in parallel.encoder.windows(page):
                job = parallel.encoder.job(window)
                assert len(job.prompt_ids) + len(parallel.encoder.templates.of(job.n_blocks).tokens) < 1500
        huge = SimplifiedPage(f'<html><body><p _item_id="1">{"word " * 20_000}</p></body></html>', 1)
        assert parallel.label_simplified([huge])[0].main.shape == (1,)


def test_a_page_object_a_page_without_blocks_and_a_page_that_fails(checkpoint: Path) -> None:
    page = min(pages(), key=lambda one: len(one.simplified_html))
    with labeler(checkpoint, context_tokens=2000) as parallel:
        (labels,) = parallel.label([page])
        assert len(labels.main) == len(page.blocks)
        empty, again = parallel.label_simplified(
            [SimplifiedPage("<html><body></body></html>", 0), SimplifiedPage.of(page)]
        )
        assert (len(empty.main), empty.passes) == (0, 0)
        assert np.array_equal(again.main, labels.main)
        with pytest.raises(PageError) as caught:
            parallel.label_simplified([SimplifiedPage("<p>word</p>" * 3000, 3000)])
        assert caught.value.code is ErrorCode.LABELER_FAILED
        # The engine lives on.
        assert np.array_equal(parallel.label([page])[0].main, labels.main)

        # The common start of all prompts is computed once: a block of the cache has 128 tokens on a
        # CPU.
        new = SimplifiedPage('<html><body><p _item_id="1">New.</p></body></html>', 1)
        before = parallel.stats()
        parallel.label_simplified([new])
        assert parallel.stats()["passes"] == before["passes"] + 1
        length = len(parallel.encoder.job(parallel.encoder.windows(new)[0]).prompt_ids)
        assert parallel.stats()["tokens"] - before["tokens"] < length - 100
        # If it is seen again, its label does not come from tokens without logits.
        assert not np.isnan(parallel.label_simplified([new, new])[1].probability).any()


SCRIPT = """
import sys
from dripper.labels import load
from dripper.labels.base import SimplifiedPage
labeler = load("lm", model=sys.argv[1], dtype="float32", context_tokens=2000)
labeler.label_simplified([SimplifiedPage('<html><body><p _item_id="1">x</p></body></html>', 1)])
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.draw("end of a worker")
@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_nothing_is_left_behind(checkpoint: Path, python: str, killed: bool) -> None:
    """No process and no shared memory remains, however the worker ends."""
    worker = subprocess.Popen(
        [python, "-c", SCRIPT, str(checkpoint)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert worker.stdout is not None
    assert any("ready" in line for line in worker.stdout)
    assert children(worker.pid) == set()
    memory = shared_memory(of_session(worker.pid))
    if killed:
        worker.kill()
    worker.communicate()
    with pytest.raises(ProcessLookupError):
        os.killpg(worker.pid, 0)
    assert not [file for file in memory if file.exists()]


def children(pid: int) -> set[str]:
    tasks = Path(f"/proc/{pid}/task")
    return {child for task in tasks.iterdir() for child in (task / "children").read_text().split()}
