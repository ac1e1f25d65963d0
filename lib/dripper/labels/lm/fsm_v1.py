"""The state machine for vLLM's V1 logits processor interface (V1 model runner).

vLLM imports this module by name inside its process; importing it needs vLLM and torch.
"""

from typing import Any

import torch
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor, MoveDirectionality

from dripper.labels.lm.fsm_rules import Machine, check_arguments, machine_of


class StateMachine(LogitsProcessor):  # type: ignore[misc,unused-ignore]
    """Leaves exactly one possible token in each row of logits, if the row's request has a
    template."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        """Called by vLLM."""
        # For each row of the batch: the machine, and the list of output tokens, which vLLM extends.
        self._rows: dict[int, tuple[Machine, list[int]]] = {}

    @classmethod
    def validate_params(cls, params: Any) -> None:
        """Raise ValueError for an invalid template. vLLM calls this when a request arrives."""
        check_arguments(params.extra_args)

    def is_argmax_invariant(self) -> bool:
        """Return False, because greedy sampling needs this processor too."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Update the rows of the batch: process removed, then added, then moved requests, as vLLM
        prescribes."""
        if batch_update is None:
            return
        for row in batch_update.removed:
            self._rows.pop(row, None)
        for row, params, _prompt, output in batch_update.added:
            self._rows.pop(row, None)
            if (machine := machine_of(params.extra_args)) is not None:
                self._rows[row] = (machine, output)
        for source, target, direction in batch_update.moved:
            moved_row, other = self._rows.pop(source, None), self._rows.pop(target, None)
            if moved_row is not None:
                self._rows[target] = moved_row
            if other is not None and direction is MoveDirectionality.SWAP:
                self._rows[source] = other

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Mask the entries of `logits`, shape (rows, vocabulary), and return the same tensor.

        Only the length of the output is used, because its last entries can be placeholders if
        scheduling is asynchronous.
        """
        for row, (machine, output) in self._rows.items():
            machine.mask(logits[row], len(output))
        return logits
