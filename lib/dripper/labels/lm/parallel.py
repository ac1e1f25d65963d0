"""The decoder `parallel`: decodes all labels of a page in a few passes. The result equals the state
machine's greedy answer. The passes run in vLLM's pooling runner, or in PyTorch alone
(`labels.lm.in_torch`).

vLLM turns the causal model into a token classifier. The classifier's head is two rows of the output
matrix, for `main` and `other` (`classifier_from_token`). Every position of a prompt gives two
logits, and the vocabulary of 152,000 tokens is never scored. The prefix cache holds the instruction
at the beginning of all prompts and, from a page's second pass on, the page up to the first changed
label.

The algorithm fills every hole with a draft label, scores all holes in one pass, replaces the drafts
with the labels that score higher, and repeats. A label depends only on the labels before it. If the
first label to change is at hole j, the labels up to and including j are therefore the greedy labels
(by induction over passes). If no label changes, all labels are greedy. A page with N blocks takes
at most N passes; 2 to 13 were observed. The state machine takes hundreds to thousands. This is
Jacobi decoding (Santilli et al. 2023, "Accelerating Transformer Inference for Translation via
Parallel Decoding") with holes as positions.

The algorithm gets scores from a function, so the tests run it on random score tables without an
engine.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dripper.errors import ErrorCode, PageError
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.lm.decoder import DecodedLabels
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.engine import call_engine, require, start_engine, stop_engine
from dripper.labels.lm.form_check import FormCheck
from dripper.labels.lm.settings import LmSettings, import_extra
from dripper.labels.lm.template import Template, Templates
from dripper.labels.streams import ahead, pack


@dataclass(slots=True)
class Draft:
    """A page that is being decoded."""

    page: int
    """The page's index in the batch."""
    main: npt.NDArray[np.bool_]
    """(N,), the labels so far."""
    margins: FloatArray
    """(N,), logit of main minus logit of other, from the last pass that scored the hole."""
    settled: int = 0
    """Number of labels that are final."""
    passes: int = 0
    """Number of passes so far."""

    @property
    def done(self) -> bool:
        """Return whether all labels are final."""
        return self.settled == len(self.main)

    def update(self, margins: FloatArray) -> None:
        """Update the draft with the result of a pass.

        Args:
            margins: (N - settled,), the margins of the unsettled holes, given this draft.
        """
        self.passes += 1
        self.margins[self.settled :] = margins
        scored = margins > 0
        changed = np.flatnonzero(scored != self.main[self.settled :])
        self.main[self.settled :] = scored
        self.settled = self.settled + int(changed[0]) + 1 if len(changed) else len(self.main)


MarginScorer = Callable[[Sequence[Draft]], Sequence[FloatArray]]
"""Scores a batch of drafts. Returns, for each draft, the margins of the unsettled holes in order,
shape (N - settled,)."""


def decode_to_fixed_point(
    sizes: Sequence[int],
    score: MarginScorer,
    first: Sequence[Sequence[bool] | None] | None = None,
) -> list[Draft]:
    """Return the settled drafts of a batch of pages, in order. All pages that are not done share
    each pass.

    Args:
        sizes: Number of blocks per page.
        first: The draft that each page begins with. If None, every label in the draft is `other`,
            which is right for most blocks. The draft affects the number of passes, not the result.
    """
    drafts = [
        Draft(page, np.zeros(size, bool) if draft is None else np.array(draft, bool), np.zeros(size))
        for page, (size, draft) in enumerate(zip(sizes, first or [None] * len(sizes), strict=True))
    ]
    while live := [draft for draft in drafts if not draft.done]:
        for draft, margins in zip(live, score(live), strict=True):
            draft.update(margins)
    return drafts


TASK = "token_classify"
AHEAD = 256
"""Number of pages that are tokenized in advance, while the engine works on earlier pages."""


@dataclass(slots=True)
class Reading:
    """A job that the engine is processing."""

    job: Job
    template: Template
    salt: str = ""
    """Text that keeps the job's cache entries apart from the entries of other pages. If it is
    empty, pages share their entries."""
    passes: int = 0
    """Number of forward passes so far."""
    tokens: int = 0
    """Number of tokens processed in these passes, without tokens from the cache."""
    slot: int = 0
    """Position in the cache at which the job's keys and values begin, if the engine assigns
    positions."""

    @property
    def length(self) -> int:
        """Number of input tokens. The last label is not among them, because a label's logits are at
        the token before the label."""
        return len(self.job.prompt_ids) + int(self.template.holes[-1])

    def ids(self, labels: IntArray) -> list[int]:
        """Return the tokens to read.

        Args:
            labels: (N,), the label tokens.
        """
        return [*self.job.prompt_ids, *self.template.fill(labels)][: self.length]

    def input(self, labels: IntArray) -> dict[str, object]:
        """Return vLLM's prompt. labels: as in `ids`."""
        return {"prompt_token_ids": self.ids(labels)} | ({"cache_salt": self.salt} if self.salt else {})

    def open(self, draft: Draft) -> IntArray:
        """Return the positions of the unsettled labels' logits."""
        return self.template.holes[draft.settled :] + (len(self.job.prompt_ids) - 1)


class ParallelDecoder:
    """The decoder `parallel`; see the module. `decode` is deterministic except for the engine's
    rounding, which depends on the batch."""

    def __init__(
        self,
        engine: Any,
        templates: Templates,
        cache_tokens: int,
        form_check: FormCheck | None = None,
    ) -> None:
        """engine: vLLM's `LLM` with the pooling runner and a head that scores main, other, and each
        of the check's tokens. cache_tokens: number of tokens for which the cache has room."""
        self.form_check = form_check
        self._engine = engine
        self._templates = templates
        self._cache_tokens = cache_tokens
        self._salts = itertools.count(1)

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "ParallelDecoder":
        """Return the decoder with its engine started. Raises MachineError as `start_engine`
        does."""
        # vLLM marks this field as internal. A version without the field would recompute whole pages
        # in every pass.
        require(settings, "vllm", "PoolingParams.skip_reading_prefix_cache")
        check = FormCheck.of(encoder)
        rows = (encoder.templates.main, encoder.templates.other, *check.tokens)
        engine = start_engine(
            encoder,
            settings,
            runner="pooling",
            convert="classify",
            hf_overrides={
                "classifier_from_token": [encoder.tokenizer.token(token) for token in rows],
                "method": "no_post_processing",
            },
            pooler_config={"task": TASK, "use_activation": False},
            # CUDA graphs save kernel launches only in token-by-token decoding, which is not used
            # here.
            enforce_eager=True,
        )
        return cls(engine, encoder.templates, cache_tokens(engine), check)

    def decode(self, jobs: Iterable[Job]) -> list[DecodedLabels]:
        """Return one answer per job, in order."""
        # Prompts and templates both need the tokenizer, which only one thread at a time can use.
        readings = ahead((Reading(job, self._templates.of(job.n_blocks)) for job in jobs), AHEAD)
        return [decoded for some in rounds(readings, self._cache_tokens) for decoded in self._decode_together(some)]

    def close(self) -> None:
        """Stop the engine."""
        stop_engine(self._engine)

    def _decode_together(self, readings: Sequence[Reading]) -> list[DecodedLabels]:
        def score(drafts: Sequence[Draft]) -> list[FloatArray]:
            return self._margins([readings[draft.page] for draft in drafts], drafts)

        jobs = [reading.job for reading in readings]
        drafts = decode_to_fixed_point([job.n_blocks for job in jobs], score, [job.draft for job in jobs])
        return [
            DecodedLabels(draft.main, draft.margins, reading.passes, reading.tokens)
            for reading, draft in zip(readings, drafts, strict=True)
        ]

    def _margins(self, readings: Sequence[Reading], drafts: Sequence[Draft]) -> list[FloatArray]:
        """Return, for each draft, the margins of the labels that are not final yet.

        vLLM returns no logits for cached tokens. If a page was labelled before, or is in a batch
        twice, its earlier drafts are in the cache. Such a page is scored again with a new salt.
        After that, it uses only the cache entries of its own passes.
        """
        outputs = self._encode(readings, drafts)
        if self.form_check is not None and self.form_check.wants:
            for reading, output in zip(readings, outputs, strict=True):
                first = len(reading.job.prompt_ids) - 1 - count_cached_tokens(output)
                # Check only the first pass, and only if the needed tokens did not come from the
                # cache.
                if reading.passes == 1 and first >= 0:
                    check_form(self.form_check, output.outputs.data[first:].float().numpy())
        hidden = [
            at for at, draft in enumerate(drafts) if readings[at].open(draft)[0] < count_cached_tokens(outputs[at])
        ]
        for at in hidden:
            readings[at].salt = f"{next(self._salts)}"
        again = self._encode([readings[at] for at in hidden], [drafts[at] for at in hidden]) if hidden else []
        for at, output in zip(hidden, again, strict=True):
            outputs[at] = output
        return [
            margins_at(output, reading.open(draft))
            for output, reading, draft in zip(outputs, readings, drafts, strict=True)
        ]

    def _encode(self, readings: Sequence[Reading], drafts: Sequence[Draft]) -> list[Any]:
        inputs = [
            reading.input(self._templates.labels(draft.main)) for reading, draft in zip(readings, drafts, strict=True)
        ]
        parameters = import_extra("vllm").PoolingParams(
            task=TASK, use_activation=False, skip_reading_prefix_cache=False
        )
        outputs = call_engine(
            self._engine,
            lambda: self._engine.encode(inputs, parameters, pooling_task=TASK, use_tqdm=False),
        )
        for reading, output in zip(readings, outputs, strict=True):
            reading.passes += 1
            reading.tokens += len(output.outputs.data)
        return list(outputs)


def cache_tokens(engine: Any) -> int:
    """Return the number of tokens for which an engine can hold keys and values."""
    cache = engine.llm_engine.vllm_config.cache_config
    return int(cache.num_gpu_blocks * cache.block_size)


def rounds(readings: Iterable[Reading], tokens: int) -> Iterator[list[Reading]]:
    """Yield the readings, in order, in groups that fit into the engine's cache. A reading that is
    larger than the cache gets its own group.

    All pages of a group share each pass. If a group did not fit, every page would be evicted from
    the cache before its next pass, and recomputed. A GPU with 24 GB holds 170,000 tokens of a 0.6B
    model, about 30 pages. Answers count twice, because the previous draft is in the cache too.
    """
    return pack(readings, lambda reading: reading.length + len(reading.template.tokens), tokens)


def count_cached_tokens(output: Any) -> int:
    """Return how many tokens in a vLLM pooling output came from the cache. The output has one row
    per token that did not come from the cache."""
    return len(output.prompt_token_ids) - len(output.outputs.data)


def margins_at(output: Any, positions: IntArray) -> FloatArray:
    """Return the margins at some token positions in a vLLM pooling output.

    Raises PageError (labeler_failed) if one of the positions came from the cache, because such
    positions have no logits.
    """
    cached = count_cached_tokens(output)
    if positions[0] < cached:
        raise PageError(
            ErrorCode.LABELER_FAILED,
            f"vLLM returned no logits for {cached} cached tokens, the first open label stands at {positions[0]}",
        )
    logits = output.outputs.data.float().numpy()[positions - cached].astype(np.float64)
    return np.asarray(logits[:, 0] - logits[:, 1])


def check_form(check: FormCheck, logits: npt.NDArray[np.floating[Any]]) -> None:
    """Add the evidence of a page's first pass to the check, if the check still needs pages.

    Args:
        logits: (positions, tokens). The first position is the prompt's last token. The tokens are
            main, other and the check's tokens.
    """
    if check.wants:
        column = {token: at for at, token in enumerate(check.tokens, 2)}
        check.add(
            {
                rival.name: float(logits[rival.at, column[rival.token]] - logits[rival.at, column[rival.set_token]])
                for rival in check.rivals
            }
        )
