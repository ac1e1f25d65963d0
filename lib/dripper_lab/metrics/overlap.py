"""Metrics for text and blocks, other than ROUGE-N. They compare words, edits or labels. All are
from 0 to 1; higher is better."""

from collections import Counter

import numpy as np
import numpy.typing as npt

from dripper.eval import PERFECT, WORD, Score, ratios


def word_f1(prediction: str, truth: str) -> Score:
    """Return the overlap between bags of lower-case words, as in WCXB's evaluate.py. Order does not
    matter.

    Two empty strings score 1. As in WCXB, a run of Chinese characters is one word.
    """
    predicted, true = (Counter(WORD.findall(text.lower())) for text in (prediction, truth))
    if not predicted and not true:
        return PERFECT
    return ratios((predicted & true).total(), predicted.total(), true.total())


def levenshtein(prediction: str, truth: str) -> float:
    """Return WCEB's Levenshtein similarity: 2·LCS / (sum of lengths) over white space tokens.

    This is python-Levenshtein's `ratio`, in which a replacement costs 2. Two empty strings score 1.
    """
    from rapidfuzz.distance import Indel

    return float(Indel.normalized_similarity(truth.split(), prediction.split()))


def block_scores(predicted: npt.NDArray[np.bool_], true: npt.NDArray[np.bool_]) -> Score:
    """Return precision, recall and F1 of `main` over the blocks of one page (Dripper paper A.8,
    which reports the mean over pages).

    Both arrays have the shape (n_blocks,). If neither contains a main block, the score is 1.
    """
    if not predicted.any() and not true.any():
        return PERFECT
    return ratios(int((predicted & true).sum()), int(predicted.sum()), int(true.sum()))
