"""Aligns text with the blocks of a page, to find the blocks that the text contains.

If an annotator chose the text, the result is used as training labels. If an extractor returned the
text, the result is the labels that this extractor would give.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from dripper.labels.arrays import IntArray
from dripper.labels.words import words_of

# The longest common subsequence needs a matrix with one bit per pair of words, which is 125 MB for
# 1e9 pairs. Pages with more pairs (3 of 2,300 labelled pages) are matched by shingles only, in
# linear time.
MAX_WORD_PAIRS = 1_000_000_000
# One or two matching words may be chance ("the", "of"). Three in a row are not.
MIN_RUN = 3
# A block is matched out of order if more than this fraction of its 5-word shingles is in the
# unmatched part of the text.
SHINGLE_WORDS = 5
MIN_SHINGLE_SHARE = 0.7


def match_shares(block_words: Sequence[Sequence[str]], text_words: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return the fraction of each block's words that are in the text, 0 to 1, shape (n_blocks,).

    The words of all blocks are matched in order, by the longest common subsequence. Runs of fewer
    than three matched words are ignored, unless the whole block is that short. If less than half of
    a block is matched, the block's 5-word shingles are searched in the unmatched text, in any
    order. Blocks without words get 0.
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
    """Return which blocks are main if `text` is the main content. A block is main if at least half
    of its words are in `text`.

    >>> labels_from_text(["Home About", "It rained all day.", "Share"], "It rained all day.")
    array([False,  True, False])
    """
    return match_shares([words_of(block) for block in block_texts], words_of(text)) >= 0.5


def _number_words(words: Sequence[str], vocabulary: dict[str, int]) -> IntArray:
    return np.array([vocabulary.setdefault(word, len(vocabulary)) for word in words], np.int64)


def _match_in_order(flat: IntArray, text: IntArray) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which words of the blocks and which words of the text belong to the longest common
    subsequence. If there are too many pairs of words, all flags are False."""
    matched, used = np.zeros(len(flat), bool), np.zeros(len(text), bool)
    if len(flat) * len(text) <= MAX_WORD_PAIRS:
        for opcode in LCSseq.opcodes(flat.tolist(), text.tolist()):
            if opcode.tag == "equal":
                matched[opcode.src_start : opcode.src_end] = True
                # Short matches do not mark the text as used, because they may lie within the text
                # of another block, which must still match by shingles.
                used[opcode.dest_start : opcode.dest_end] = opcode.src_end - opcode.src_start >= MIN_RUN
    return matched, used


def _measure_runs(flags: npt.NDArray[np.bool_]) -> IntArray:
    """Return, for each position, the length of the run of equal flags around it."""
    if not len(flags):
        return np.zeros(0, np.int64)
    lengths = np.diff(np.concatenate([[0], np.flatnonzero(np.diff(flags)) + 1, [len(flags)]]))
    return np.repeat(lengths, lengths)


def _list_shingles(ids: IntArray) -> list[tuple[int, ...]]:
    """List the 5-word shingles of a sequence."""
    listed: list[int] = ids.tolist()
    return [tuple(listed[at : at + SHINGLE_WORDS]) for at in range(len(listed) - SHINGLE_WORDS + 1)]
