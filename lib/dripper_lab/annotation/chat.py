"""One page put to a large language model: the guidelines, the page, and one more try where the
answer is not in form."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dripper.errors import ErrorCode, InputError, PageError
from dripper.labels.lm.api import Api
from dripper_lab.annotation.answers import Answer, answer_of

_OBJECT = re.compile(r"\{[^{}]*\}")
_AGAIN = (
    "That is not an answer in form: {reason}. Answer again, with one JSON object and nothing else, such as "
    '{{"page": "{page}", "kind": "article", "main": "4-9,12", "sure": 2}}'
)
_SHOWN = 200
"""Characters of an answer that an error shows."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """A model at an OpenAI-compatible endpoint. Thread-safe."""

    api: Api
    model: str
    guidelines: str
    body: Mapping[str, Any] = field(default_factory=dict)
    """What else goes into each request, such as a temperature."""

    def answer(self, page: str, text: str, n_blocks: int, used: Counter[str]) -> Answer:
        """Return the model's answer about a page.

        Args:
            text: What an annotator reads.
            used: Tokens are counted into it. Raises PageError (labeler_failed) where two
                answers are not in form or the endpoint refuses the page, MachineError where it
                refuses us or is gone.
        """
        messages = [{"role": "system", "content": self.guidelines}, {"role": "user", "content": text}]
        said = self._ask(messages, used)
        try:
            return self._read(said, page, n_blocks)
        except InputError as error:
            again = _AGAIN.format(reason=error, page=page)
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": again}]
        said = self._ask(messages, used)
        try:
            return self._read(said, page, n_blocks)
        except InputError as error:
            raise PageError(ErrorCode.LABELER_FAILED, f"twice no answer in form: {error}") from None

    def _ask(self, messages: Sequence[Mapping[str, str]], used: Counter[str]) -> str:
        told = self.api.post("chat/completions", {"model": self.model, "messages": list(messages), **self.body})
        usage = told.get("usage")
        for name in ("prompt_tokens", "completion_tokens"):
            used[name] += int((usage if isinstance(usage, Mapping) else {}).get(name) or 0)
        used["requests"] += 1
        try:
            said = told["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise PageError(ErrorCode.LABELER_FAILED, f"no answer in the reply: {str(told)[:_SHOWN]}") from None
        return said if isinstance(said, str) else ""

    def _read(self, said: str, page: str, n_blocks: int) -> Answer:
        told = last_object(said)
        if str(told.get("page", page)).strip() != page:
            raise InputError(f"it is about page {told['page']}, and {page} was asked for")
        return answer_of({**told, "annotator": self.model}, n_blocks, page)


def last_object(said: str) -> dict[str, Any]:
    """Return the last JSON object of a free text: a model may think aloud first, or put a fence
    around it.

    Raises InputError where there is none.

    >>> last_object('<think>{"kind": …</think> ```{"kind": "form"}```')
    {'kind': 'form'}
    """
    for found in reversed(_OBJECT.findall(said)):
        try:
            told = json.loads(found)
        except ValueError:
            continue
        if isinstance(told, dict):
            return told
    raise InputError(f"there is no JSON object in {said[:_SHOWN]!r}")
