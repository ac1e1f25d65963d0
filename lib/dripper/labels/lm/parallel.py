"""The decoder `parallel`: the fixed point of `fixed_point.py`, scored by vLLM's pooling runner.

vLLM turns the causal model into a token classifier whose head is the two rows of the output matrix for `main` and `other`
(`classifier_from_token`): every position of a prompt gives two logits, and the vocabulary of 152,000 is never scored. From
the second pass on, a page's keys and values come from the prefix cache up to the first label that changed.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dripper.config import LmSettings
from dripper.errors import ErrorCode, PageError
from dripper.labels.lm.decision import Decision, FloatArray
from dripper.labels.lm.decoder import Decoded
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.engine import require, run, start_engine, stop_engine
from dripper.labels.lm.fixed_point import Draft, settle
from dripper.labels.lm.optional import load
from dripper.labels.lm.template import Template, Templates

TASK = "token_classify"


class ParallelDecoder:
    """See the module. `decode` is deterministic up to the engine's own rounding, which depends on the batch."""

    def __init__(self, engine: Any, templates: Templates, decision: Decision) -> None:
        """engine: vLLM's LLM with the pooling runner and the two-row head."""
        self._engine = engine
        self._templates = templates
        self._decision = decision
        # A page that is labelled twice would find its own later drafts in the cache, and vLLM returns no logits for what
        # it takes from there. With a salt of its own, a decoding sees only what its own passes have put there.
        self._salts = itertools.count()

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "ParallelDecoder":
        """Return the decoder with its engine started. Raises MachineError, see `start_engine`."""
        # A field that vLLM marks as internal: a version without it would compute whole pages anew in every pass.
        require(settings, "vllm.pooling_params", "PoolingParams.skip_reading_prefix_cache")
        labels = [encoder.tokenizer.token(token) for token in (encoder.templates.main, encoder.templates.other)]
        engine = start_engine(
            encoder,
            settings,
            runner="pooling",
            convert="classify",
            hf_overrides={"classifier_from_token": labels, "method": "no_post_processing"},
            pooler_config={"task": TASK, "use_activation": False},
            # There is no token-by-token decoding whose launches a CUDA graph would save.
            enforce_eager=True,
        )
        return cls(engine, encoder.templates, Decision.of(settings))

    def decode(self, jobs: Sequence[Job]) -> list[Decoded]:
        """Return one answer a job, in order."""
        templates = [self._templates.of(job.n_blocks) for job in jobs]
        salts = [f"{next(self._salts)}" for _ in jobs]
        tokens = [0] * len(jobs)

        def score(drafts: Sequence[Draft]) -> list[FloatArray]:
            inputs = [
                self._input(jobs[draft.page], templates[draft.page], draft, salts[draft.page]) for draft in drafts
            ]
            scored = []
            for draft, output in zip(drafts, self._encode(inputs), strict=True):
                tokens[draft.page] += len(output.prompt_token_ids) - (output.num_cached_tokens or 0)
                first = len(jobs[draft.page].prompt_ids) - 1
                scored.append(unsettled_margins(output, templates[draft.page].holes[draft.settled :] + first))
            return scored

        drafts = settle([job.n_blocks for job in jobs], score, self._decision)
        return [Decoded(draft.main, draft.margins, draft.passes, tokens[draft.page]) for draft in drafts]

    def close(self) -> None:
        """Stop the engine."""
        stop_engine(self._engine)

    def _input(self, job: Job, template: Template, draft: Draft, salt: str) -> dict[str, object]:
        """The logits of a label stand at the token before it: the last label itself need not be there."""
        answer = template.filled(self._templates.labels(draft.main))[: template.holes[-1]]
        return {"prompt_token_ids": [*job.prompt_ids, *answer], "cache_salt": salt}

    def _encode(self, inputs: Sequence[dict[str, object]]) -> Sequence[Any]:
        parameters = load("vllm").PoolingParams(task=TASK, use_activation=False, skip_reading_prefix_cache=False)
        return run(
            self._engine,
            lambda: self._engine.encode(list(inputs), parameters, pooling_task=TASK, use_tqdm=False),
        )


def unsettled_margins(output: Any, positions: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> FloatArray:
    """Return the margins at token positions of a vLLM pooling output, whose rows cover only what the cache did not have.

    Raises PageError (labeler_failed) where one of them came from the cache: then the labels cannot be trusted.
    """
    rows = output.outputs.data.float().numpy()
    cached = len(output.prompt_token_ids) - len(rows)
    if positions[0] < cached:
        raise PageError(
            ErrorCode.LABELER_FAILED,
            f"vLLM returned no logits for {cached} cached tokens, the first open label stands at {positions[0]}",
        )
    logits = rows[positions - cached].astype(np.float64)
    return np.asarray(logits[:, 0] - logits[:, 1])
