"""Computes ROUGE-LSum like WCEB (SIGIR'23, 4.3): the union of the longest common subsequences,
sentence by sentence.

The results are the same as from the package rouge-score with WCEB's tokens, including ties in
backtracking. rouge-score fills tables of (ground truth tokens) × (predicted tokens) in Python,
which takes a minute for a long page. Here, each table row is a single integer, and the search stops
as soon as a true sentence is covered.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

from dripper.eval import PERFECT, ZERO, Score, ratios
from dripper_lab.extra import import_extra

# The most frequent abbreviations from NLTK's English model. WCEB uses the complete model. It is not
# on a package index, and a separate download would make builds depend on its availability.
ABBREVIATIONS = frozenset({
    "a.m", "apr", "aug", "ave", "co", "corp", "dec", "dr", "e.g", "etc", "feb", "gen", "gov", "i.e", "inc", "jan", "jr",
    "lt", "ltd", "mr", "mrs", "ms", "no", "nov", "oct", "p.m", "prof", "rep", "rev", "sen", "sept", "sr", "st", "u.k",
    "u.n", "u.s", "vs",
})  # fmt: skip


def rouge_lsum(prediction: str, truth: str) -> Score:
    """Return ROUGE-LSum over white space tokens. As in WCEB, an empty ground truth has recall 1,
    and two empty strings score 1."""
    return rouge_lsum_of(sentences(prediction), sentences(truth))


def sentences(text: str) -> list[list[str]]:
    """Split `text` into sentences of white space tokens."""
    return [tokens for sentence in _splitter().tokenize(text) if (tokens := sentence.split())]


def rouge_lsum_of(prediction: Sequence[Sequence[str]], truth: Sequence[Sequence[str]]) -> Score:
    """Return ROUGE-LSum for text that is already split into sentences of tokens."""
    if not truth:
        return PERFECT if not prediction else Score(0.0, 1.0, 0.0)
    if not prediction:
        return ZERO
    left_true = Counter(token for sentence in truth for token in sentence)
    left_predicted = Counter(token for sentence in prediction for token in sentence)
    n_true, n_predicted = left_true.total(), left_predicted.total()
    candidates = _Candidates(prediction)
    hits = 0
    for sentence in truth:
        for token in candidates.union_lcs(sentence):
            # As in ROUGE 1.5.5, a token counts at most as often as it occurs in either text.
            if left_predicted[token] > 0 and left_true[token] > 0:
                hits += 1
                left_predicted[token] -= 1
                left_true[token] -= 1
    return ratios(hits, n_predicted, n_true)


class _Candidates:
    """The predicted sentences, indexed so that each true sentence is compared with only a few of
    them."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        self._sentences = list(dict.fromkeys(map(tuple, sentences)))
        self._masks = [_masks(sentence) for sentence in self._sentences]
        self._whole = set(self._sentences)
        self._with: dict[str, list[int]] = defaultdict(list)
        for index, sentence in enumerate(self._sentences):
            for token in set(sentence):
                self._with[token].append(index)

    def union_lcs(self, true: Sequence[str]) -> list[str]:
        """Return the tokens of a true sentence that are on a longest common subsequence with any
        predicted sentence."""
        if tuple(true) in self._whole:
            return list(true)
        reachable = {index for index, token in enumerate(true) if token in self._with}
        shared = Counter(index for token in set(true) for index in self._with.get(token, ()))
        indexes: set[int] = set()
        for index, _ in shared.most_common():  # likeliest first: once all tokens are found the rest cannot add any
            indexes |= lcs_indexes(true, self._sentences[index], self._masks[index])
            if len(indexes) == len(reachable):
                break
        return [true[index] for index in sorted(indexes)]


def _masks(sentence: Sequence[str]) -> dict[str, int]:
    masks: dict[str, int] = defaultdict(int)
    for position, token in enumerate(sentence):
        masks[token] |= 1 << position
    return dict(masks)


def lcs_indexes(true: Sequence[str], predicted: Sequence[str], masks: dict[str, int] | None = None) -> set[int]:
    """Return the positions, in `true`, of the longest common subsequence. If there are several,
    choose the same one as rouge-score.

    Row i of the table of lengths is a bit vector (Hyyrö 2004): length(i, j) is the number of zeros
    among its j lowest bits.

    >>> sorted(lcs_indexes("the cat sat down".split(), "a cat lay down".split()))
    [1, 3]
    """
    masks = _masks(predicted) if masks is None else masks
    full = (1 << len(predicted)) - 1
    rows = [full]
    for token in true:
        row = rows[-1]
        common = row & masks.get(token, 0)
        rows.append(((row + common) | (row - common)) & full)
    i, j = len(true), len(predicted)
    indexes = set()
    while i and j:
        if true[i - 1] == predicted[j - 1]:
            i, j = i - 1, j - 1
            indexes.add(i)
        else:
            left = j - 1 - (rows[i] & ((1 << (j - 1)) - 1)).bit_count()
            above = j - (rows[i - 1] & ((1 << j) - 1)).bit_count()
            i, j = (i, j - 1) if left > above else (i - 1, j)
    return indexes


@cache
def _splitter() -> Any:
    punkt = import_extra("nltk.tokenize.punkt")
    parameters = punkt.PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return punkt.PunktSentenceTokenizer(parameters)
