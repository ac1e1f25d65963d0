"""Saves the state of training at intervals, so that a stopped run can be resumed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 180.0
"""Approximate number of seconds between two saves."""


@dataclass(slots=True)
class Progress:
    """Saves the state of a training run to a file, and restores it."""

    path: Path
    means: Sequence[Any] = ()
    """More tensors to save, in addition to the model's."""
    seconds: float = SECONDS
    _saved: float = 0.0

    def load(self, model: Any, optimizer: Any, schedule: Any) -> int:
        """Load the saved state into the arguments, and return the number of finished steps; 0 if
        there is no file."""
        import torch

        self._saved = time.monotonic()
        if not self.path.is_file():
            return 0
        state = torch.load(self.path, map_location=next(model.parameters()).device, weights_only=True)
        model.load_state_dict(state["model"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["random"].cpu())
        for mean, saved in zip(self.means, state["means"], strict=True):
            mean.copy_(saved)
        return int(state["steps"])

    def save(self, model: Any, optimizer: Any, schedule: Any, steps: int, *, is_last: bool = False) -> None:
        """Save the state if `is_last`, or if the last save was more than `seconds` ago. `steps` is
        the number of finished steps."""
        import torch

        if not is_last and time.monotonic() - self._saved < self.seconds:
            return
        state = {
            "model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(),
            "random": torch.get_rng_state(), "means": list(self.means), "steps": steps,
        }  # fmt: skip
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        torch.save(state, fresh)
        fresh.replace(self.path)
        self._saved = time.monotonic()
