"""Splits inputs into batches for forward passes in PyTorch."""

from collections.abc import Sequence


def split_into_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Return batches of chunk indexes. Chunks of similar length share a batch, and shorter chunks
    come first.

    Args:
        lengths: The number of tokens in each chunk.
        budget: The maximum number of tokens in a batch with padding (the longest chunk times the
            number of chunks). A chunk that is longer forms its own batch.

    >>> split_into_batches([5, 2, 9, 3], 6)
    [[1, 3], [0], [2]]
    """
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batches and lengths[index] * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
