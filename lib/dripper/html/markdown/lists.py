"""Writes the lists of a page: items, cards with headings, terms with meanings. Items that show
nothing are left out. A mark in an item's text that repeats the list's own mark is left out too."""

import re
from itertools import pairwise

from dripper.html.markdown.inert import EMPHASIS
from dripper.html.markdown.lines import LineWriter, OpenList, do_nothing
from dripper.html.markdown.look import SHOWS, Look
from dripper.html.markdown.output import AFTER_LIST, APART, TIGHT
from dripper.html.tree.elements import HEADINGS, LINE_BREAKING, LISTS, words
from dripper.html.tree.tree import Tree, attribute

_BULLET = re.compile(r"\s*(?:[-*•·●▪◦‣∙■►➢❖▢☐□◻❏❑](?=\s)|[▢☐□◻❏❑•●▪◦‣])\s*")
_NUMBER = re.compile(r"\s*([0-9]{1,4})[.)]\s+")
_MAX_TERM = 200
"""Characters: a longer text is no term."""
_LINES = frozenset({"p", "div"})
_NOT_TERMS = LINE_BREAKING | SHOWS
_NOT_MEANINGS = HEADINGS | {"table", "form", "article", "section"}
_MOST_CONTAINERS = 6
"""Containers between an item and the list that is its only content."""
_ALONE = {("dt",), ("dt", "dt")}
"""Neighbours of a meaning that can share the line of its term: the element before it, and the one
behind it if there is one."""
_OPENED = LISTS | words("li menu")


def read_number(text: str | None, otherwise: int) -> int:
    """Return the number of an item that an attribute states, or `otherwise`."""
    return int(text) if text and len(text) < 10 and text.isascii() and text.isdigit() else otherwise


def list_items(tree: Tree, owner: int) -> list[int]:
    """Return the items that are children of a list."""
    return [child for child in tree.children(owner) if tree.tags[child] == "li"]


def find_first_heading(tree: Tree, look: Look, item: int) -> int:
    """Return the heading with which an item begins; 0 if it begins with something else."""
    place = look.first_text(item)
    heading = next((each for each in look.within(item, HEADINGS, 3) if tree.closes[each] > (place or 0)), 0)
    if place is None or not heading or tree.opens[heading] > place:
        return 0
    return heading if all(inner > heading for inner in look.within(item, _OPENED, 1)) else 0


def find_only_list(tree: Tree, look: Look, item: int) -> int | None:
    """Return the list that is an item's only content, apart from containers around the list."""
    inner, last = item + 1, tree.lasts[item]
    while inner <= min(last, item + _MOST_CONTAINERS) and tree.tags[inner] == "div" and tree.lasts[inner] == last:
        inner += 1
    if inner > last or tree.tags[inner] not in ("ul", "ol") or tree.lasts[inner] != last:
        return None
    return inner if look.fills(inner, item) else None


def is_empty(look: Look, item: int) -> bool:
    """Return whether an item shows nothing."""
    return not look.has_text(item) and not look.holds(item, SHOWS)


def find_written_mark(text: str, number: int | None) -> int:
    """Return the length of a mark at the start of an item's first text that repeats the list's own
    mark."""
    if bullet := _BULLET.match(text):
        return bullet.end()
    written = _NUMBER.match(text)
    return written.end() if written and number is not None and int(written[1]) == number else 0


def list_terms(tree: Tree, look: Look, element: int) -> list[tuple[int, str]]:
    """Return the terms and meanings of a list; an empty list if it holds anything else."""
    rows = list[tuple[int, str]]()
    for child in tree.children(element):
        inside = tree.children(child) if tree.tags[child] == "div" else [child]
        rows += [(each, tree.tags[each]) for each in inside]
    if any(name not in ("dt", "dd") for _, name in rows) or not rows or rows[0][1] != "dt":
        return []
    return rows if len({name for _, name in rows}) > 1 and all(_is_fit(look, *row) for row in rows) else []


def _is_fit(look: Look, element: int, name: str) -> bool:
    if name == "dd":
        return not look.holds(element, _NOT_MEANINGS)
    return not look.holds(element, _NOT_TERMS) and look.has_text(element) and look.size(element) <= _MAX_TERM


def is_one_line(tree: Tree, look: Look, element: int) -> bool:
    """Return whether an element holds a single line. A line that fills the element, or fills
    another line, counts as the same line."""
    lines = look.within(element, LINE_BREAKING)
    if any(tree.tags[line] not in _LINES for line in lines):
        return False
    return all(inner <= tree.lasts[outer] and look.fills(inner, outer) for outer, inner in pairwise((element, *lines)))


class ListWriter(LineWriter):
    """Writes the lists of one tree."""

    _order: tuple[int, dict[int, int]] = (-1, {})
    """An `ol` and the position of each of its items."""

    def _begin_list(self, element: int, tag: str) -> bool:
        tree = self._tree
        items = list_items(tree, element)
        is_ordered = tree.tags[element] == "ol"
        if not is_ordered and items and all(find_first_heading(tree, self._look, item) for item in items):
            self._roles |= dict.fromkeys(items, "div")
            return self._begin_block(element, tag)
        step = -1 if is_ordered and " reversed" in tag else 1
        first = len(items) if step < 0 else 1
        start = read_number(attribute(tag, "start") if " start=" in tag else None, first) if is_ordered else 1
        self._open_list(OpenList(is_ordered, start - 1, start - step, step))
        self._at_end(element, self._end_list)
        return False

    def _open_list(self, opened: OpenList) -> None:
        self._flush()
        outer = self._lists[-1] if self._lists else None
        if outer is None:
            self._out.gap = APART
        elif outer.is_open:
            # Only a list that begins with 1 can follow a text without an empty line.
            gap = TIGHT if self._is_one_block(outer) else self._out.gap
            self._out.gap = max(gap, APART if opened.is_ordered and opened.number else TIGHT)
        elif outer.rest:
            self._out.go_on(outer.rest)
        opened.delimiter = ")" if opened.is_ordered and self._out.gap and self._out.ended == "1." else "."
        self._lists.append(opened)

    def _end_list(self) -> None:
        self._flush()
        ended = self._lists.pop()
        outer = self._lists[-1] if self._lists else None
        if outer is None:
            self._out.gap = APART
        else:
            if not outer.is_open and outer.rest:
                self._out.close()
            self._out.gap = max(self._out.gap, AFTER_LIST)
        self._out.ended = f"1{ended.delimiter}" if ended.is_ordered and ended.rest else ""

    def _begin_item(self, element: int, tag: str) -> bool:
        tree, look = self._tree, self._look
        owner = self._lists[-1] if self._lists else None
        around = tree.parents[element]
        if owner is None and tree.tags[around] == "ol":
            # An item among footnotes that no mark refers to keeps its number.
            if around != self._order[0]:
                self._order = around, {item: number for number, item in enumerate(list_items(tree, around))}
            owner = OpenList(True, self._order[1][element], self._order[1][element])
        inner = find_only_list(tree, look, element)
        if owner and inner is not None and owner.is_ordered == (tree.tags[inner] == "ol"):
            self._roles |= dict.fromkeys(range(element, inner + 1), "none")
            self._at_end(element, do_nothing)
            return False
        if owner:
            owner.shown = read_number(attribute(tag, "value") if " value=" in tag else None, owner.shown + owner.step)
        if is_empty(look, element):
            return True
        number = owner.shown if owner and owner.is_ordered else None
        place = look.first_text(element)
        if place is not None:
            text = self._texts[place // 2]
            end = find_written_mark(text, number)
            if end < len(text) or look.says(place, tree.closes[element]):
                self._texts[place // 2] = text[end:]
        if owner and owner.is_ordered and (heading := find_first_heading(tree, look, element)):
            self._roles[heading] = "strong-line"
        self._open_item(owner)
        self._at_end(element, self._end_item, owner)
        return False

    def _open_item(self, owner: OpenList | None) -> None:
        self._flush()
        out = self._out
        if out.gap == AFTER_LIST:
            out.gap = TIGHT
        mark = "- "
        if owner and owner.is_ordered:
            if owner.shown != owner.number + 1 and owner.rest:
                # Numbers that are not consecutive belong to two lists.
                owner.delimiter = ")" if owner.delimiter == "." else "."
                out.gap = APART
            owner.number = owner.shown
            mark = f"{owner.shown}{owner.delimiter} "
        if owner:
            owner.is_open, owner.rest, owner.before = True, " " * len(mark), out.n_blocks
        out.open(mark, " " * len(mark))

    def _end_item(self, owner: OpenList | None) -> None:
        self._flush()
        self._out.close()
        if owner:
            owner.is_open = False
            if self._is_one_block(owner):
                self._out.gap = min(self._out.gap, AFTER_LIST)

    def _is_one_block(self, opened: OpenList) -> bool:
        """Return whether an item has exactly one block so far, whatever elements hold that
        block."""
        return self._out.n_blocks == opened.before + 1

    def _begin_terms(self, element: int, tag: str) -> bool:
        rows = list_terms(self._tree, self._look, element)
        if not rows:
            return self._begin_block(element, tag)
        for child in self._tree.children(element):
            if self._tree.tags[child] == "div":
                self._roles[child] = "none"
        for place, (each, name) in enumerate(rows):
            is_alone = name == "dd" and (rows[place - 1][1], *(row[1] for row in rows[place + 1 : place + 2])) in _ALONE
            if is_alone and is_one_line(self._tree, self._look, each):
                self._roles[each] = "meaning"
                self._roles |= dict.fromkeys(self._look.within(each, LINE_BREAKING), "none")
            else:
                self._roles[each] = {"dt": "term", "dd": "meaning-item"}[name]
        self._open_list(OpenList(has_terms=True))
        self._at_end(element, self._end_terms)
        return False

    def _end_terms(self) -> None:
        self._end_term()
        self._end_list()

    def _end_term(self) -> None:
        if not self._lists[-1].has_terms:
            self._end_list()
        if self._lists[-1].is_open:
            self._end_item(self._lists[-1])

    def _begin_term(self, element: int, tag: str) -> bool:
        self._end_term()
        self._open_item(self._lists[-1])
        self._open["strong"] += 1
        self._pieces.append(EMPHASIS["strong"][0])
        self._at_end(element, self._end_emphasis, "strong")
        return False

    def _begin_meaning(self, element: int, tag: str) -> bool:
        if self._roles[element] == "meaning":
            self._pieces.append(" ")
            self._at_end(element, self._flush)
            return False
        if self._lists[-1].has_terms:
            self._open_list(OpenList())
        self._open_item(self._lists[-1])
        self._at_end(element, self._end_item, self._lists[-1])
        return False
