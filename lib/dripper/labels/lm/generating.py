"""The decoder `fsm`: the engine writes the answer token by token, and the paper's state machine
(3.4) restricts the answer to the template.

Slow, but exact by construction. The tests of the other decoders use this decoder as the reference.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dripper.errors import ErrorCode, PageError
from dripper.labels.lm.decoder import DecodedLabels
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.engine import generate, require, start_engine, stop_engine, uses_model_runner_v2
from dripper.labels.lm.form_check import FormCheck
from dripper.labels.lm.settings import LmSettings, import_extra
from dripper.labels.lm.template import Template, Templates

# Import paths of the processor classes. The key is whether the model runner is V2. Paths are text,
# so that vLLM's process can import the classes too.
PROCESSORS = {False: "dripper.labels.lm.fsm_v1:StateMachine", True: "dripper.labels.lm.fsm_v2:StateMachine"}


class FsmDecoder:
    """Decodes token by token. Gives no probabilities, because only the winning label is known."""

    def __init__(self, engine: Any, templates: Templates, form_check: FormCheck | None = None) -> None:
        """engine: vLLM's `LLM` with the state machine among its logits processors."""
        self._engine = engine
        self._templates = templates
        self.form_check = form_check

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "FsmDecoder":
        """Return the decoder with its engine started. Raises MachineError as `start_engine`
        does."""
        require(settings, "vllm.v1.sample.logits_processor", "LogitsProcessor")
        processor = PROCESSORS[uses_model_runner_v2(encoder, settings)]
        engine = start_engine(encoder, settings, logits_processors=[processor])
        return cls(engine, encoder.templates, FormCheck.of(encoder))

    def parameters(self, template: Template) -> Any:
        """Return the SamplingParams that restrict an answer to `template`. The answer ends with the
        last label, because the text after it is fixed."""
        answer = template.tokens[: template.holes[-1] + 1].tolist()
        machine = {
            "dripper_answer": answer,
            "dripper_labels": [self._templates.main, self._templates.other],
        }
        return import_extra("vllm").SamplingParams(
            temperature=0, max_tokens=len(answer), ignore_eos=True, detokenize=False, extra_args=machine
        )

    def decode(self, jobs: Iterable[Job]) -> list[DecodedLabels]:
        """Return one answer per job, in order."""
        jobs = list(jobs)
        templates = [self._templates.of(job.n_blocks) for job in jobs]
        parameters = [self.parameters(one) for one in templates]
        if self.form_check is not None and self.form_check.wants:
            self._check_form(self.form_check, jobs)
        outputs = generate(self._engine, (job.prompt_ids for job in jobs), parameters)
        return [self._decode_output(output, template) for output, template in zip(outputs, templates, strict=True)]

    def close(self) -> None:
        """Stop the engine."""
        stop_engine(self._engine)

    def _check_form(self, check: FormCheck, jobs: Sequence[Job]) -> None:
        """Add the evidence of some pages to the check. vLLM returns log probabilities for only the
        likeliest tokens. Any other token gets the lowest of these values."""
        places = sorted({rival.at for rival in check.rivals})
        looked = jobs[: check.wants]
        beginning = self._templates.of(1).tokens
        prompts = ([*job.prompt_ids, *beginning[:at].tolist()] for job in looked for at in places)
        parameters = import_extra("vllm").SamplingParams(temperature=0, max_tokens=1, logprobs=LIKELIEST)
        outputs = iter(generate(self._engine, prompts, parameters))
        for _ in looked:
            logprobs = {at: next(outputs).outputs[0].logprobs[0] for at in places}
            likely = {at: {token: one.logprob for token, one in of.items()} for at, of in logprobs.items()}
            check.add(
                {
                    rival.name: _likely(likely[rival.at], rival.token) - _likely(likely[rival.at], rival.set_token)
                    for rival in check.rivals
                }
            )

    def _decode_output(self, output: Any, template: Template) -> DecodedLabels:
        token_ids = np.array(output.outputs[0].token_ids, np.int64)
        main = follow(token_ids, template, self._templates)
        prompt = len(output.prompt_token_ids) - (output.num_cached_tokens or 0)
        return DecodedLabels(main, np.full(len(main), np.nan), len(token_ids), prompt + len(token_ids) - 1)


def follow(
    written: "np.ndarray[tuple[int], np.dtype[np.int64]]", template: Template, templates: Templates
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which blocks are main according to an answer's tokens. Raises PageError
    (labeler_failed) if the answer does not follow the template."""
    length = int(template.holes[-1]) + 1
    if len(written) >= length:
        main = written[template.holes] == templates.main
        if template.fill(templates.labels(main))[:length] == written[:length].tolist():
            return np.asarray(main)
    raise PageError(
        ErrorCode.LABELER_FAILED,
        f"the engine wrote {len(written)} tokens that are not an answer for {len(template.holes)} blocks",
    )


LIKELIEST = 20
"""Number of most probable tokens per position for which vLLM returns probabilities. This is vLLM's
default limit."""


def _likely(logprobs: Mapping[int, float], token: int) -> float:
    return logprobs.get(token, min(logprobs.values()))
