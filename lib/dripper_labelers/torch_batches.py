"""Groups inputs into batches for forward passes in PyTorch."""

from collections.abc import Sequence


def split_into_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group chunks of similar length into batches, and return the indexes of the chunks in each
    batch. Shorter chunks come first.

    Args:
        lengths: The number of tokens in each chunk.
        budget: The maximum number of tokens in a batch, including padding, that is, the length of
            the longest chunk times the number of chunks. A longer chunk forms its own batch.

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
