"""Splits inputs into batches for forward passes in PyTorch."""

from collections.abc import Sequence


def split_into_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Return the indexes of chunks, with chunks of similar length together, shorter ones first.

    Args:
        lengths: Tokens of each chunk.
        budget: Tokens of a batch with padding, so the longest chunk times their number; a longer
            chunk goes alone.

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
