"""Applies the state machine to one row of logits, for both of vLLM's logits processor
interfaces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HOLE = -1


@dataclass(frozen=True, slots=True)
class Machine:
    """The state machine of one request.

    answer: the tokens to write, with HOLE for each label. main, other: the label tokens."""

    answer: Sequence[int]
    main: int
    other: int

    def mask(self, logits: Any, written: int) -> None:
        """Leave only one possible token in a row of logits, a tensor of shape (vocabulary,).

        Args:
            written: The number of tokens written so far.
        """
        token = self.answer[min(written, len(self.answer) - 1)]
        if token == HOLE:
            token = self.main if float(logits[self.main] - logits[self.other]) > 0 else self.other
        logit = logits[token].clone()
        logits.fill_(-float("inf"))
        logits[token] = logit


def machine_of(arguments: Mapping[str, Any] | None) -> Machine | None:
    """Return the state machine that a request's `extra_args` describe; None for requests without a
    template."""
    if not arguments or "dripper_answer" not in arguments:
        return None
    main, other = arguments["dripper_labels"]
    return Machine(arguments["dripper_answer"], main, other)


def check_arguments(arguments: Mapping[str, Any] | None) -> None:
    """Raise ValueError if `extra_args` contain an invalid template."""
    try:
        machine = machine_of(arguments)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"dripper_answer without fitting dripper_labels: {error}") from None
    if machine is not None and not machine.answer:
        raise ValueError("dripper_answer is empty")
