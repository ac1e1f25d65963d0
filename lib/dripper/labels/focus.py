"""Main content stands in one place: blocks outside the container that holds most of it are held for less likely.

The network sees containers and siblings, but says of each block alone whether it is main. On a short article among many teasers
it takes the teasers for a list, and the decoder takes what the network holds for likely. Readability's one container
(https://github.com/mozilla/readability) is right there, and wrong on lists and forums: so this is a doubt, not a cut.
"""

import numpy as np
import numpy.typing as npt

from dripper.labels.decode import probabilities

# Of held-out and of research pages (docs/labeler_cpu.md): shares of 0.35 to 0.6 and doubts of 1 and 2 all help; with
# squares, what is certain says where.
MAIN_SHARE = 0.6
DOUBT = 2.0


def focused(
    logits: npt.NDArray[np.float64],
    words: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Return the logits of `main`, DOUBT less outside the smallest container with MAIN_SHARE of the main words; (n_blocks,).

    A block counts by its words times its squared probability. words: (n_blocks,). starts, ends: (n_blocks, n_levels), the
    ranges of blocks in containers, as in `network.BlockSequence`; the last level is the page.

    >>> logits, words = np.array([3.0, 3.0, 1.0]), np.array([50, 60, 5])
    >>> focused(logits, words, np.array([[0, 0], [0, 0], [2, 0]]), np.array([[2, 3], [2, 3], [3, 3]]))
    array([ 3.,  3., -1.])
    """
    if not words.any():
        return logits
    # Exact: probabilities are multiples of 2^-12, so sums of their squares have no rounding below 2^28 words.
    expected = np.concatenate([[0.0], np.cumsum(probabilities(logits) ** 2 * words)])
    first, end = starts.ravel(), ends.ravel()
    holding = np.flatnonzero(expected[end] - expected[first] >= MAIN_SHARE * expected[-1])
    smallest = holding[np.argmin((end - first)[holding])]
    lowered = logits - DOUBT
    inside = slice(first[smallest], end[smallest])
    lowered[inside] = logits[inside]
    return lowered
