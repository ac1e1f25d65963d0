"""Overlaps of texts and blocks beside ROUGE-N: words, edits, labels; 0 to 1, higher is better."""

from collections import Counter

import numpy as np
import numpy.typing as npt

from dripper.eval import PERFECT, WORD, Score, ratios


def word_f1(prediction: str, truth: str) -> Score:
    """Return the overlap of bags of lower-case words, as WCXB publishes it (its evaluate.py). Order
    does not count.

    Empty against empty scores 1. Chinese runs are single words here, as there.
    """
    predicted, true = (Counter(WORD.findall(text.lower())) for text in (prediction, truth))
    if not predicted and not true:
        return PERFECT
    return ratios((predicted & true).total(), predicted.total(), true.total())


def levenshtein(prediction: str, truth: str) -> float:
    """Return WCEB's Levenshtein similarity: 2·LCS / (sum of lengths) over white space
    tokens.

    It is python-Levenshtein's `ratio`, in which a replacement costs 2. Empty against empty scores
    1.
    """
    from rapidfuzz.distance import Indel

    return float(Indel.normalized_similarity(truth.split(), prediction.split()))


def block_scores(predicted: npt.NDArray[np.bool_], true: npt.NDArray[np.bool_]) -> Score:
    """Return precision, recall, F1 of `main` over the blocks of one page (Dripper paper A.8; its
    table averages pages).

    Both have shape (n_blocks,). No main block in either scores 1.
    """
    if not predicted.any() and not true.any():
        return PERFECT
    return ratios(int((predicted & true).sum()), int(predicted.sum()), int(true.sum()))
