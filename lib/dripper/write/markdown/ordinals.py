"""Joins step numbers with the text of their steps if the two are in separate elements."""

import re
from bisect import bisect_left
from collections import defaultdict
from itertools import pairwise

from dripper.tree.elements import CELLS, LINE_BREAKING, words
from dripper.tree.tree import Tree

_ORDINAL = re.compile(r"\s*([0-9]{1,2})[.)]?\s*")
_LONGEST = 12
"""A number and the white space around it must have fewer characters than this."""
_FAR = 40
"""Maximum number of text nodes between a number and its step's text."""
_MOST_AROUND = 6
"""Maximum number of elements between a step number and the list item around it."""
_NO_ORDINALS = CELLS | words("a button code option pre sup")
"""Elements in which a number is not a step number."""
_PARTS = CELLS | words("button option pre table tr")
"""Elements that separate a number from text."""


def join_ordinals(tree: Tree, texts: list[str]) -> None:
    """Change `texts`: move each step number in an element of its own to the start of its step.
    Example: `<div>1</div><p>Heat the oil.</p>`. In an ordered list, the numbers are removed
    instead.

    Such numbers are consecutive, begin with 1, and are in elements with the same start tag. 48 of
    4,911 training pages have them; many of these pages are recipes.
    """
    found = defaultdict[str, list[tuple[int, int]]](list)
    for at in [at for at, text in enumerate(texts) if "" < text < ":" and len(text) < _LONGEST]:
        ordinal = _ORDINAL.fullmatch(texts[at])
        tag, behind = tree.parts[2 * at - 1], tree.parts[2 * at + 1 : 2 * at + 2]
        if ordinal and tag[1:2] != "/" and behind and behind[0][1:2] == "/" and tree.names.get(tag) not in _NO_ORDINALS:
            found[tag].append((at, int(ordinal[1])))
    for places in found.values():
        numbers = [number for _, number in places]
        if numbers[:2] == [1, 2] and all(after in (1, before + 1) for before, after in pairwise(numbers)):
            ends = [*(at for at, _ in places[1:]), len(texts)]
            steps = [_find_step(tree, texts, at, end) for (at, _), end in zip(places, ends, strict=True)]
            # Only the last number is allowed to lack a step.
            for (at, number), step in zip(places, steps if None not in steps[:-1] else (), strict=False):
                _join(tree, texts, at, step, number)


def _find_step(tree: Tree, texts: list[str], at: int, end: int) -> int | None:
    """Return the next text after a number and before `end`, if the number and the text both begin a
    line. In an ordered list, only the number must begin a line."""
    before = next((place for place in range(at - 1, max(at - _FAR, -1), -1) if texts[place].strip()), 0)
    step = next((place for place in range(at + 1, min(end, at + _FAR)) if texts[place].strip()), None)
    if step is None or _list_between(tree, before, at).isdisjoint(LINE_BREAKING):
        return None
    between = _list_between(tree, at, step)
    is_apart = not between.isdisjoint(LINE_BREAKING) and between.isdisjoint(_PARTS)
    return step if is_apart or _begins_item(tree, texts, at) else None


def _list_between(tree: Tree, first: int, second: int) -> set[str]:
    return {tree.names.get(tag, "") for tag in tree.parts[2 * first + 1 : 2 * second : 2]}


def _begins_item(tree: Tree, texts: list[str], at: int) -> bool:
    around = tree.nearest(bisect_left(tree.opens, 2 * at - 1), _MOST_AROUND)
    item = next((element for element in reversed(around) if tree.tags[element] == "li"), None)
    if item is None or tree.tags[tree.parents[item]] != "ol":
        return False
    first = tree.opens[item] // 2 + 1
    return at - first < _FAR and not "".join(texts[first:at]).strip()


def _join(tree: Tree, texts: list[str], at: int, step: int | None, number: int) -> None:
    if step is not None:
        if not _begins_item(tree, texts, at):
            texts[step] = f"{number}. {texts[step].lstrip()}"
        texts[at] = ""
