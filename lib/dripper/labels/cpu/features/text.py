"""Computes features of each block's text: characters, sentences, dates, words.

A regular expression finds the dates in each text. All other features are computed from the
arrays of :class:`PageCharacters`.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import dripper.labels.cpu.features.characters as characters
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.features.characters import PageCharacters
from dripper.labels.cpu.features.vocabulary import NAMES as WORD_NAMES
from dripper.labels.cpu.features.vocabulary import compute_word_features
from dripper.tree.head import Hints

# A year, a time or date in digits, or an ideographic date. The pattern begins with a character
# class, so that the search can skip text without digits in C.
_DATE = re.compile(r"\d(?:(?:(?<=\b1)9|(?<=\b2)0)\d\d\b|\d?[:./-]\d{2}|\s*[年月日])")

_CHARACTER_NAMES = (
    "log_chars", "log_words", "chars_per_word", "punctuation", "digits", "upper", "unspaced", "other_letters", "sentences",
    "commas", "ends_sentence", "ends_punctuation", "starts_upper", "log_lines",
)  # fmt: skip
NAMES = (*_CHARACTER_NAMES, "date", *WORD_NAMES)

_NO_HINTS = Hints()
_PUNCTUATION = [characters.PUNCTUATION, characters.SENTENCE_END, characters.COMMA, characters.NUMERAL]
_IS_PUNCTUATION = np.isin(np.arange(characters.N_CLASSES), _PUNCTUATION)
_DIGITS = [characters.DIGIT, characters.UNSPACED_DIGIT]


def compute_text_features(
    texts: Sequence[str], title: str, hints: Hints = _NO_HINTS
) -> tuple[npt.NDArray[np.float32], IntArray]:
    """Return the features that `NAMES` lists, shape (n_blocks, len(NAMES)), and the number of words
    in each block.

    `texts` must not be empty.
    """
    # Title and hints are read as additional strings, so that their words are hashed like all
    # others.
    page = PageCharacters.of([*texts, title, hints.description, hints.body])
    n_blocks = len(texts)
    dates = np.zeros((n_blocks, 1))
    with_digits = np.flatnonzero(page.counts[:n_blocks, _DIGITS].any(axis=1))
    dates[with_digits, 0] = [_DATE.search(texts[block], 0, 200) is not None for block in with_digits.tolist()]
    features = np.concatenate(
        [_compute_character_features(page, n_blocks), dates, compute_word_features(texts, page)],
        axis=1,
        dtype=np.float32,
    )
    return features, page.words[:n_blocks]


def _compute_character_features(page: PageCharacters, n_blocks: int) -> FloatArray:
    counts, words = page.counts[:n_blocks], page.words[:n_blocks]
    lengths = counts.sum(axis=1)
    chars = np.maximum(lengths, 1)
    return np.array(
        [
            np.log1p(lengths), np.log1p(words), np.minimum(chars / np.maximum(words, 1), 20) / 10,
            counts[:, _PUNCTUATION].sum(axis=1) / chars, counts[:, _DIGITS].sum(axis=1) / chars,
            counts[:, characters.UPPER] / chars, counts[:, characters.UNSPACED] / chars,
            counts[:, characters.OTHER_LETTER] / chars, np.log1p(counts[:, characters.SENTENCE_END]),
            np.log1p(counts[:, characters.COMMA]), page.last[:n_blocks] == characters.SENTENCE_END,
            _IS_PUNCTUATION[page.last[:n_blocks]], page.first[:n_blocks] == characters.UPPER,
            np.log1p(counts[:, characters.LINE]),
        ]
    ).T  # fmt: skip
