"""What is counted in the text of each leaf, so that a node's counts are sums over its leaves."""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import dripper.labels.cpu.features.characters as characters
from dripper.labels.arrays import HashArray, IntArray
from dripper.labels.cpu.features.characters import PageCharacters, hash_of
from dripper.labels.cpu.features.links import link_chars_before
from dripper.labels.web2text.leaves import Leaves
from dripper.labels.web2text.stop_words import STOP_WORDS
from dripper.markup.tree import Tree

COUNTS = (
    "characters", "words", "sentences", "punctuation", "numeric", "stop_words", "capitals", "word_length", "copyright",
    "email", "url", "year", "link_characters",
)  # fmt: skip
"""The columns of `LeafTexts.counts`. A leaf has one character at least, as in the published
code."""

# . , ? ; : ! and what stands for them in other scripts.
_PUNCTUATION = [characters.SENTENCE_END, characters.COMMA]
_DIGITS = [characters.DIGIT, characters.UNSPACED_DIGIT]
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s)|[。！？]+(?=.)")
_WORD_START = re.compile(r"\b[^\W\d_]")
_EMAIL = re.compile(r"\b[\w.+-]+@\w[\w-]*\.\w")
_URL = re.compile(r"\b(?:https?|ftp)://\S")
_YEAR, _YEAR_DIGITS = re.compile(r"\b\d{4}\b"), 4


@dataclass(frozen=True, slots=True)
class LeafTexts:
    """What the features are made of."""

    counts: IntArray
    """(n_leaves, len(COUNTS))."""
    ends_with_punctuation: npt.NDArray[np.bool_]
    ends_with_question: npt.NDArray[np.bool_]
    """Both: (n_leaves,)."""


def read_texts(tree: Tree, leaves: Leaves) -> LeafTexts:
    """Return the counts of some leaves; there must be one at least. Linear in their characters."""
    texts = leaves.texts
    page, n = PageCharacters.of(texts), len(texts)
    numeric = page.counts[:, _DIGITS].sum(axis=1)
    punctuation = page.counts[:, _PUNCTUATION].sum(axis=1)
    size = np.fromiter(map(len, texts), np.int64, n)
    counts = (
        np.maximum(size, 1), page.words, _counted(lambda text: len(_SENTENCE_END.findall(text)) + 1, texts, size > 0),
        punctuation, numeric, np.bincount(page.texts[_are_stop_words(page.hashes)], minlength=n),
        _counted(lambda text: sum(map(str.isupper, _WORD_START.findall(text))), texts, size > 0),
        np.bincount(page.texts, page.lengths, minlength=n), ["©" in text for text in texts],
        ["@" in text and _EMAIL.search(text) is not None for text in texts],
        ["://" in text and _URL.search(text) is not None for text in texts],
        _counted(lambda text: _YEAR.search(text) is not None, texts, numeric >= _YEAR_DIGITS),
        np.minimum(_characters_in_links(tree, leaves), size),
    )  # fmt: skip
    last = page.last
    return LeafTexts(
        np.stack([np.asarray(column, np.int64) for column in counts], axis=1),
        np.isin(last, _PUNCTUATION),
        np.array([text.endswith(("?", "？")) for text in texts], bool),
    )


def _counted(count: Callable[[str], int], texts: Sequence[str], wanted: npt.NDArray[np.bool_]) -> IntArray:
    """Return the count of each text that is wanted, else 0."""
    counts = np.zeros(len(texts), np.int64)
    for number in np.flatnonzero(wanted).tolist():
        counts[number] = count(texts[number])
    return counts


def _are_stop_words(hashes: HashArray) -> npt.NDArray[np.bool_]:
    known = _stop_hashes()
    found = np.minimum(known.searchsorted(hashes), len(known) - 1)
    return np.asarray(known[found] == hashes)


@functools.cache
def _stop_hashes() -> HashArray:
    return np.array(sorted(map(hash_of, STOP_WORDS)), np.uint64)


def _characters_in_links(tree: Tree, leaves: Leaves) -> IntArray:
    """Return how many characters of each leaf stand inside links, white space at the ends of a
    link's texts not counted."""
    before = np.array(link_chars_before(tree), np.int64)
    return np.asarray(before[leaves.last // 2 + 1] - before[(leaves.first + 1) // 2])
