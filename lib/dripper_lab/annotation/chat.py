"""Asks a large language model about one page: it sends the guidelines and the page, and asks once
more if the answer is malformed."""

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
"""The maximum number of characters of an answer in an error message."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """A model at an OpenAI-compatible endpoint. Thread-safe."""

    api: Api
    model: str
    guidelines: str
    body: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields for each request, such as a temperature."""

    def answer(self, page: str, text: str, n_blocks: int, used: Counter[str]) -> Answer:
        """Return the model's answer about a page.

        Args:
            text: The rendered page.
            used: Counts requests and tokens.

        Raises:
            PageError: (labeler_failed) Both answers are malformed, or the endpoint rejects the
                page.
            MachineError: The endpoint rejects this client or is unreachable.
        """
        messages = [{"role": "system", "content": self.guidelines}, {"role": "user", "content": text}]
        reply = self._ask(messages, used)
        try:
            return self._read(reply, page, n_blocks)
        except InputError as error:
            again = _AGAIN.format(reason=error, page=page)
            messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": again}]
        reply = self._ask(messages, used)
        try:
            return self._read(reply, page, n_blocks)
        except InputError as error:
            raise PageError(ErrorCode.LABELER_FAILED, f"twice no answer in form: {error}") from None

    def _ask(self, messages: Sequence[Mapping[str, str]], used: Counter[str]) -> str:
        reply = self.api.post("chat/completions", {"model": self.model, "messages": list(messages), **self.body})
        usage = reply.get("usage")
        for name in ("prompt_tokens", "completion_tokens"):
            used[name] += int((usage if isinstance(usage, Mapping) else {}).get(name) or 0)
        used["requests"] += 1
        try:
            content = reply["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise PageError(ErrorCode.LABELER_FAILED, f"no answer in the reply: {str(reply)[:_SHOWN]}") from None
        return content if isinstance(content, str) else ""

    def _read(self, reply: str, page: str, n_blocks: int) -> Answer:
        answer = last_object(reply)
        if str(answer.get("page", page)).strip() != page:
            raise InputError(f"it is about page {answer['page']}, and {page} was asked for")
        return answer_of({**answer, "annotator": self.model}, n_blocks, page)


def last_object(text: str) -> dict[str, Any]:
    """Return the last JSON object in `text`. Some models write their reasoning before the answer,
    or put the answer into a code fence.

    Raises InputError if there is none.

    >>> last_object('<think>{"kind": …</think> ```{"kind": "form"}```')
    {'kind': 'form'}
    """
    for match in reversed(_OBJECT.findall(text)):
        try:
            value = json.loads(match)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    raise InputError(f"there is no JSON object in {text[:_SHOWN]!r}")
