"""Writes headings and small elements within a line: line breaks, exponents, quotation marks,
checkboxes, and the text of drawings."""

import re
from dataclasses import dataclass

from dripper.tree.tree import attribute
from dripper.write.markdown.inert import EMPHASIS
from dripper.write.markdown.lines import BLANK, Lines
from dripper.write.markdown.output import APART
from dripper.write.markdown.source import STRUCTURE, Source

_IN_NO_HEADING = STRUCTURE - {"pre"}
_EXPONENT = re.compile(r"\s*[-+\u2212\u2013]?[0-9]{1,4}\s*")
_BASE = re.compile(r"[0-9)]$|(?<![^\W\d_])[^\W\d_]{1,2}$")
"""The base of an exponent: a number, or a name or unit of one or two letters. A raised number after
a longer word is a note number."""
_NEAREST = 32
"""Number of pieces to search for the base before an exponent."""


@dataclass(slots=True)
class PhraseWriter:
    """Writes the headings and small elements of one tree."""

    source: Source
    lines: Lines
    lower_from: int
    """The element after which headings go down a level."""

    def leave_out(self, element: int, tag: str) -> bool:
        """Write nothing."""
        return True

    def write_blank(self, element: int, tag: str) -> bool:
        """Write a space in place of an element."""
        self.lines.pieces.append(" ")
        return True

    def write_break(self, element: int, tag: str) -> bool:
        """Write a line break, or a space in a heading."""
        self.lines.pieces.append(" " if self.lines.n_inline > self.lines.is_in_link else "\n")
        return True

    def write_exponent(self, element: int, tag: str) -> bool:
        """Write `^` before an exponent."""
        tree = self.source.tree
        if tree.lasts[element] - element < 4 and "a" not in tree.tags[element + 1 : tree.lasts[element] + 1]:
            before = "".join(self.lines.pieces[-_NEAREST:])
            if _EXPONENT.fullmatch(self.source.read(element).strip()) and _BASE.search(before.rstrip("\ufde7\ufde9")):
                self.lines.pieces.append("^")
        return False

    def quote(self, element: int, tag: str) -> bool:
        """Write quotation marks around an element."""
        self.lines.pieces.append('"')
        self.lines.at_end(element, self.lines.pieces.append, '"')
        return False

    def write_control(self, element: int, tag: str) -> bool:
        """Write the checkbox of a task-list item; any other control becomes a space. A task-list
        item has the `task-list-item` class or a disabled checkbox."""
        tree = self.source.tree
        parent = tree.parents[element]
        while parent > 0 and tree.tags[parent] in ("label", "p", "span"):
            parent = tree.parents[parent]
        is_fixed = tree.tags[parent] == "li" and ' type="checkbox"' in tag and " disabled" in tag
        is_task = is_fixed or "task-list-item" in (attribute(tree.start_tag(parent), "class") or "")
        if is_task and not self.lines.n_inline:
            self.lines.fill("[x]" if " checked" in tag else "[ ]")
        return self.write_blank(element, tag)

    def write_drawing(self, element: int, tag: str) -> bool:
        """Write the text of a drawing."""
        first, last = self.source.tree.opens[element] // 2 + 1, self.source.tree.closes[element] // 2 + 1
        self.lines.pieces.append(f" {' '.join(self.source.texts[first:last])} ")
        return True

    def begin_heading(self, element: int, tag: str) -> bool:
        """Begin a heading. A heading that contains a list or the like is written as a plain
        block."""
        source, lines = self.source, self.lines
        if source.holds(element, _IN_NO_HEADING) or lines.n_inline or lines.cell is not None:
            return lines.begin_block(element, tag)
        lines.set_apart()
        level = int(source.tree.tags[element][1]) + (element > self.lower_from)
        lines.n_inline += 1
        lines.at_end(element, self._end_heading, "#" * min(level, 6) + " ")
        return False

    def _end_heading(self, mark: str) -> None:
        lines = self.lines
        lines.n_inline -= 1
        unit = "".join(lines.pieces).strip(BLANK).replace("\n", " ")
        opener, closer = EMPHASIS["strong"]
        if unit.startswith(opener) and unit.endswith(closer) and unit.count(opener) == 1:
            unit = unit[1:-1]
        lines.pieces[:] = [unit]
        lines.end(mark)
        lines.pieces.clear()
        lines.out.gap = APART
