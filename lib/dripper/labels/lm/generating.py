"""What decoders have in common whose engine writes the answer token by token: they differ in how it
is held to the template."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from dripper.errors import ErrorCode, PageError
from dripper.labels.lm.decoder import DecodedLabels
from dripper.labels.lm.encoder import Job
from dripper.labels.lm.engine import call_engine, stop_engine
from dripper.labels.lm.template import Template, Templates


class GeneratingDecoder(ABC):
    """Gives no probabilities: the sampler sees only which label won."""

    def __init__(self, engine: Any, templates: Templates) -> None:
        """engine: vLLM's LLM, with what `parameters` asks of it."""
        self._engine = engine
        self._templates = templates

    @abstractmethod
    def parameters(self, template: Template) -> Any:
        """Return vLLM's SamplingParams that hold an answer to `template`, up to its last label."""

    def decode(self, jobs: Sequence[Job]) -> list[DecodedLabels]:
        """Return one answer a job, in order."""
        templates = [self._templates.of(job.n_blocks) for job in jobs]
        prompts = [{"prompt_token_ids": list(job.prompt_ids)} for job in jobs]
        parameters = [self.parameters(one) for one in templates]
        outputs = call_engine(self._engine, lambda: self._engine.generate(prompts, parameters, use_tqdm=False))
        return [self._decode_output(output, template) for output, template in zip(outputs, templates, strict=True)]

    def close(self) -> None:
        """Stop the engine."""
        stop_engine(self._engine)

    def _decode_output(self, output: Any, template: Template) -> DecodedLabels:
        written = np.array(output.outputs[0].token_ids, np.int64)
        main = follow(written, template, self._templates)
        prompt = len(output.prompt_token_ids) - (output.num_cached_tokens or 0)
        return DecodedLabels(main, np.full(len(main), np.nan), len(written), prompt + len(written) - 1)


def follow(
    written: "np.ndarray[tuple[int], np.dtype[np.int64]]", template: Template, templates: Templates
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which blocks an answer's tokens say are main. Raises PageError (labeler_failed) where
    it left the template."""
    length = int(template.holes[-1]) + 1
    if len(written) >= length:
        main = written[template.holes] == templates.main
        if template.fill(templates.labels(main))[:length] == written[:length].tolist():
            return np.asarray(main)
    raise PageError(
        ErrorCode.LABELER_FAILED,
        f"the engine wrote {len(written)} tokens that are not an answer for {len(template.holes)} blocks",
    )
