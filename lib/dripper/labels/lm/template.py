"""The answer in the tokens of one model: fixed tokens, and a hole for every label. This is the
paper's state machine (3.4), unrolled.

Because each label is one token, the number of written tokens is the machine's state.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from dripper.errors import MachineError
from dripper.labels.arrays import IntArray
from dripper.labels.lm.answer import AnswerForm

Encode = Callable[[str], list[int]]
HOLE = -1
# These lengths cover ids of one, two and three digits, and tokenizers that join up to three digits
# into one token.
_CHECKED_LENGTHS = (1, 12, 123)


@dataclass(frozen=True, slots=True)
class Template:
    """The answer for a page of N blocks."""

    tokens: IntArray
    """(length,) int64, with HOLE in place of each label."""
    holes: IntArray
    """(N,) int64, the positions of the labels."""

    def fill(self, labels: IntArray) -> list[int]:
        """Return the tokens with the N label tokens in the holes."""
        tokens = self.tokens.copy()
        tokens[self.holes] = labels
        return list(map(int, tokens))


class Templates:
    """All templates of an answer form for one tokenizer.

    main, other: the label tokens. Raises MachineError if the tokenizer does not write each label as
    a single token that is the same at every position. Without this property, no decoder could score
    a label in one pass.
    """

    def __init__(self, form: AnswerForm, encode: Encode, model: str = "") -> None:
        """encode: converts text to token ids, without special tokens. model: the model's name, for
        messages."""
        self.form = form
        # An answer has thousands of pieces, but few of them are distinct.
        self._encode = encode if form.token is None else cache(encode)
        self._model = model or "this model"
        tokens = self._encode_answer([True]), self._encode_answer([False])
        differing = [pair for pair in zip(*tokens, strict=False) if pair[0] != pair[1]]
        if len(tokens[0]) != len(tokens[1]) or len(differing) != 1:
            raise self._unfit("its tokenizer does not write `main` and `other` as one token each")
        self.main, self.other = differing[0]
        for length in _CHECKED_LENGTHS:
            self._check(length)

    def of(self, n_blocks: int) -> Template:
        """Return the template for a page of n_blocks >= 1 blocks. In addition to the digits of its
        number, each block takes 5 tokens in JSON form, or 1 token in compact form."""
        main = np.array(self._encode_answer([True] * n_blocks), np.int64)
        other = np.array(self._encode_answer([False] * n_blocks), np.int64)
        if len(main) != len(other):
            raise self._unfit(f"an answer for {n_blocks} blocks has no fixed length")
        holes = np.flatnonzero(main != other)
        tokens = np.where(main == other, main, HOLE)
        if len(holes) != n_blocks or {*main[holes]} != {self.main} or {*other[holes]} != {self.other}:
            raise self._unfit(f"an answer for {n_blocks} blocks has {len(holes)} places for labels")
        return Template(tokens, holes)

    def labels(self, main: npt.NDArray[np.bool_]) -> IntArray:
        """Return the label token for each value of `main`, in the same shape."""
        return np.where(main, self.main, self.other)

    def _check(self, length: int) -> None:
        """Raise MachineError if the tokens of an answer with mixed labels differ from the template
        in more than the labels."""
        mixed = np.arange(length) % 3 == 1
        if self.of(length).fill(self.labels(mixed)) != self._encode_answer(mixed.tolist()):
            raise self._unfit("its tokenizer writes a label in other tokens when the label before it changes")

    def _encode_answer(self, main: Sequence[bool]) -> list[int]:
        pieces = self.form.pieces(self.form.text(main))
        return [token for piece in pieces for token in self._encode(piece)]

    def _unfit(self, reason: str) -> MachineError:
        return MachineError(f"{self._model} cannot label blocks in the answer form {self.form.name!r}: {reason}")
