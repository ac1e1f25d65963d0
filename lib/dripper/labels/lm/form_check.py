"""Warns if a checkpoint prefers an answer form other than the configured form.

A decoder forces answers into the configured form, so a wrong form is never visible and only makes
labels worse. The check uses the first token that differs between two forms. The difference of the
two tokens' logits is the logarithm of the ratio of their probabilities, and shows the form that the
model prefers. The decoder `parallel` reads these positions anyway, so its check costs only a few
more rows of the output matrix. `dripper lm probe` examines whole answers and reports more.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dripper.errors import MachineError
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.template import HOLE, Encode, Template, Templates

log = logging.getLogger(__name__)

CHECKED_PAGES = 8
"""Number of pages to check."""
LIKELIER = 1.0
"""Natural logarithm of the probability ratio that triggers the warning. For a trained checkpoint,
the ratios are far larger or far smaller."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another answer form, and the first position at which it differs from the configured form."""

    name: str
    at: int
    """Position in the answer, before the first label."""
    set_token: int
    """The token of the configured form at this position."""
    token: int
    """The token of the other form at this position."""


def find_rivals(set_form: str, template: Template, encode: Encode) -> list[Rival]:
    """Return the other forms that a tokenizer can write, each with the position at which it differs
    from the configured form. Forms that differ only after the first label are left out.

    Args:
        template: The template of the configured form for a page with one block.
    """
    rivals = []
    for name, form in FORMS.items():
        # The tokenizer may write a label as several tokens in this form.
        with suppress(MachineError):
            if name != set_form:
                other = Templates(form, encode).of(len(template.holes))
                parting = _parting(template.tokens.tolist(), other.tokens.tolist())
                if parting is not None:
                    rivals.append(Rival(name, *parting))
    return rivals


def _parting(written: Sequence[int], expected: Sequence[int]) -> tuple[int, int, int] | None:
    for at, (one, other) in enumerate(zip(written, expected, strict=False)):
        if HOLE in (one, other):
            # A label cannot be compared with another token, because the label is not known.
            return None
        if one != other:
            return at, one, other
    return None


class FormCheck:
    """Gathers evidence from the first pages, and warns at most once."""

    def __init__(self, version: str, set_form: str, rivals: Sequence[Rival], pages: int = CHECKED_PAGES) -> None:
        """version: the encoder's version, for the warning."""
        self.rivals = tuple(rivals)
        self._version = version
        self._set_form = set_form
        self.warning = ""
        """The warning. Empty if the check is not complete, or if the configured form is right."""
        self.wants = pages if rivals else 0
        """The number of pages still to check."""
        self._odds = defaultdict[str, list[float]](list)

    @classmethod
    def of(cls, encoder: PageEncoder) -> "FormCheck":
        """Return the check for an encoder's checkpoint and settings."""
        form = encoder.templates.form.name
        rivals = find_rivals(form, encoder.templates.of(1), encoder.tokenizer.encode)
        return cls(encoder.version, form, rivals)

    @property
    def tokens(self) -> list[int]:
        """The distinct tokens for which the check needs logits."""
        return list(dict.fromkeys(token for rival in self.rivals for token in (rival.set_token, rival.token)))

    def add(self, odds: Mapping[str, float]) -> None:
        """Add the evidence of a page.

        Args:
            odds: For each form, the logit of its token minus the logit of the configured form's
                token, at the first position at which the forms differ.
        """
        for name, value in odds.items():
            self._odds[name].append(value)
        self.wants -= 1
        if not self.wants:
            self._tell()

    def _tell(self) -> None:
        means = {name: float(np.mean(values)) for name, values in self._odds.items()}
        best = max(means, key=lambda name: means[name], default=None)
        if best is not None and means[best] > LIKELIER:
            times = float(np.exp(min(means[best], 100.0)))
            self.warning = (
                f"{self._version}: labels.lm.answer={self._set_form} is set, and on the first {len(self._odds[best])} "
                f"pages the model would rather begin to write {best}, which is {times:.3g} times likelier: run "
                "`dripper lm probe` on a few pages"
            )
            log.warning("%s", self.warning)
