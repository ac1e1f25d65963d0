"""The requests of the decoder `parallel` and its use of the answers; the engine is a table of
logits."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dripper.errors import ErrorCode, PageError
from dripper.labels.lm import parallel
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.encoder import Job
from dripper.labels.lm.parallel import ParallelDecoder, Reading, cache_tokens, count_cached_tokens, margins_at, rounds
from dripper.labels.lm.template import Templates
from support.rows import Rows


def encode(text: str) -> list[int]:
    return [int(character, 16) for character in text.replace("main", "a").replace("other", "b")]


def logits(ids: Sequence[int]) -> Any:
    """A causal model: the logits at a position depend on the tokens up to it."""
    sums = np.cumsum(np.array(ids) * 7 % 5)
    return np.stack([np.sin(sums), np.cos(sums * 3)], 1)


class Engine:
    """A pooling engine with a prefix cache of blocks of 4 tokens, by salt; returns rows only for
    tokens that were not cached. It evicts the least recently used blocks if it would hold more than
    `capacity` blocks."""

    def __init__(self, capacity: int = 1 << 30) -> None:
        self.capacity = capacity
        self.cache: dict[tuple[str, tuple[int, ...]], None] = {}
        self.batches: list[int] = []

    def encode(self, inputs: list[dict[str, Any]], parameters: Any, **options: Any) -> list[Any]:
        assert options == {"pooling_task": "token_classify", "use_tqdm": False}
        assert parameters.skip_reading_prefix_cache is False
        self.batches.append(len(inputs))
        return [self._one(one["prompt_token_ids"], one.get("cache_salt", "")) for one in inputs]

    def _one(self, ids: list[int], salt: str) -> Any:
        blocks = [(salt, tuple(ids[:end])) for end in range(4, len(ids), 4)]
        cached = 4 * next((at for at, block in enumerate(blocks) if block not in self.cache), len(blocks))
        # As vLLM frees them: the last block of an input is forgotten first.
        for block in reversed(blocks):
            self.cache.pop(block, None)
            self.cache[block] = None
        for block in [*self.cache][: max(0, len(self.cache) - self.capacity)]:
            del self.cache[block]
        return SimpleNamespace(prompt_token_ids=ids, outputs=SimpleNamespace(data=Rows(logits(ids)[cached:])))


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
    monkeypatch.setattr(parallel, "import_extra", lambda _: SimpleNamespace(PoolingParams=SimpleNamespace))


def decoder_of(engine: Engine, cache_tokens: int = 1 << 30) -> ParallelDecoder:
    return ParallelDecoder(engine, Templates(FORMS["compact"], encode), cache_tokens)


def length(job: Job) -> int:
    return len(job.prompt_ids) + int(Templates(FORMS["compact"], encode).of(job.n_blocks).holes[-1])


INSTRUCTION = [5] * 20
JOBS = [Job([*INSTRUCTION, seed, 3, seed + 1], 1 + seed * 3 % 40) for seed in range(30)]


@pytest.mark.usefixtures("_vllm")
def test_the_state_machines_labels_from_the_cache_for_all_but_what_changed() -> None:
    engine = Engine()
    decoded = decoder_of(engine).decode(JOBS)
    for job, one in zip(JOBS, decoded, strict=True):
        assert one.main.tolist() == greedy(job, Templates(FORMS["compact"], encode))
        assert ((one.margins > 0) == one.main).all()
    assert max(one.passes for one in decoded) > 3
    assert engine.batches[0] == 30
    assert len(engine.batches) == max(one.passes for one in decoded)
    # The first page pays for the instruction, which all share; no pass of any page computes its own
    # beginning again.
    assert decoded[0].tokens == length(JOBS[0])
    for job, one in zip(JOBS[1:], decoded[1:], strict=True):
        first = length(job) - len(INSTRUCTION)
        assert first <= one.tokens <= first + (one.passes - 1) * (length(job) - len(INSTRUCTION))


@pytest.mark.usefixtures("_vllm")
def test_pages_seen_before_and_pages_seen_twice_in_a_batch_are_scored_apart() -> None:
    decoder = decoder_of(Engine())
    first = decoder.decode(JOBS)
    # The cache has every draft of the first call, and would hide the logits.
    for again in (decoder.decode(JOBS), decoder.decode([job for job in JOBS for _ in range(2)])[::2]):
        for one, two in zip(first, again, strict=True):
            assert np.array_equal(one.main, two.main)
            assert np.array_equal(one.margins, two.margins)
    # One pass that showed nothing, of less than a block; then all passes with a salt.
    job, once, twice = JOBS[13], first[13], decoder.decode(JOBS)[13]
    assert twice.passes == once.passes + 1
    assert length(job) < twice.tokens <= once.tokens + len(INSTRUCTION) + 4


@pytest.mark.usefixtures("_vllm")
def test_no_more_pages_share_a_pass_than_the_cache_can_hold() -> None:
    templates = Templates(FORMS["compact"], encode)
    tokens = 400
    small, large = Engine(capacity=tokens // 4), Engine()
    decoded = decoder_of(small, tokens).decode(JOBS)
    assert max(small.batches) < 30
    assert sum(one.tokens for one in decoded) == sum(one.tokens for one in decoder_of(large).decode(JOBS))
    # The cost with all pages in each pass.
    lockstep = decoder_of(Engine(capacity=tokens // 4)).decode(JOBS)
    assert sum(one.tokens for one in lockstep) > 1.5 * sum(one.tokens for one in decoded)
    assert all(np.array_equal(one.main, two.main) for one, two in zip(decoded, lockstep, strict=True))

    readings = [Reading(job, templates.of(job.n_blocks)) for job in JOBS]
    groups = list(rounds(readings, tokens))
    assert [reading for group in groups for reading in group] == readings
    held = [sum(one.length + len(one.template.tokens) for one in group) for group in groups]
    assert all(size <= tokens for size in held)
    assert all(
        size + after[0].length + len(after[0].template.tokens) > tokens
        for size, after in zip(held, groups[1:], strict=False)
    )
    assert [len(group) for group in rounds(readings, 1)] == [1] * 30
    assert list(rounds([], 1)) == []


@pytest.mark.usefixtures("_vllm")
def test_a_page_begins_with_the_draft_that_it_has() -> None:
    plain = decoder_of(Engine()).decode(JOBS)
    drafted = [Job(job.prompt_ids, job.n_blocks, one.main.tolist()) for job, one in zip(JOBS, plain, strict=True)]
    again = decoder_of(Engine()).decode(iter(drafted))
    assert {one.passes for one in again} == {1}
    assert all(np.array_equal(one.margins, two.margins) for one, two in zip(plain, again, strict=True))


@pytest.mark.usefixtures("_vllm")
def test_what_tokenizing_raises_is_raised() -> None:
    def jobs() -> Iterator[Job]:
        yield JOBS[0]
        raise PageError(ErrorCode.LABELER_FAILED, "no number")

    with pytest.raises(PageError, match="no number"):
        decoder_of(Engine()).decode(jobs())


def test_the_size_of_an_engines_cache() -> None:
    config = SimpleNamespace(cache_config=SimpleNamespace(num_gpu_blocks=100, block_size=16))
    assert cache_tokens(SimpleNamespace(llm_engine=SimpleNamespace(vllm_config=config))) == 1600


def test_logits_that_the_cache_hid_are_never_taken_for_others() -> None:
    output = SimpleNamespace(prompt_token_ids=range(10), outputs=SimpleNamespace(data=Rows(np.zeros((4, 2)))))
    assert count_cached_tokens(output) == 6
    assert margins_at(output, np.array([6, 9])).tolist() == [0, 0]
    with pytest.raises(PageError, match="no logits for 6 cached tokens, the first open label stands at 5"):
        margins_at(output, np.array([5, 9]))
