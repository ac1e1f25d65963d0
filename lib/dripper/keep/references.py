"""Finds the references on a page: marks and their notes, links back, the elements that hold the
notes, and controls with the elements that they open.

    <sup><a href="#fn1">1</a></sup> … <ol class="footnotes"><li id="fn1">Ash, too. <a href="#r">↩

Works on the page's tree, and later on the tree of main HTML. Takes linear time.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from dripper.tree.elements import HEADINGS, INLINE, words
from dripper.tree.tree import Tree, attribute, unescape

_LABEL = re.compile(
    r"\W{0,2}(?:[0-9]{1,4}|[a-z]{1,2}|[ivxlc]{1,6}|[*†‡§¶#]{1,4}|[¹²³⁰⁴-⁹]{1,3}|"
    r"(?:note|nb|fn|n|anm|fussnote|nota|注|註|脚注)\W{0,2}[0-9]{1,3})\W{0,2}",
    re.IGNORECASE,
)
"""The text of a mark."""
_LONGEST_LABEL = 16
_NAMED_MARK = re.compile(r"foot-?note|end-?note|note-?ref|fn-?ref|cite_|side-?note|\b(?:reference|footref|fn)\b", re.I)
_NAMED_NOTES = re.compile(
    r"(?:^|[\s_-])(?:foot-?notes?|end-?notes?|doc-endnotes?|references?|ref-?list|refs|notes|bibliography)(?:$|[\s_-])",
    re.IGNORECASE,
)
_NAMES = re.compile(r' (?:class|id|role|rel|data-fn|epub:type)="([^"]{1,200})')
_FRAGMENT = re.compile(r' href="#([^"]+)"')
_MOST_AROUND = 4
"""Number of elements, from a mark upwards, that are checked for the mark's id, superscript, or a
name such as `footnote`."""
_MOST_ABOVE = 8
"""Maximum number of elements between a note and the element that holds all notes."""
_MOST_PARTS = 4
"""Maximum number of paragraphs in a note, if the note's number is in a separate block."""
_WHOLE_PAGE = words("html body main article")


class References(NamedTuple):
    """The references of a page, as element numbers."""

    marks: Mapping[int, int]
    """Maps the link of each mark to the mark's target."""
    notes: Mapping[int, int]
    """Maps the target of each note to the note's number. Notes are numbered from 1, in the order of
    their first marks."""
    backs: frozenset[int]
    """Links from a note back to its mark."""
    lost: frozenset[int] = frozenset()
    """Links to ids that the page does not have."""
    lost_marks: frozenset[int] = frozenset()
    """The marks among the lost links."""


NONE = References({}, {}, frozenset())


def find_references(tree: Tree) -> References:
    """Return the notes of a page, and the marks that point to them.

    A mark is a link to a later position on the page, with a number or a symbol as its text. In
    addition, one of two conditions must hold: the note links back to the mark, or the mark (or an
    inline element around it) is superscript or has a name such as `footnote`. All marks of a note
    have the same text. Links with different numbers and the same target are not marks: they point
    to a list of sources or reservations.
    """
    near = [tag for tag in tree.names if tag[:3] == "<a " and (' href="#' in tag or "noteref" in tag)]
    hrefs = {tag: href for tag in near if (href := _read_target(tag))}
    links = {link: hrefs[tree.parts[tree.opens[link]]] for link in tree.tagged(hrefs)}
    if not links:
        return NONE
    labels = {link: label for link in links if (label := _read_label(tree, link))}
    targets = _find_ids(tree, frozenset(hrefs.values()))
    is_mark = _names_match(_NAMED_MARK)
    lost = frozenset(link for link, place in links.items() if place not in targets)
    lost_marks = frozenset(
        each for each in lost & labels.keys() if _is_named(tree, tree.nearest(each, _MOST_AROUND), is_mark)
    )
    marks, said, backward = dict[int, int](), dict[int, set[str]](), list[tuple[int, int]]()
    for link, place in links.items():
        target = targets.get(place, link)
        if target < link:
            backward.append((link, target))
        elif target > tree.lasts[link] and link in labels:
            marks[link] = target
            said.setdefault(target, set()).add(labels[link])
    notes = dict[int, int]()
    around = {link: tree.nearest(link, _MOST_AROUND) for link in marks}
    origins = {element: link for link, elements in around.items() for element in elements}
    leads_back = {origins[target]: link for link, target in backward if target in origins}
    answered = {marks[link] for link in leads_back}
    for link, target in list(marks.items()):
        if len(said[target]) == 1 and (target in answered or _is_named(tree, around[link], is_mark)):
            notes.setdefault(target, len(notes) + 1)
        else:
            del marks[link]
    backs = frozenset(back for link, back in leads_back.items() if link in marks)
    return References(marks, notes, backs, lost, lost_marks)


def _read_target(tag: str) -> str | None:
    """Return the id that a link's start tag points to on the same page. Wikidot's marks have no
    target, but a mark's own id contains the note's id."""
    if found := _FRAGMENT.search(tag):
        return found[1].replace("&amp;", "&")
    href = attribute(tag, "href")
    own = attribute(tag, "id") or ""
    return own.replace("ref", "", 1) if href in ("#", "javascript:;") and "noteref" in own else None


def _find_ids(tree: Tree, wanted: frozenset[str]) -> dict[str, int]:
    """Return the first element with each wanted id; a `name` counts as an id too."""
    ids: dict[str, int] = {}
    for values in (tree.values("id"), tree.values("name")):
        tags = {tag: name for tag, value in values.items() if (name := value.replace("&amp;", "&")) in wanted}
        for element in tree.tagged(tags):
            name = tags[tree.start_tag(element)]
            ids[name] = min(element, ids.get(name, element))
    return ids


def _read_label(tree: Tree, link: int) -> str:
    """Return a link's text if it may be the text of a mark, else ""."""
    inside = tree.parts[tree.opens[link] + 1 : tree.closes[link] : 2]
    text = unescape("".join(inside)).strip() if len(inside) <= _LONGEST_LABEL else ""
    return text if len(text) <= _LONGEST_LABEL and _LABEL.fullmatch(text) else ""


def _names_match(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    """Return a cached function that searches the names in a start tag for `pattern`."""
    return cache(lambda tag: pattern.search(" ".join(_NAMES.findall(tag))) is not None)


def _is_named(tree: Tree, around: tuple[int, ...], is_mark: Callable[[str], bool]) -> bool:
    """Return whether a mark or an inline element around it is superscript or has a name such as
    `footnote`. `around` contains these elements, and last the mark."""
    for element in reversed(around):
        if tree.tags[element] not in INLINE:
            return False
        if tree.tags[element] == "sup" or is_mark(tree.start_tag(element)):
            return True
    return False


def find_parts(tree: Tree, targets: Collection[int]) -> dict[int, list[int]]:
    """Return the elements of each note, keyed by target. These are the block with the target and,
    if that block has only the note's number, the elements up to the next note.

    Each block is read only once, even if it has many targets.
    """
    ordered = sorted(targets)
    blocks, parts, found = dict[int, int](), dict[int, list[int]](), dict[int, list[int]]()
    for target in targets:
        block = _find_block(tree, target, blocks)
        if block not in parts:
            parts[block] = [block, *_find_following(tree, block, ordered)]
        found[target] = parts[block]
    return found


def _find_block(tree: Tree, target: int, blocks: dict[int, int]) -> int:
    """Return the nearest element around a target that ends a line. Also store that element in
    `blocks` for all elements on the way."""
    element, path = target, list[int]()
    while element not in blocks and tree.tags[element] in INLINE and tree.parents[element] > 0:
        path.append(element)
        element = tree.parents[element]
    block = blocks.get(element, element)
    blocks.update(dict.fromkeys(path, block))
    return block


def _find_following(tree: Tree, block: int, targets: list[int]) -> Iterator[int]:
    """Yield the elements that continue a note after a block with only the note's number."""
    text = tree.text(block).strip()
    if text and not _LABEL.fullmatch(text) and tree.tags[block] != "dt":
        return
    following = tree.lasts[block] + 1
    for _ in range(_MOST_PARTS):
        if following >= len(tree) or tree.parents[following] != tree.parents[block] or tree.tags[following] in HEADINGS:
            return
        last = tree.lasts[following]
        if bisect_left(targets, following) != bisect_left(targets, last + 1):
            return
        yield following
        following = last + 1


def find_holders(tree: Tree, targets: Collection[int]) -> dict[int, int]:
    """Return, for each target, the outermost element around it with a name such as `footnotes`. A
    target without such an element is left out."""
    is_holder, holders = _names_match(_NAMED_NOTES), dict[int, int]()
    for target in targets:
        for element in reversed(tree.nearest(tree.parents[target], _MOST_ABOVE)):
            if tree.tags[element] in _WHOLE_PAGE:
                break
            if is_holder(tree.start_tag(element)):
                holders[target] = element
    return holders


def find_controls(tree: Tree) -> dict[int, int]:
    """Return the controls on the page (`aria-controls`), each with the element that it opens."""
    controls = {tag: unescape(value) for tag, value in tree.values("aria-controls").items() if value}
    ids = _find_ids(tree, frozenset(controls.values())) if controls else {}
    return {
        element: ids[controlled]
        for element in tree.tagged(controls if ids else ())
        if (controlled := controls[tree.start_tag(element)]) in ids
    }
