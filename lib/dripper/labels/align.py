"""Aligns a text with the blocks of a page: finds which blocks an extracted or human-written text
contains.

Used to turn human-written texts into training labels, and the output of another extractor into
labels.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from dripper.labels.arrays import IntArray
from dripper.labels.words import words_of

# The bit matrix of the longest common subsequence takes one bit per pair of words: 1e9 pairs take
# 125 MB. Pages with more pairs (3 of the 2,300 labelled ones) are matched by shingles alone, in
# linear time.
MAX_WORD_PAIRS = 1_000_000_000
# One or two words in common with the text are chance ("the", "of"); three in a row are not.
MIN_RUN = 3
# A block counts as matched out of order if more than this share of its 5-word shingles is in the
# unmatched part of the text.
SHINGLE_WORDS = 5
MIN_SHINGLE_SHARE = 0.7


def match_shares(block_words: Sequence[Sequence[str]], text_words: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return, for each block, the share (0 to 1) of its words that a text contains; shape
    (n_blocks,).

    The words of all blocks, in order, are matched by the longest common subsequence. Runs of fewer
    than three words are dropped, unless the block itself is that short. Blocks that the text has
    elsewhere are then matched by shingles. Blocks without words get 0.
    """
    vocabulary: dict[str, int] = {}
    flat = _number_words([word for words in block_words for word in words], vocabulary)
    text = _number_words(text_words, vocabulary)
    matched, used = _match_in_order(flat, text)
    unmatched_shingles = {shingle for shingle in _list_shingles(np.where(used, -1, text)) if -1 not in shingle}
    starts = accumulate((len(words) for words in block_words), initial=0)
    runs = _measure_runs(matched)
    shares = np.zeros(len(block_words), np.float32)
    for block, (start, end) in enumerate(pairwise(starts)):
        if end > start:
            length = end - start
            shares[block] = (matched[start:end] & ((runs[start:end] >= MIN_RUN) | (length < MIN_RUN))).mean()
            if shares[block] < 0.5 and length > SHINGLE_WORDS:
                own = _list_shingles(flat[start:end])
                elsewhere = sum(shingle in unmatched_shingles for shingle in own) / len(own)
                shares[block] = max(shares[block], elsewhere if elsewhere > MIN_SHINGLE_SHARE else 0.0)
    return shares


def labels_from_text(block_texts: Sequence[str], text: str) -> npt.NDArray[np.bool_]:
    """Return which blocks are main if `text` is the main content: the blocks with at least half of
    their words in `text`.

    >>> labels_from_text(["Home About", "It rained all day.", "Share"], "It rained all day.")
    array([False,  True, False])
    """
    return match_shares([words_of(block) for block in block_texts], words_of(text)) >= 0.5


def _number_words(words: Sequence[str], vocabulary: dict[str, int]) -> IntArray:
    return np.array([vocabulary.setdefault(word, len(vocabulary)) for word in words], np.int64)


def _match_in_order(flat: IntArray, text: IntArray) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which words of each side belong to the longest common subsequence; no words if there
    are too many pairs to compute it."""
    matched, used = np.zeros(len(flat), bool), np.zeros(len(text), bool)
    if len(flat) * len(text) <= MAX_WORD_PAIRS:
        for opcode in LCSseq.opcodes(flat.tolist(), text.tolist()):
            if opcode.tag == "equal":
                matched[opcode.src_start : opcode.src_end] = True
                # A stray match does not use up the text: otherwise the block that the surrounding
                # shingles come from could not match them.
                used[opcode.dest_start : opcode.dest_end] = opcode.src_end - opcode.src_start >= MIN_RUN
    return matched, used


def _measure_runs(flags: npt.NDArray[np.bool_]) -> IntArray:
    """Return the length of the run of equal flags at each position."""
    if not len(flags):
        return np.zeros(0, np.int64)
    lengths = np.diff(np.concatenate([[0], np.flatnonzero(np.diff(flags)) + 1, [len(flags)]]))
    return np.repeat(lengths, lengths)


def _list_shingles(ids: IntArray) -> list[tuple[int, ...]]:
    """Return the 5-word shingles of a sequence."""
    listed: list[int] = ids.tolist()
    return [tuple(listed[at : at + SHINGLE_WORDS]) for at in range(len(listed) - SHINGLE_WORDS + 1)]
