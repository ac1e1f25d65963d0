"""What the decoder `parallel` asks of an engine and takes from its answers; the engine is a table of logits."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dripper.errors import PageError
from dripper.labels.lm import parallel
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.decision import Decision
from dripper.labels.lm.encoder import Job
from dripper.labels.lm.parallel import ParallelDecoder, unsettled_margins
from dripper.labels.lm.template import Templates


def encode(text: str) -> list[int]:
    return [int(character, 16) for character in text.replace("main", "a").replace("other", "b")]


class Rows:
    """What torch gives: a tensor that knows `float` and `numpy`."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def float(self) -> "Rows":
        return self

    def numpy(self) -> Any:
        return self._rows


def logits(ids: Sequence[int]) -> Any:
    """A causal model: the logits at a position depend on the tokens up to it."""
    sums = np.cumsum(np.array(ids) * 7 % 5)
    return np.stack([np.sin(sums), np.cos(sums * 3)], 1)


class Engine:
    """A pooling engine with a prefix cache of blocks of 4 tokens, by salt; returns rows only for what it did not have."""

    def __init__(self) -> None:
        self.cache: set[tuple[str, tuple[int, ...]]] = set()
        self.batches: list[int] = []

    def encode(self, inputs: list[dict[str, Any]], parameters: Any, **options: Any) -> list[Any]:
        assert options == {"pooling_task": "token_classify", "use_tqdm": False}
        assert parameters.skip_reading_prefix_cache is False
        self.batches.append(len(inputs))
        return [self._one(one["prompt_token_ids"], one["cache_salt"]) for one in inputs]

    def _one(self, ids: list[int], salt: str) -> Any:
        ends = range(4, len(ids), 4)
        cached = max((end for end in ends if (salt, tuple(ids[:end])) in self.cache), default=0)
        self.cache |= {(salt, tuple(ids[:end])) for end in ends}
        return SimpleNamespace(
            prompt_token_ids=ids,
            num_cached_tokens=cached,
            outputs=SimpleNamespace(data=Rows(logits(ids)[cached:])),
        )


def greedy(job: Job, templates: Templates) -> list[bool]:
    ids, labels = list(job.prompt_ids), []
    for token in templates.of(job.n_blocks).tokens:
        if token == -1:
            main, other = logits(ids)[-1]
            labels.append(bool(main > other))
            token = templates.main if labels[-1] else templates.other
        ids.append(int(token))
    return labels


@pytest.fixture
def _vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "load", lambda _: SimpleNamespace(PoolingParams=SimpleNamespace))


@pytest.mark.usefixtures("_vllm")
def test_the_state_machines_labels_with_a_cache_that_hides_logits() -> None:
    templates = Templates(FORMS["compact"], encode)
    engine = Engine()
    decoder = ParallelDecoder(engine, templates, Decision())
    jobs = [Job([seed, 3, seed + 1], 1 + seed * 3 % 40) for seed in range(30)]
    for _ in range(2):
        # The second time the cache holds every draft of the first: only the salt keeps them apart.
        decoded = decoder.decode(jobs)
        for job, one in zip(jobs, decoded, strict=True):
            assert one.main.tolist() == greedy(job, templates)
            assert ((one.margins > 0) == one.main).all()
            length = len(job.prompt_ids) + int(templates.of(job.n_blocks).holes[-1])
            assert length <= one.tokens <= one.passes * length
    assert max(one.passes for one in decoded) > 3
    assert engine.batches[0] == 30
    assert len(engine.batches) == 2 * max(one.passes for one in decoded)


def test_logits_that_the_cache_hid_are_never_taken_for_others() -> None:
    output = SimpleNamespace(prompt_token_ids=range(10), outputs=SimpleNamespace(data=Rows(np.zeros((4, 2)))))
    assert unsettled_margins(output, np.array([6, 9])).tolist() == [0, 0]
    with pytest.raises(PageError, match="no logits for 6 cached tokens, the first open label stands at 5"):
        unsettled_margins(output, np.array([5, 9]))
