"""Converts the parts of a page to plain text. Adds the line breaks that a browser shows. Also adds
a space between adjacent elements if a browser shows a gap there.

    <span>637kcal</span><span>Carbohydrates: 80g</span><span>Protein: 9g</span>

is shown with gaps. The gaps come from a style sheet that is not in the archive, so they have to be
guessed. There are three signs of a gap. One is an element that is shown as a box because of its
name, style or a well-known class. Another is two adjacent links. The third is two characters, on
both sides of a boundary between elements, that rarely follow each other inside a word.

The evidence comes from 1,304 training pages with a separate reference text. A lower-case letter
before an upper-case letter of the next element means two words in 93 of 124 cases (19 of 22 pages).
A lower-case letter before a digit means two words in 22 of 24 cases, and a digit before an
upper-case letter in all 12.
"""

import re
from bisect import bisect_right

from dripper.tree.elements import LINE_BREAKING, words
from dripper.tree.loops import find_joints
from dripper.tree.tree import Tree, attribute

_BOXES = words("button img input meter progress textarea video audio object iframe")
"""Inline elements that browsers show as a box."""
_WITHIN_WORDS = words("b big em font i mark s small strike strong tt u del ins nobr bdi bdo")
"""Elements that mark words or parts of words. Two adjacent elements of this kind are no evidence of
a gap."""
_CLOSE = words("sub sup wbr rt rp rb")
"""Elements that belong to the previous word."""
_OPAQUE = words("pre code samp kbd tt math svg textarea")
"""Elements in which all text is left unchanged."""
_STYLED_AS_BOX = re.compile(
    r"display\s*:\s*(?:-webkit-|-ms-)?(?:block|flex|grid|table|list-item|flow-root|box)|"
    r"position\s*:\s*(?:absolute|fixed)|float\s*:\s*(?:left|right)",
    re.IGNORECASE,
)
_CLASSED_AS_BOX = re.compile(
    r' class="(?:[^"]*\s)?(?:d-(?:block|flex|grid|table)|block|flex|grid|btn|badge|float-(?:left|right|start|end)|'
    r"pull-(?:left|right)|(?:[\w-]*-)?visually-?hidden|(?:[\w-]*-)?sr-only|screen-?reader(?:-text|-only)?|"
    r'assistive-text|element-invisible|offscreen)[\s"]',
    re.IGNORECASE,
)
_LEVELS = 50
"""Maximum number of ancestors to check. With this limit, deep nesting does not add cost."""

_NO_LETTERS = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """Reduce `text` to its letters and digits, case-folded."""
    return _NO_LETTERS.sub("", text).casefold()


def plain_parts(tree: Tree, texts: list[str]) -> list[str]:
    """Return `texts` with each tag replaced by a line break or by nothing, and with a space where
    browsers show a gap between elements."""
    breaks = {tag: "\n" if name in LINE_BREAKING else "" for tag, name in tree.names.items()} | {"": ""}
    plain = texts.copy()
    marks = list(map(breaks.__getitem__, plain[1::2]))
    plain[1::2] = marks
    for index, text in set_apart(tree, texts, marks).items():
        plain[index] = text
    return plain


def set_apart(tree: Tree, texts: list[str], marks: list[str]) -> dict[int, str]:
    """Add a space between adjacent elements if browsers show a gap there. Return only the modified
    strings, keyed by index.

    Takes linear time.

    Args:
        texts: `tree.parts`, possibly with modified text.
        marks: One string for each tag. Empty unless a line begins at this tag.
    """
    changed: dict[int, str] = {}
    for place, end in find_joints(texts, marks, _ENDS, _BEGINS):
        first, last = 2 * place + 1, 2 * end + 1
        if _is_apart(tree, first, last, texts[first - 1], texts[last + 1]):
            _add_space(tree, texts, changed, first, last)
    return changed


_ENDS, _BEGINS = ".!?:)%", "($€£"
"""Characters that can end (`_ENDS`) or begin (`_BEGINS`) a word, in addition to letters and
digits."""


def _add_space(tree: Tree, texts: list[str], changed: dict[int, str], first: int, last: int) -> None:
    """Add a space right before the first start tag among the tags `first` to `last`, or after these
    tags if all are end tags. Write the new text to `changed`."""
    last_end = last
    for index in range(first, last + 1, 2):
        if texts[index] and texts[index][1] != "/":
            last_end = index - 2
            break
    if last_end < first:
        changed[first - 1] = changed.get(first - 1, texts[first - 1]) + " "
    else:
        changed[last_end + 1] = " " + changed.get(last_end + 1, texts[last_end + 1])


def _is_apart(tree: Tree, first: int, last: int, before: str, after: str) -> bool:
    """Return whether a browser shows a gap between `before` and `after`, the text around the tags
    `first` to `last`. No line begins at any of the tags."""
    if first == last and tree.parts[first][1:2] != "/":
        tag = tree.parts[first]
        name = tree.names.get(tag)
        is_apart = name in _BOXES or (name not in _CLOSE and _is_box(tag) and not _is_initial(before, after))
        return is_apart and not _is_opaque(tree, first)
    tags = [tag for tag in tree.parts[first : last + 1 : 2] if tag]
    names = [tree.names[tag] for tag in tags]
    if not _CLOSE.isdisjoint(names):
        return False
    is_apart = (
        not _BOXES.isdisjoint(names)
        or (len(tags) > 1 and _are_neighbours(tree, first, tags, names, before, after[0]))
        or (_is_boxed(tree, first, last) and not _is_initial(before, after))
    )
    return is_apart and not _is_opaque(tree, first)


def _is_initial(before: str, after: str) -> bool:
    """Return whether `before` is a drop cap, that is, the first letter of a word that `after`
    continues."""
    return len(before.strip()) == 1 and before[-1].isupper() and after[0].islower()


def _are_neighbours(tree: Tree, first: int, tags: list[str], names: list[str], before: str, after: str) -> bool:
    """Return whether one element ends and another begins among the tags, and the characters or
    links there suggest a gap."""
    for place in range(len(tags) - 1):
        if tags[place][1] == "/" != tags[place + 1][1] and not _WITHIN_WORDS.issuperset(names[place : place + 2]):
            if _are_words(before[-2:], after):
                return True
            is_between_links = "a" in names[: place + 1] and "a" in names[place + 1 :]
            return is_between_links and _are_spaced(before[-1], after) and _have_two_targets(tree, first, tags)
    return False


def _are_words(before: str, after: str) -> bool:
    """Return whether the end of one element and the first character of the next probably belong to
    two words."""
    end = before[-1]
    if after.isupper():
        return end.islower() or end in "0123456789.!?:)%"
    return after in "0123456789" and (end.islower() or (end == ":" and before[:1].isalpha()))


def _are_spaced(before: str, after: str) -> bool:
    """Return whether both characters belong to words of a script that puts spaces between words."""
    return before.isalnum() and after.isalnum() and before < "\u2e80" and after < "\u2e80"


def _have_two_targets(tree: Tree, first: int, tags: list[str]) -> bool:
    """Return whether one link ends and another begins among the tags, and their targets differ."""
    old_link = next((tag for tag in _list_start_tags(tree, first, len(tags)) if tree.names[tag] == "a"), "")
    new_link = next(tag for tag in tags if tag[1] != "/" and tree.names[tag] == "a")
    return attribute(old_link, "href") != attribute(new_link, "href")


def _list_start_tags(tree: Tree, first: int, count: int) -> list[str]:
    """Return the start tags that belong to up to `count` consecutive end tags, beginning at
    `first`."""
    element = bisect_right(tree.opens, first) - 1
    start_tags, index = list[str](), first
    for _ in range(_LEVELS):
        if element < 0 or len(start_tags) == count or index > tree.closes[0] or tree.parts[index][1:2] != "/":
            break
        if tree.closes[element] == index:
            start_tags.append(tree.start_tag(element))
            index += 2
        element = tree.parents[element]
    return start_tags


def _is_boxed(tree: Tree, first: int, last: int) -> bool:
    """Return whether an element that ends or begins at the tags `first` to `last` is a box because
    of its style or class."""
    tags = _list_start_tags(tree, first, (last - first) // 2 + 1)
    tags += [tag for tag in tree.parts[first : last + 1 : 2] if tag[1:2] != "/"]
    return any(map(_is_box, tags))


def _is_box(tag: str) -> bool:
    if " style=" in tag and _STYLED_AS_BOX.search(tag) and _STYLED_AS_BOX.search(attribute(tag, "style") or ""):
        return True
    return " class=" in tag and _CLASSED_AS_BOX.search(tag) is not None


def _is_opaque(tree: Tree, index: int) -> bool:
    """Return whether a tag is inside code or a formula, or is the start or end tag of such an
    element."""
    tags, opens = tree.tags, tree.opens
    element = bisect_right(opens, index) - 1
    for _ in range(_LEVELS):
        if element < 0:
            return False
        name = tags[element]
        is_opaque = name in _OPAQUE or (name == "span" and _is_mathematics(tree.parts[opens[element]]))
        if is_opaque and tree.closes[element] >= index:
            return True
        element = tree.parents[element]
    return False


def _is_mathematics(tag: str) -> bool:
    return "katex" in tag or "MathJax" in tag or "mjx" in tag
