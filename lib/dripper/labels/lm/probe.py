"""Generates unrestricted answers with a checkpoint. Reports their separators, white space and
thinking, and the likeliest answer form.

Decoders force answers into the configured form, so a wrong form is never visible and only makes
labels worse.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dripper.errors import MachineError
from dripper.labels.lm.answer import FORMS, MAIN, AnswerForm
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.engine import generate, start_engine, stop_engine
from dripper.labels.lm.settings import LmSettings, import_extra
from dripper.labels.lm.template import HOLE, Templates

SCORED_BLOCKS = 40
"""Maximum number of blocks of a page that are scored. The limit saves memory, because vLLM also
returns a probability for every token of the prompt."""
SHOWN_CHARACTERS = 60

_THINKING = re.compile(r"\s*<think>(.*?)(?:</think>|\Z)", re.DOTALL)
_ITEM = re.compile(r"(\d+)(\W*)(main|other)")


@dataclass(frozen=True, slots=True)
class Written:
    """A checkpoint's unrestricted answer for one page."""

    thinking: str | None
    """Text between think tags; None if there are no think tags."""
    leading: str
    """White space before the answer."""
    answer: str
    form: str | None
    """The name of the answer's form; None if the form is unknown."""
    labels: int
    """Number of labels in the answer."""


def read_written(text: str) -> Written:
    """Return the parts of a free answer.

    >>> read_written('<think></think> 1main2oth')
    Written(thinking='', leading=' ', answer='1main2oth', form='compact', labels=1)
    """
    thinking = _THINKING.match(text)
    rest = text[thinking.end() :] if thinking else text
    answer = rest.lstrip()
    labels = [item[3] == MAIN for item in _ITEM.finditer(answer)]
    fitting = [
        form.name
        for form in FORMS.values()
        if labels and answer.startswith(form.text(labels).removesuffix(form.closing))
    ]
    leading = rest[: len(rest) - len(answer)]
    return Written(thinking[1] if thinking else None, leading, answer, fitting[0] if fitting else None, len(labels))


def separators(answers: Sequence[str]) -> Counter[tuple[str, str]]:
    """Count the separators between an id and its label, and between a label and the next id, in
    answers without a known form.

    >>> separators(["1 = main; 2 = other; 3 = "]).most_common(1)
    [((' = ', '; '), 1)]
    """
    counts = Counter[tuple[str, str]]()
    for answer in answers:
        items = list(_ITEM.finditer(answer))
        counts.update((one[2], answer[one.end() : two.start()]) for one, two in pairwise(items))
    return counts


class FreeDecoder:
    """Generates unrestricted answers with a checkpoint, and scores answers."""

    def __init__(self, engine: Any, encoder: PageEncoder) -> None:
        """engine: vLLM's `LLM` with the unmodified model."""
        self._engine = engine
        self._encoder = encoder

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "FreeDecoder":
        """Return the decoder with its engine started. Raises MachineError as `start_engine`
        does."""
        return cls(start_engine(encoder, settings), encoder)

    def close(self) -> None:
        """Stop the engine."""
        stop_engine(self._engine)

    def write(self, jobs: Sequence[Job], tokens: int) -> list[str]:
        """Return the model's greedy answer to each job. An answer has at most `tokens` tokens, and
        keeps its think tags."""
        parameters = self._parameters(max_tokens=tokens, skip_special_tokens=False)
        outputs = generate(self._engine, (job.prompt_ids for job in jobs), parameters)
        return [output.outputs[0].text for output in outputs]

    def likelihoods(self, jobs: Sequence[Job], form: AnswerForm) -> list[float]:
        """Return, for each job, the log probability per block of an answer in `form` that labels
        every block `other`. Only the first SCORED_BLOCKS blocks count, and only the text around
        their labels.
        """
        templates = Templates(form, self._encoder.tokenizer.encode, self._encoder.checkpoint.name)
        prompts, begins = [], []
        for job in jobs:
            template = templates.of(min(job.n_blocks, SCORED_BLOCKS))
            labels = templates.labels(np.zeros(len(template.holes), bool))
            prompts.append([*job.prompt_ids, *template.fill(labels)[: template.holes[-1] + 1]])
            begins.append((len(job.prompt_ids), template.tokens != HOLE, len(template.holes)))
        outputs = generate(self._engine, prompts, self._parameters(max_tokens=1, prompt_logprobs=0))
        return [
            # Leave out the labels, because they depend on the page and not on the form.
            sum(
                output.prompt_logprobs[begin + at][prompt[begin + at]].logprob
                for at in range(len(prompt) - begin)
                if fixed[at]
            )
            / n_blocks
            for output, prompt, (begin, fixed, n_blocks) in zip(outputs, prompts, begins, strict=True)
        ]

    def _parameters(self, **options: object) -> Any:
        return import_extra("vllm").SamplingParams(temperature=0, **options)


@dataclass(frozen=True, slots=True)
class Probe:
    """The findings about a checkpoint."""

    version: str
    set_form: str
    """The form in the settings."""
    written: Sequence[Written]
    likelihoods: Mapping[str, float]
    """Logarithm of each form's probability per block, averaged over pages."""

    @property
    def likeliest(self) -> str:
        """The name of the likeliest form."""
        return max(self.likelihoods, key=lambda name: self.likelihoods[name])

    @property
    def fits(self) -> bool:
        """Return whether the configured form is the likeliest."""
        return self.likeliest == self.set_form

    def report(self) -> str:
        """Return the report as lines of text."""
        lines = [f"{self.version}", "", f"free answers to {len(self.written)} pages:"]
        for one in self.written:
            thinking = "" if one.thinking is None else f"think tags with {len(one.thinking.strip())} characters, "
            lines.append(
                f"  {one.form or 'no known form'}: {one.labels} labels, {thinking}{one.leading!r} before "
                f"{one.answer[:SHOWN_CHARACTERS]!r}"
            )
        unknown = separators([one.answer for one in self.written if one.form is None])
        for (between, after), times in unknown.most_common(3):
            lines.append(f"  separators of no known form: id {between!r} label {after!r} id, {times} times")
        lines += ["", "how likely the model takes each form to be (logarithm a block, labels apart):"]
        for name, value in sorted(self.likelihoods.items(), key=lambda item: -item[1]):
            example = FORMS[name].text([True, False])
            lines.append(f"  {name:13} {value:9.3f}  {example!r}{'  <- set' if name == self.set_form else ''}")
        return "\n".join([*lines, "", self._advice()])

    def _advice(self) -> str:
        if self.fits:
            return f"labels.lm.answer={self.set_form} fits this checkpoint best."
        apart = self.likelihoods[self.likeliest] - self.likelihoods[self.set_form]
        return (
            f"labels.lm.answer={self.set_form} is set, and {self.likeliest} is likelier by {apart:.3f} a block: --set "
            f"labels.lm.answer={self.likeliest} (with the prompt that the weights were trained on)"
        )


def probe(encoder: PageEncoder, decoder: FreeDecoder, jobs: Sequence[Job], tokens: int) -> Probe:
    """Return a checkpoint's free answers to some jobs, and the likelihood of each form. Forms that
    the tokenizer cannot write are left out.

    Args:
        tokens: Maximum number of tokens in a free answer.
    """
    answers = [read_written(text) for text in decoder.write(jobs, tokens)]
    likelihoods = {}
    for name, form in FORMS.items():
        # The tokenizer may write a label as several tokens in this form.
        with suppress(MachineError):
            likelihoods[name] = float(np.mean(decoder.likelihoods(jobs, form)))
    return Probe(encoder.version, encoder.templates.form.name, answers, likelihoods)
