"""Converts the conversations that `dripper_lab.annotate sft` writes to token sequences."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dripper.errors import PageError
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.answer import MAIN, parse_answer
from dripper.labels.lm.windows import split_blocks

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Example:
    """One window, ready to train on."""

    page: str
    tokens: Sequence[int]
    answer: int
    """Position in `tokens` at which the answer begins."""
    labels: Sequence[int]
    """Positions of the answer's label tokens."""
    block_ends: Sequence[int]
    """Positions of the last token of each block on the page. Empty if a block was clipped within
    its tag."""


class Reader:
    """Reads conversations with the tokenizer of a checkpoint."""

    def __init__(self, tokenizer: Any) -> None:
        """`tokenizer` is a fast tokenizer of the package transformers."""
        self._tokenizer = tokenizer
        self._label_tokens = {tokenizer.convert_tokens_to_ids(label) for label in (MAIN, "other")}

    def read(self, file: Path, most: int, seed: int) -> Iterator[list[Example]]:
        """Yield some windows of each page in a file. The order of pages and windows is random, but
        the same for the same seed.

        Args:
            most: Maximum number of windows per page.
        """
        pages = defaultdict[str, list[str]](list)
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                pages[json.loads(line)["id"].rpartition("#")[0]].append(line)
        for drawn in draw_windows(list(pages.values()), most, seed):
            rows = [json.loads(line) for line in drawn]
            yield [
                self.example(row["id"].rpartition("#")[0], *(message["content"] for message in row["messages"]))
                for row in rows
            ]

    def example(self, page: str, html: str, answer: str) -> Example:
        """Return the example of a window. `page` is the page's name, `html` the window's simplified
        HTML, and `answer` the correct answer."""
        frame = {"tokenize": False, "enable_thinking": False}
        messages = [{"role": "user", "content": html}, {"role": "assistant", "content": answer}]
        question = self._tokenizer.apply_chat_template(messages[:1], add_generation_prompt=True, **frame)
        conversation = self._tokenizer.apply_chat_template(messages, add_generation_prompt=False, **frame)
        encoded = self._tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)
        answer_ids = self._tokenizer.encode(conversation[len(question) :], add_special_tokens=False)
        prompt = encoded["input_ids"]
        return Example(
            page,
            [*prompt, *answer_ids],
            len(prompt),
            [len(prompt) + at for at, token in enumerate(answer_ids) if token in self._label_tokens],
            _last_tokens(
                [end for _, end in encoded["offset_mapping"]], _block_ends(html, answer, question.index(html))
            ),
        )


def _block_ends(html: str, answer: str, start: int) -> list[int]:
    """Return the end of each block as a character position in the prompt. Return no positions if a
    block was clipped within its tag."""
    n_blocks = len(parse_answer(answer))
    try:
        texts = split_blocks(SimplifiedPage(html, n_blocks))
    except PageError:
        return []
    ends = np.cumsum([len(block) for block in texts.blocks]) + start + len(texts.head)
    return [int(end) for end in ends]


def _last_tokens(token_ends: Sequence[int], ends: Sequence[int]) -> list[int]:
    return [int(np.searchsorted(token_ends, end, side="right")) - 1 for end in ends]


def draw_windows(pages: Sequence[Sequence[T]], most: int, seed: int) -> Iterator[list[T]]:
    """Yield some windows of each page. The order of pages is random, but the same for the same
    seed.

    Args:
        most: Maximum number of windows per page.
    """
    draw = np.random.default_rng(seed)
    for page in draw.permutation(len(pages)):
        windows = pages[page]
        chosen = draw.permutation(len(windows))[:most]
        yield [windows[at] for at in chosen]
