"""Writes lists: items, cards with headings, and terms with meanings. Items that show nothing are
left out. A bullet, or the item's number, at the start of an item's text is left out too."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from dripper.tree.elements import HEADINGS, LINE_BREAKING, LISTS, words
from dripper.tree.tree import Tree, attribute
from dripper.write.markdown.lines import Lines, do_nothing
from dripper.write.markdown.output import AFTER_LIST, APART, TIGHT
from dripper.write.markdown.source import SHOWS, Source

_BULLET = re.compile(r"\s*(?:[-*•·●▪◦‣∙■►➢❖▢☐□◻❏❑](?=\s)|[▢☐□◻❏❑•●▪◦‣])\s*")
_NUMBER = re.compile(r"\s*([0-9]{1,4})[.)]\s+")
_MAX_TERM = 200
"""Maximum length of a term, in characters."""
_LINES = frozenset({"p", "div"})
_NOT_TERMS = LINE_BREAKING | SHOWS
_NOT_MEANINGS = HEADINGS | {"table", "form", "article", "section"}
_MOST_CONTAINERS = 6
"""Maximum number of containers between an item and a list that is the item's only content."""
_ALONE = {("dt",), ("dt", "dt")}
"""A meaning can share its term's line only if these are the names of its neighbours: the element
before the meaning, and the element after it if there is one."""
_OPENED = LISTS | words("li menu")


def read_number(text: str | None, otherwise: int) -> int:
    """Return the item number in an attribute, or `otherwise` if the attribute contains no
    number."""
    return int(text) if text and len(text) < 10 and text.isascii() and text.isdigit() else otherwise


def list_items(tree: Tree, owner: int) -> list[int]:
    """Return the items that are children of a list."""
    return [child for child in tree.children(owner) if tree.tags[child] == "li"]


def find_first_heading(source: Source, item: int) -> int:
    """Return the heading that an item begins with; 0 if it begins with something else."""
    place, closes = source.first_text(item), source.tree.closes
    heading = next((each for each in source.within(item, HEADINGS, 3) if closes[each] > (place or 0)), 0)
    if place is None or not heading or source.tree.opens[heading] > place:
        return 0
    return heading if all(inner > heading for inner in source.within(item, _OPENED, 1)) else 0


def find_only_list(source: Source, item: int) -> int | None:
    """Return the list that is an item's only content, apart from containers around the list."""
    tree = source.tree
    inner, last = item + 1, tree.lasts[item]
    while inner <= min(last, item + _MOST_CONTAINERS) and tree.tags[inner] == "div" and tree.lasts[inner] == last:
        inner += 1
    if inner > last or tree.tags[inner] not in ("ul", "ol") or tree.lasts[inner] != last:
        return None
    return inner if source.fills(inner, item) else None


def find_written_mark(text: str, number: int | None) -> int:
    """Return the length of the bullet, or of the item's number, at the start of an item's first
    text. Return 0 if the text begins with neither."""
    if bullet := _BULLET.match(text):
        return bullet.end()
    written = _NUMBER.match(text)
    return written.end() if written and number is not None and int(written[1]) == number else 0


def list_terms(source: Source, element: int) -> list[tuple[int, str]]:
    """Return the terms and meanings of a `dl`, each with its element name. Return an empty list if
    the `dl` cannot be written as a list of terms."""
    tree, rows = source.tree, list[tuple[int, str]]()
    for child in tree.children(element):
        inside = tree.children(child) if tree.tags[child] == "div" else [child]
        rows += [(each, tree.tags[each]) for each in inside]
    if any(name not in ("dt", "dd") for _, name in rows) or not rows or rows[0][1] != "dt":
        return []
    return rows if len({name for _, name in rows}) > 1 and all(_is_fit(source, *row) for row in rows) else []


def _is_fit(source: Source, element: int, name: str) -> bool:
    if name == "dd":
        return not source.holds(element, _NOT_MEANINGS)
    return not source.holds(element, _NOT_TERMS) and source.has_text(element) and source.size(element) <= _MAX_TERM


def is_one_line(source: Source, element: int) -> bool:
    """Return whether an element contains a single line. Nested lines with the same text count as
    one."""
    lines, lasts = source.within(element, LINE_BREAKING), source.tree.lasts
    if any(source.tree.tags[line] not in _LINES for line in lines):
        return False
    return all(inner <= lasts[outer] and source.fills(inner, outer) for outer, inner in pairwise((element, *lines)))


@dataclass(slots=True)
class OpenList:
    """A list that is being written."""

    is_ordered: bool = False
    number: int = 0
    """Number of the last item written, as Markdown renderers count it."""
    shown: int = 0
    """Number of the last item, written or not, as browsers count it."""
    step: int = 1
    """Difference between the numbers of two items."""
    delimiter: str = "."
    is_open: bool = False
    """Whether an item has begun and has not ended."""
    rest: str = ""
    """The indentation of the last item written."""
    before: int = 0
    """Number of blocks written before the last opened item."""
    has_terms: bool = False


@dataclass(slots=True)
class ListWriter:
    """Writes the lists of one tree."""

    source: Source
    lines: Lines
    _lists: list[OpenList] = field(default_factory=list)
    """The open lists, the innermost last."""
    _order: tuple[int, dict[int, int]] = -1, {}
    """The last `ol` of footnotes, and the position of each of its items."""

    def begin_list(self, element: int, tag: str) -> bool:
        """Begin a list. If all items of an unordered list begin with headings, write the items as
        plain blocks."""
        tree = self.source.tree
        items = list_items(tree, element)
        is_ordered = tree.tags[element] == "ol"
        if not is_ordered and items and all(find_first_heading(self.source, item) for item in items):
            self.source.roles |= dict.fromkeys(items, "div")
            return self.lines.begin_block(element, tag)
        step = -1 if is_ordered and " reversed" in tag else 1
        first = len(items) if step < 0 else 1
        start = read_number(attribute(tag, "start") if " start=" in tag else None, first) if is_ordered else 1
        self._open_list(OpenList(is_ordered, start - 1, start - step, step))
        self.lines.at_end(element, self._end_list)
        return False

    def _open_list(self, opened: OpenList) -> None:
        self.lines.end()
        outer = self._lists[-1] if self._lists else None
        if outer is None:
            self.lines.out.gap = APART
        elif outer.is_open:
            # Only a list that begins with 1 can follow text without an empty line between them.
            gap = TIGHT if self._is_one_block(outer) else self.lines.out.gap
            self.lines.out.gap = max(gap, APART if opened.is_ordered and opened.number else TIGHT)
        elif outer.rest:
            self.lines.out.go_on(outer.rest)
        opened.delimiter = ")" if opened.is_ordered and self.lines.out.gap and self.lines.out.ended == "1." else "."
        self._lists.append(opened)
        self.lines.is_between_items = True

    def _end_list(self) -> None:
        self.lines.end()
        ended = self._lists.pop()
        outer = self._lists[-1] if self._lists else None
        self.lines.is_between_items = outer is not None and not outer.is_open
        if outer is None:
            self.lines.out.gap = APART
        else:
            if not outer.is_open and outer.rest:
                self.lines.out.close()
            self.lines.out.gap = max(self.lines.out.gap, AFTER_LIST)
        self.lines.out.ended = f"1{ended.delimiter}" if ended.is_ordered and ended.rest else ""

    def begin_item(self, element: int, tag: str) -> bool:
        """Begin an item, unless it shows nothing."""
        source, tree = self.source, self.source.tree
        owner = self._lists[-1] if self._lists else None
        around = tree.parents[element]
        if owner is None and tree.tags[around] == "ol":
            # In an `ol` of footnotes, an item that is not a footnote keeps its number.
            if around != self._order[0]:
                self._order = around, {item: number for number, item in enumerate(list_items(tree, around))}
            owner = OpenList(True, self._order[1][element], self._order[1][element])
        inner = find_only_list(source, element)
        if owner and inner is not None and owner.is_ordered == (tree.tags[inner] == "ol"):
            self.source.roles |= dict.fromkeys(range(element, inner + 1), "none")
            self.lines.at_end(element, do_nothing)
            return False
        if owner:
            owner.shown = read_number(attribute(tag, "value") if " value=" in tag else None, owner.shown + owner.step)
        if not source.has_text(element) and not source.holds(element, SHOWS):
            return True
        number = owner.shown if owner and owner.is_ordered else None
        place = source.first_text(element)
        if place is not None:
            text = source.texts[place // 2]
            end = find_written_mark(text, number)
            if end < len(text) or source.has_text_between(place, tree.closes[element]):
                source.texts[place // 2] = text[end:]
        if owner and owner.is_ordered and (heading := find_first_heading(source, element)):
            self.source.roles[heading] = "strong-line"
        self._open_item(owner)
        self.lines.at_end(element, self._end_item, owner)
        return False

    def _open_item(self, owner: OpenList | None) -> None:
        self.lines.end()
        out = self.lines.out
        if out.gap == AFTER_LIST:
            out.gap = TIGHT
        mark = "- "
        if owner and owner.is_ordered:
            if owner.shown != owner.number + 1 and owner.rest:
                # A gap in the numbers requires a new list.
                owner.delimiter = ")" if owner.delimiter == "." else "."
                out.gap = APART
            owner.number = owner.shown
            mark = f"{owner.shown}{owner.delimiter} "
        self.lines.is_between_items = False
        if owner:
            owner.is_open, owner.rest, owner.before = True, " " * len(mark), out.n_blocks
        out.open(mark, " " * len(mark))

    def _end_item(self, owner: OpenList | None) -> None:
        self.lines.end()
        self.lines.out.close()
        if owner:
            owner.is_open = False
            self.lines.is_between_items = bool(self._lists)
            if self._is_one_block(owner):
                self.lines.out.gap = min(self.lines.out.gap, AFTER_LIST)

    def _is_one_block(self, opened: OpenList) -> bool:
        """Return whether a list's last item has exactly one block so far, at any depth."""
        return self.lines.out.n_blocks == opened.before + 1

    def begin_terms(self, element: int, tag: str) -> bool:
        """Begin a list of terms with their meanings."""
        rows = list_terms(self.source, element)
        if not rows:
            return self.lines.begin_block(element, tag)
        for child in self.source.tree.children(element):
            if self.source.tree.tags[child] == "div":
                self.source.roles[child] = "none"
        for place, (each, name) in enumerate(rows):
            is_alone = name == "dd" and (rows[place - 1][1], *(row[1] for row in rows[place + 1 : place + 2])) in _ALONE
            if is_alone and is_one_line(self.source, each):
                self.source.roles[each] = "meaning"
                self.source.roles |= dict.fromkeys(self.source.within(each, LINE_BREAKING), "none")
            else:
                self.source.roles[each] = {"dt": "term", "dd": "meaning-item"}[name]
        self._open_list(OpenList(has_terms=True))
        self.lines.at_end(element, self._end_terms)
        return False

    def _end_terms(self) -> None:
        self._end_term()
        self._end_list()

    def _end_term(self) -> None:
        if not self._lists[-1].has_terms:
            self._end_list()
        if self._lists[-1].is_open:
            self._end_item(self._lists[-1])

    def begin_term(self, element: int, tag: str) -> bool:
        """Begin an item with a term."""
        self._end_term()
        self._open_item(self._lists[-1])
        self.lines.emphasize(element, "strong")
        return False

    def begin_meaning(self, element: int, tag: str) -> bool:
        """Begin a meaning, on its term's line or in an item of its own."""
        if self.source.roles[element] == "meaning":
            self.lines.pieces.append(" ")
            self.lines.at_end(element, self.lines.end)
            return False
        if self._lists[-1].has_terms:
            self._open_list(OpenList())
        self._open_item(self._lists[-1])
        self.lines.at_end(element, self._end_item, self._lists[-1])
        return False
