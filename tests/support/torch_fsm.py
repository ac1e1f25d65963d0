"""The state machine of the labeler `lm` in transformers alone: token by token, with the model's own
attention and cache; what the decoders are held against where there is no vLLM."""

from collections.abc import Sequence
from typing import Any

from dripper.labels.lm.decoder import DecisionRule
from dripper.labels.lm.encoder import Job
from dripper.labels.lm.fsm_rules import Machine
from dripper.labels.lm.template import Templates


def write_answer(model: Any, job: Job, templates: Templates, decision: DecisionRule) -> list[bool]:
    """Return which blocks of a window are main: greedily, of the whole vocabulary under the mask of
    the machine."""
    import torch

    template = templates.of(job.n_blocks)
    answer = template.tokens[: template.holes[-1] + 1].tolist()
    machine = Machine(answer, templates.main, templates.other, decision.margin)
    read: Sequence[int] = job.prompt_ids
    cache, labels = None, list[bool]()
    with torch.inference_mode():
        for written, token in enumerate(answer):
            told = model(
                torch.tensor([read], device=model.device), past_key_values=cache, use_cache=True, logits_to_keep=1
            )
            logits, cache = told.logits[0, -1], told.past_key_values
            machine.mask(logits, written)
            chosen = int(logits.argmax())
            assert token in (chosen, -1)
            if token == -1:
                labels.append(chosen == templates.main)
            read = [chosen]
    return labels
