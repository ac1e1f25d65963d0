"""The loops over all elements or texts of a page that several steps repeat.

They also exist in C (`loops_c.c`) with the same results, if a compiler was present when the package
was installed (see setup.py).
"""

from collections.abc import Container

try:
    from dripper.html.tree import loops_c as loops_c

    IN_C = True
except ImportError:
    IN_C = False


def choose(values: list[str], wanted: Container[str], places: list[int] | None = None) -> list[int]:
    """Return the indexes of the values that are wanted; with `places`, the indexes of the places of
    such values."""
    if IN_C:
        return loops_c.choose(values, wanted, places)
    if places is None:
        return [index for index, value in enumerate(values) if value in wanted]
    return [index for index, place in enumerate(places) if values[place] in wanted]


def find_joints(parts: list[str], marks: list[str], ends: str, begins: str) -> list[tuple[int, int]]:
    """Return the first and last tag, counted from 0, of each run of tags without a mark between two
    texts that may be parts of one word.

    Args:
        marks: One string for each tag, not empty if the tag begins a line.
        ends, begins: Characters other than letters and digits that a word can end, or begin, with.
    """
    if IN_C:
        return loops_c.find_joints(parts, marks, ends, begins)
    joints = list[tuple[int, int]]()
    befores = parts[:-1:2]
    for first in [place for place, mark in enumerate(marks) if not mark and befores[place]]:
        before, last = befores[first][-1], first
        if before.isalnum() or before in ends:
            while not (after := parts[2 * last + 2]) and last + 1 < len(marks) and not marks[last + 1]:
                last += 1
            if after and (after[0].isalnum() or after[0] in begins):
                joints.append((first, last))
    return joints


def spread(block: bytearray, splits: bytearray, parents: list[int], first: int, end: int) -> None:
    """Set the flag `splits` of the parent of each element in a range that has either flag, from the
    last element to the first."""
    if IN_C:
        loops_c.spread(block, splits, parents, first, end)
        return
    for element in range(end - 1, first - 1, -1):
        if block[element] or splits[element]:
            splits[parents[element]] = 1
