"""Finds the marks and notes in main HTML that become footnotes, and the links without a target.

<p>Ash.<sup><a href="#n1">1</a></sup></p> … <li id="n1">Sheet 12. <a href="#r1">↩</a></li>

Ash.[^1] … [^1]: Sheet 12.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dripper.keep.references import References, find_parts, find_references
from dripper.tree.elements import HEADINGS, INLINE, LISTS, words
from dripper.write.markdown.lines import Lines
from dripper.write.markdown.lists import list_items
from dripper.write.markdown.source import SHOWS, Source
from dripper.write.markdown.tables import is_layout

_LONGEST = 3_000
"""Maximum length of a note, in characters."""
_MOST_AROUND = 6
"""Maximum number of levels from a mark, or from a link back, up to the outermost element that
contains nothing else."""
_MOST_TEXTS = 24
"""Maximum number of text nodes to search for a link back or for a note's label."""
_LONGEST_MARK = 16
_NO_NOTES_IN = words("li dd dt a blockquote summary caption")
"""Elements that cannot contain a footnote definition."""
_NOT_IN_NOTES = words("pre table")
_AROUND_LABEL = " \u00a0\n^\u2191[]().:"
_ARROWS = frozenset("^\u2191")
_DECORATED = re.compile(r"[\s\[\](){}.:]+")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class NoteWriter:
    """Writes the footnotes of one tree."""

    lines: Lines

    numbers: dict[int, int]
    """Maps the elements of marks and notes to the notes' numbers. Notes are numbered from 1, in the
    order of their first marks."""
    lasts: dict[int, int]
    """Maps the first element of each note to the note's last element."""
    lost: Collection[int]
    """Links to fragments that do not exist."""

    def write_mark(self, element: int, tag: str) -> bool:
        """Write a note's mark."""
        self.lines.fill(f"[^{self.numbers[element]}]")
        return True

    def begin(self, element: int, tag: str) -> bool:
        """Begin a note."""
        self.lines.begin_container(self.lasts[element], f"[^{self.numbers[element]}]: ", "    ")
        return False


class _Note(NamedTuple):
    marks: list[int]
    parts: list[int]
    content: list[int]
    """The parts that hold more than the note's label."""
    label: str


def find_notes(source: Source, lines: Lines) -> NoteWriter:
    """Return a writer for the footnotes in main HTML, and remove the notes' labels from
    `source.texts`. The elements of notes get the roles `mark`, `note` and `gone`; a list of notes
    gets the role `div`.

    A note becomes a footnote unless it is inside an item, a table or a quotation, or shares a block
    with another note. The marks of such a note remain links. Marks without a note are removed.
    """
    tree, roles, numbers, lasts = source.tree, source.roles, dict[int, int](), dict[int, int]()
    references = find_references(tree)
    roles |= dict.fromkeys(references.lost_marks, "gone")
    if not references.notes:
        return NoteWriter(lines, numbers, lasts, references.lost)
    notes = _list_notes(source, references)
    links_back = sorted(references.backs)
    owners = Counter(tree.parents[note.parts[0]] for note in notes if tree.tags[note.parts[0]] == "li")
    few = {owner for owner, count in owners.items() if 2 * count < len(list_items(tree, owner))}
    for note in notes:
        owner = tree.parents[note.parts[0]]
        if owner in few:
            continue
        if tree.tags[owner] in LISTS:
            roles[owner] = "div"
        number = len(lasts) + 1
        lasts[note.content[0]] = note.content[-1]
        roles |= dict.fromkeys(note.parts[: len(note.parts) - len(note.content)], "gone")
        backs = _find_backs(source, note, links_back)
        roles |= dict.fromkeys(backs, "gone")
        _cut_label(source, note, backs)
        marks = [_widen(source, mark) for mark in note.marks]
        roles |= dict.fromkeys(marks, "mark") | {note.content[0]: "note"}
        numbers |= dict.fromkeys((*marks, note.content[0]), number)
    return NoteWriter(lines, numbers, lasts, references.lost)


def _list_notes(source: Source, references: References) -> list[_Note]:
    """Return the notes that can be footnotes, in the order of their first marks."""
    marks: dict[int, list[int]] = {}
    for mark, target in references.marks.items():
        marks.setdefault(target, []).append(mark)
    tree, found = source.tree, find_parts(source.tree, references.notes)
    uses = Counter(part for parts in found.values() for part in parts)
    notes, fit = list[_Note](), dict[int, bool]()
    for target, parts in found.items():
        if any(uses[part] > 1 for part in parts):
            continue
        label = _bare(source.read(marks[target][0]))
        content = parts[1:] if _bare(source.read(parts[0])) == label else parts
        note = _Note(marks[target], parts, content, label)
        if content and _is_fit(source, note) and _is_place_fit(source, tree.parents[parts[0]], fit):
            notes.append(note)
    return notes


def _is_fit(source: Source, note: _Note) -> bool:
    """Return whether a note can be a footnote at its current position."""
    first = note.parts[0]
    if first < max(note.marks) or any(source.tree.tags[part] in HEADINGS for part in note.content):
        return False
    if any(source.holds(part, _NOT_IN_NOTES) for part in note.content) or sum(map(source.size, note.parts)) > _LONGEST:
        return False
    return any(_WORD.search(source.read(part)) for part in note.content)


def _is_place_fit(source: Source, element: int, fit: dict[int, bool]) -> bool:
    """Return whether an element can hold footnotes. Also store the result in `fit` for the elements
    around it."""
    tree, path = source.tree, list[int]()
    while element > 0 and element not in fit:
        path.append(element)
        if tree.tags[element] in _NO_NOTES_IN or (tree.tags[element] == "table" and not is_layout(source, element)):
            fit[element] = False
        else:
            element = tree.parents[element]
    is_fit = fit.get(element, True)
    fit.update(dict.fromkeys(path, is_fit))
    return is_fit


def _find_backs(source: Source, note: _Note, backs: Sequence[int]) -> list[int]:
    """Return the links that lead from a note to its marks. Each link is represented by the
    outermost inline element around it without words other than such links, if there is one.

    Args:
        backs: The links back from all notes, in document order.
    """
    tree, texts = source.tree, source.texts
    ends = ((bisect_right(backs, part), bisect_right(backs, tree.lasts[part])) for part in note.content)
    inside = [back for first, end in ends for back in backs[first:end]]
    linked = {place for back in inside for place in range(tree.opens[back] // 2 + 1, tree.closes[back] // 2 + 1)}
    found = list[int]()
    for back in inside:
        element = back
        for around in reversed(tree.nearest(tree.parents[back], _MOST_AROUND)):
            first, last = tree.opens[around] // 2 + 1, tree.closes[around] // 2 + 1
            if tree.tags[around] not in INLINE or last - first > _MOST_TEXTS:
                break
            if _WORD.search("".join(texts[place] for place in range(first, last) if place not in linked)):
                break
            element = around
        found.append(element)
    return found


def _cut_label(source: Source, note: _Note, backs: Collection[int]) -> None:
    """Remove the number or symbol at the start of a note."""
    tree, texts = source.tree, source.texts
    place, is_found = source.first_text(note.content[0]), False
    is_numbered = tree.tags[tree.parents[note.content[0]]] == "ol"
    for _ in range(_MOST_TEXTS):
        if place is None or place > tree.closes[note.content[-1]]:
            return
        back = next((each for each in backs if tree.opens[each] < place < tree.closes[each]), None)
        if back is None:
            text = texts[place // 2]
            rest = text.lstrip(_AROUND_LABEL)
            if not is_found and note.label and rest.startswith(note.label):
                after = rest[len(note.label) :]
                is_found = not after[:1].isalnum() and (not is_numbered or after[:1] in _AROUND_LABEL[3:])
                rest = after.lstrip(_AROUND_LABEL) if is_found else rest
            if rest:
                texts[place // 2] = rest if is_found or text.lstrip()[:1] in _ARROWS else text
                return
            texts[place // 2] = ""
        place = source.near(place if back is None else tree.closes[back], 1)


def _widen(source: Source, mark: int) -> int:
    """Return the outermost inline element that contains a mark but no other text, such as the `sup`
    in `<sup>[<a>1</a>]</sup>`."""
    tree, said = source.tree, _bare(source.read(mark))
    for around in reversed(tree.nearest(tree.parents[mark], _MOST_AROUND)):
        if tree.tags[around] not in INLINE or source.size(around) > _LONGEST_MARK or source.holds(around, SHOWS):
            break
        if _bare(source.read(around)) != said:
            break
        mark = around
    return mark


def _bare(text: str) -> str:
    return _DECORATED.sub("", text)
