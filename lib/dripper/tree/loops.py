"""Loops over all elements or text nodes of a page, used by several steps.

If a C compiler was available during installation (see setup.py), the C versions in `loops_c.c` are
used. Results are the same.
"""

from collections.abc import Container

try:
    from dripper.tree import loops_c as loops_c

    IN_C = True
except ImportError:
    IN_C = False


def choose(values: list[str], wanted: Container[str], places: list[int] | None = None) -> list[int]:
    """Return the indexes of the wanted values.

    If `places` lists indexes into `values`, check only these values, and return indexes into
    `places`.
    """
    if IN_C:
        return loops_c.choose(values, wanted, places)
    if places is None:
        return [index for index, value in enumerate(values) if value in wanted]
    return [index for index, place in enumerate(places) if values[place] in wanted]


def find_joints(parts: list[str], marks: list[str], ends: str, begins: str) -> list[tuple[int, int]]:
    """Find the runs of tags that begin no line and separate two strings that could be read as one
    word. Return the numbers of each run's first and last tag, counted from 0.

    Args:
        marks: One string for each tag. Empty unless a line begins at this tag.
        ends: Characters that can end a word, in addition to letters and digits.
        begins: Characters that can begin a word, in addition to letters and digits.
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
    """Pass flags up the tree: if `block` or `splits` is set for an element in a range, set `splits`
    for its parent. Goes from the last element to the first."""
    if IN_C:
        loops_c.spread(block, splits, parents, first, end)
        return
    for element in range(end - 1, first - 1, -1):
        if block[element] or splits[element]:
            splits[parents[element]] = 1
