"""The state machine of the labeler `lm` in transformers alone: label by label, with the model's own
attention and cache; the reference for the decoder in PyTorch without vLLM."""

from typing import Any

from dripper.labels.lm.encoder import Job
from dripper.labels.lm.fsm_rules import HOLE, Machine
from dripper.labels.lm.template import Templates


def write_answer(model: Any, job: Job, templates: Templates) -> list[bool]:
    """Return which blocks of a window are main: greedily, of the whole vocabulary under the mask of
    the machine. Between labels the machine leaves one token, so that these are read together."""
    import torch

    template = templates.of(job.n_blocks)
    answer = template.tokens[: template.holes[-1] + 1].tolist()
    machine = Machine(answer, templates.main, templates.other)
    read: list[int] = [*job.prompt_ids]
    cache, labels = None, list[bool]()
    with torch.inference_mode():
        for written, token in enumerate(answer):
            if token != HOLE:
                read.append(token)
                continue
            told = model(
                torch.tensor([read], device=model.device), past_key_values=cache, use_cache=True, logits_to_keep=1
            )
            logits, cache = told.logits[0, -1], told.past_key_values
            machine.mask(logits, written)
            read = [int(logits.argmax())]
            labels.append(read[0] == templates.main)
    return labels
