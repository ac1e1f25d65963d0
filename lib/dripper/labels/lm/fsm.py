"""The decoder `fsm`: the state machine of the paper (3.4), token by token, as a vLLM logits processor.

Slow, and exact by construction: what the other decoders are tested against.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dripper.config import LmSettings
from dripper.errors import ErrorCode, PageError
from dripper.labels.lm.decision import Decision
from dripper.labels.lm.decoder import Decoded
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.engine import require, run, start_engine, stop_engine, uses_model_runner_v2
from dripper.labels.lm.optional import load
from dripper.labels.lm.template import Template, Templates

# Where the processor classes lie, by model runner; as text, so that vLLM's process can import them too.
PROCESSORS = {False: "dripper.labels.lm.fsm_v1:StateMachine", True: "dripper.labels.lm.fsm_v2:StateMachine"}


class FsmDecoder:
    """See the module. Gives no probabilities: the sampler sees only which label won."""

    def __init__(self, engine: Any, templates: Templates, decision: Decision) -> None:
        """engine: vLLM's LLM with the state machine among its logits processors."""
        self._engine = engine
        self._templates = templates
        self._decision = decision

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "FsmDecoder":
        """Return the decoder with its engine started. Raises MachineError, see `start_engine`."""
        require(settings, "vllm.v1.sample.logits_processor", "LogitsProcessor")
        processor = PROCESSORS[uses_model_runner_v2(encoder, settings)]
        engine = start_engine(encoder, settings, logits_processors=[processor])
        return cls(engine, encoder.templates, Decision(settings.threshold, settings.temperature))

    def decode(self, jobs: Sequence[Job]) -> list[Decoded]:
        """Return one answer a job, in order."""
        templates = [self._templates.of(job.n_blocks) for job in jobs]
        prompts = [{"prompt_token_ids": list(job.prompt_ids)} for job in jobs]
        parameters = [self._parameters(one) for one in templates]
        outputs = run(self._engine, lambda: self._engine.generate(prompts, parameters, use_tqdm=False))
        return [self._decoded(output, template) for output, template in zip(outputs, templates, strict=True)]

    def close(self) -> None:
        """Stop the engine."""
        stop_engine(self._engine)

    def _parameters(self, template: Template) -> Any:
        """After the last label the answer holds nothing that is not known."""
        answer = template.tokens[: template.holes[-1] + 1].tolist()
        machine = {
            "dripper_answer": answer,
            "dripper_labels": [self._templates.main, self._templates.other],
            "dripper_margin": self._decision.margin,
        }
        return load("vllm").SamplingParams(
            temperature=0, max_tokens=len(answer), ignore_eos=True, detokenize=False, extra_args=machine
        )

    def _decoded(self, output: Any, template: Template) -> Decoded:
        written = np.array(output.outputs[0].token_ids, np.int64)
        main = follow(written, template, self._templates)
        prompt = len(output.prompt_token_ids) - (output.num_cached_tokens or 0)
        return Decoded(main, np.full(len(main), np.nan), len(written), prompt + len(written) - 1)


def follow(
    written: "np.ndarray[tuple[int], np.dtype[np.int64]]", template: Template, templates: Templates
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which blocks an answer's tokens say are main. Raises PageError (labeler_failed) where it left the template."""
    length = int(template.holes[-1]) + 1
    if len(written) >= length:
        main = written[template.holes] == templates.main
        if template.filled(templates.labels(main))[:length] == written[:length].tolist():
            return np.asarray(main)
    raise PageError(
        ErrorCode.LABELER_FAILED,
        f"the engine wrote {len(written)} tokens that are not an answer for {len(template.holes)} blocks",
    )
