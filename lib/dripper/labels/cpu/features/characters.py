"""Computes character classes and word hashes for all strings of a page together.

The strings are joined into one array of code points. Words begin and end at changes of the
character class. A word is stored as a 64-bit hash of its lower-case characters, because a Python
object per word would be slow.

If a C compiler was available during installation (see setup.py), `characters_c.c` replaces the
loops. Results are the same.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import HashArray, IntArray
from dripper.labels.words import UNSPACED_RANGES

try:
    from dripper.labels.cpu.features import characters_c as characters_c

    IN_C = True
except ImportError:
    IN_C = False

(
    CONTROL, SPACE, LINE, PUNCTUATION, SENTENCE_END, COMMA, DIGIT, UPPER, LOWER, OTHER_LETTER, NUMERAL, UNSPACED,
    UNSPACED_DIGIT,
) = range(13)  # fmt: skip
"""The character classes. Characters of the classes from DIGIT on form words. From UNSPACED on, each
character is a separate word."""
N_CLASSES = 16
"""Number of classes, rounded up to a power of two, so that numpy needs no division."""

_SENTENCE_ENDS = frozenset(".!?。！？…")
_COMMAS = frozenset(",;:،、，；：")
# Beyond the CJK extensions (up to U+3347F) there are no letters, only variation selectors and
# private-use characters, which share one class.
_CODE_POINTS = 0x34000
# Many pages have only code points below this limit, and need only small tables. Building the tables
# for all code points takes 70 ms.
_FEW = 0x3000
# Base of the word hashes, a random odd number. Odd numbers have an inverse modulo 2^64.
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)


@dataclass(frozen=True, slots=True)
class PageCharacters:
    """The characters and words of a page's text."""

    counts: IntArray
    """(n_texts, N_CLASSES), number of characters in each class."""
    first: npt.NDArray[np.uint8]
    last: npt.NDArray[np.uint8]
    """`first` and `last`: (n_texts,), class of the first and the last character (LINE for an empty
    text)."""
    hashes: HashArray
    lengths: IntArray
    texts: IntArray
    """`hashes`, `lengths` and `texts`: (n_words,), the hash of each word, its number of characters,
    and the index of the text that contains the word."""
    words: IntArray
    """(n_texts,), number of words in each text, as `words_of` counts them (except for 'İ', which
    Python lower-cases to two characters)."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> "PageCharacters":
        """Read the strings in `texts`, in time linear in the number of characters. `texts` must not
        be empty, but its strings may be."""
        return cls(*(_read_in_c if IN_C else _read)(texts))


def hash_word(word: str) -> int:
    """Return the hash that :class:`PageCharacters` gives a lower-case word."""
    return sum(ord(character) * pow(_BASE, place, 1 << 64) for place, character in enumerate(word)) % (1 << 64)


def _read_in_c(texts: Sequence[str]) -> tuple[npt.NDArray[Any], ...]:
    found = characters_c.read(list(texts), *_build_tables(_FEW), False)
    found = found or characters_c.read(list(texts), *_build_tables(_CODE_POINTS), True)
    types = (np.int64, np.uint8, np.int64, np.uint64, np.int64, np.int64)
    counts, edges, words, *of_words = map(np.frombuffer, found or (), types)
    return counts.reshape(-1, N_CLASSES), edges[::2], edges[1::2], *of_words, words


def _read(texts: Sequence[str]) -> tuple[npt.NDArray[Any], ...]:
    codes = np.frombuffer("\n".join([*texts, ""]).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.intp)
    class_of, lower_of = _build_tables(_FEW if codes.max() < _FEW else _CODE_POINTS)
    classes, lower = class_of.take(codes, mode="clip"), lower_of.take(codes, mode="clip")
    sizes = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    ends = np.cumsum(sizes)
    text_of = np.repeat(np.arange(len(texts)), sizes)
    counts = np.bincount(text_of * N_CLASSES + classes, minlength=len(texts) * N_CLASSES)
    counts = counts.reshape(len(texts), N_CLASSES)
    counts[:, LINE] -= 1
    starts, stops = _find_words(classes)
    owner = text_of[starts]
    first, last = classes[ends - sizes], classes[np.maximum(ends - 2, ends - sizes)]
    words = np.bincount(owner, minlength=len(texts))
    return counts, first, last, _hash_words(lower, starts, stops), stops - starts, owner, words


def _find_words(classes: npt.NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
    """Return the positions at which words begin and end (exclusive). The last character, a line
    feed, belongs to no word."""
    is_word, alone = classes >= DIGIT, classes >= UNSPACED
    changes = np.ones(len(classes) + 1, bool)
    np.not_equal(is_word[1:], is_word[:-1], out=changes[1:-1])
    if alone.any():
        changes[1:-1] |= alone[1:] | alone[:-1]
    return np.flatnonzero(changes[:-1] & is_word), np.flatnonzero(changes[1:] & is_word) + 1


def _hash_words(lower: npt.NDArray[np.uint32], starts: IntArray, stops: IntArray) -> HashArray:
    """Return the hash of every word: the sum of its characters times powers of a base, computed
    from running sums.

    All arithmetic is modulo 2^64, because unsigned integers wrap.
    """
    powers, inverses = (_build_powers(base, 1 << (len(lower) - 1).bit_length()) for base in (_BASE, _INVERSE))
    sums = np.zeros(len(lower) + 1, np.uint64)
    np.cumsum(lower * powers[: len(lower)], out=sums[1:])
    hashes: HashArray = (sums[stops] - sums[starts]) * inverses[starts]
    return hashes


# Sizes are powers of two, so pages of similar length share a table. A page of 8 million characters
# needs two tables of 64 MB each.
@functools.lru_cache(maxsize=16)
def _build_powers(base: int, count: int) -> HashArray:
    factors = np.full(count, base, np.uint64)
    factors[0] = 1
    powers: HashArray = np.cumprod(factors)
    return powers


@functools.cache
def _build_tables(count: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """Return the class and the lower-case form (its first character) of the first `count` code
    points."""
    characters = list(map(chr, range(count)))
    classes = np.fromiter(map(_classify, characters), np.uint8, count)
    for first, last in UNSPACED_RANGES:
        part = classes[ord(first) : ord(last) + 1]
        part[part > DIGIT] = UNSPACED
        part[part == DIGIT] = UNSPACED_DIGIT
    return classes, np.fromiter((ord(each.lower()[0]) for each in characters), np.uint32, count)


def _classify(character: str) -> int:
    if character.isalpha():
        return UPPER if character.isupper() else LOWER if character.islower() else OTHER_LETTER
    if character.isdigit():
        return DIGIT
    if character.isspace():
        return LINE if character == "\n" else SPACE
    if character in _SENTENCE_ENDS:
        return SENTENCE_END
    if character in _COMMAS:
        return COMMA
    if character.isalnum():
        return NUMERAL
    return PUNCTUATION if character.isprintable() else CONTROL
