"""Warns if a checkpoint prefers another answer form to the one that is set.

A decoder holds the answer to its form, so a wrong one never shows, only costs labels. Two forms are
alike up to some token, and there the model has a preference: the difference of the logits of both
tokens is the logarithm of the ratio of their probabilities. If the set form is written anyway, that
costs only a few rows of the output matrix. `dripper lm probe` looks at whole answers, and says
more.
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
"""Pages of the first batch."""
LIKELIER = 1.0
"""Natural logarithm of the ratio that triggers the warning; the forms of a trained checkpoint are
far apart."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another form, and the place at which it differs from the form that is set."""

    name: str
    at: int
    """Position in the answer, before the first label."""
    set_token: int
    """There, of the form that is set."""
    token: int
    """There, of the other."""


def find_rivals(set_form: str, template: Template, encode: Encode) -> list[Rival]:
    """Return the other forms that a tokenizer can write, and the place at which each differs from
    the set form. Forms that differ only after the first label are left out.

    Args:
        template: Of the set form, for a page of one block.
    """
    rivals = []
    for name, form in FORMS.items():
        # The tokenizer writes a label in several tokens there.
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
            # A label here and something else there cannot be compared: the label is not known.
            return None
        if one != other:
            return at, one, other
    return None


class FormCheck:
    """Gathers the evidence of the first pages, and warns once."""

    def __init__(self, version: str, set_form: str, rivals: Sequence[Rival], pages: int = CHECKED_PAGES) -> None:
        """version: of the checkpoint, for the warning."""
        self.rivals = tuple(rivals)
        self._version = version
        self._set_form = set_form
        self.warning = ""
        """The warning that was given; empty until then, and if the set form fits."""
        self.wants = pages if rivals else 0
        """The number of pages that are still to be checked."""
        self._odds = defaultdict[str, list[float]](list)

    @classmethod
    def of(cls, encoder: PageEncoder) -> "FormCheck":
        """Return the check of a checkpoint with its settings."""
        form = encoder.templates.form.name
        rivals = find_rivals(form, encoder.templates.of(1), encoder.tokenizer.encode)
        return cls(encoder.version, form, rivals)

    @property
    def tokens(self) -> list[int]:
        """The tokens for which it needs logits, each once."""
        return list(dict.fromkeys(token for rival in self.rivals for token in (rival.set_token, rival.token)))

    def add(self, odds: Mapping[str, float]) -> None:
        """Take in a page.

        Args:
            odds: By form, the logit of its token less the logit of the set form's token, at their
                first difference.
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
