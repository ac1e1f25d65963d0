"""The state machine for vLLM's Model Runner V2. This runner is the default on GPUs, and does not
support the V1 interface.

The tests compare this module with `fsm_rules` on tensors. This module has not been run in the
runner itself, which needs Triton and therefore a GPU. docs/labeler_lm.md has a command for such a
run. All rows are masked together on the device. With speculative decoding, a request has a row for
every draft token.
"""

from typing import Any

import torch
from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext, LogitsProcessor

from dripper.labels.lm.fsm_rules import HOLE, check_arguments, machine_of

# Marks a slot without a template in the table of answers.
FREE = -2


class StateMachine(LogitsProcessor):  # type: ignore[misc,unused-ignore]
    """Leaves exactly one possible token in each row of logits, if the row's request has a
    template."""

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        """Called by vLLM."""
        slots, device = req_states.max_num_reqs, req_states.device
        self._states = req_states
        length = vllm_config.model_config.max_model_len
        self._answers = torch.full((slots, length), FREE, dtype=torch.int32, device=device)
        self._prompts = torch.zeros(slots, dtype=torch.long, device=device)
        self._labels = torch.zeros((slots, 2), dtype=torch.long, device=device)

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Raise ValueError for an invalid template. vLLM calls this when a request arrives."""
        check_arguments(sampling_params.extra_args)

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Set up a slot for a new request. Return whether the request has a template."""
        machine = machine_of(sampling_params.extra_args)
        self._answers[req_idx] = FREE
        if machine is None:
            return False
        answer = torch.tensor(machine.answer, dtype=torch.int32, device=self._answers.device)
        # Beyond the end of the answer, the last token is repeated, as in V1.
        self._answers[req_idx] = answer[-1]
        self._answers[req_idx, : len(answer)] = answer
        self._prompts[req_idx] = int(self._states.prompt_len.np[req_idx])
        self._labels[req_idx] = torch.tensor([machine.main, machine.other], device=self._labels.device)
        return True

    def apply(self, logits: torch.Tensor, ctx: LogitsContext) -> torch.Tensor:
        """Return the masked logits, shape (rows, vocabulary)."""
        slots = ctx.expanded_idx_mapping.long()
        # A row predicts the token after its position; the answer follows the prompt.
        lengths = (ctx.pos.long() + 1 - self._prompts[slots]).clamp_(0, self._answers.shape[1] - 1)
        tokens = self._answers[slots, lengths].long()
        main, other = self._labels[slots].unbind(1)
        wins = (logits.gather(1, main[:, None]) - logits.gather(1, other[:, None]))[:, 0] > 0
        tokens = torch.where(tokens == HOLE, torch.where(wins, main, other), tokens)
        index = tokens.clamp(min=0)[:, None]
        masked = torch.full_like(logits, -float("inf")).scatter_(1, index, logits.gather(1, index))
        return torch.where((tokens == FREE)[:, None], logits, masked)
