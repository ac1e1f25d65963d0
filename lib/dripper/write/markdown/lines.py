"""Writes Markdown lines: the text of paragraphs, items, cells and headings, with emphasis."""

import re
from collections.abc import Callable

from dripper.write.markdown.inert import EMPHASIS, HOLE, OPENERS, write_unit
from dripper.write.markdown.output import AFTER_LIST, APART, Output
from dripper.write.markdown.source import STRUCTURE, Source

EMPHASIZED = dict.fromkeys(("b", "strong"), "strong") | dict.fromkeys(("i", "em", "var", "dfn"), "em")
EMPHASIZED |= dict.fromkeys(("del", "s", "strike"), "del")
EMPHASIZED |= {"figcaption": "em", "caption": "em"}
"""The kind of emphasis, keyed by element name."""
BLANK = " \u00a0\n"
"""Characters that are removed from both ends of a line."""
_BLANKS = re.compile("  +")
_BREAKS = re.compile("[ \u00a0\n]+")
_EDGES = re.compile("^[ \u00a0\n\ufde6-\ufdeb]+|[ \u00a0\n\ufde6-\ufdeb]+$")
_PARAGRAPH = re.compile("\n(?:[ \u00a0\ufde6-\ufdeb]*\n)+")
"""Line breaks with no text between them."""
_DEFINED = re.compile(r"^(\[\^[0-9]+\]):", re.MULTILINE)
_DEFINES = re.compile(r"""\S+(?:\s+(?:"[^"]*"|'[^']*'|\(.*\)))?$""")
"""The rest of a line that defines a link: a URL, with or without a title."""


class Lines:
    """Collects the pieces of each line of one tree, and writes them when the line ends.

    The writers of links, lists, tables, code, notes and quotations share this object and the
    source.
    """

    def __init__(self, source: Source, out: Output) -> None:
        self.out = out
        self.holes = source.holes
        """Finished Markdown. The pieces refer to it by number (see `inert.HOLE`)."""
        self.pieces: list[str] = []
        """The pieces of the current line."""
        self.n_inline = 0
        """Number of open headings and links. Inside them, spaces separate blocks."""
        self.is_in_link = False
        self.cell: list[str] | None = None
        """The lines of the open cell; None if no cell is open."""
        self.is_between_items = False
        """Whether a list is open, but no item of the list is open."""
        self.ends: list[tuple[int, Callable[..., None], tuple[object, ...]]] = []
        """Calls to make at later end tags."""
        self._source = source
        self._emphasis = dict.fromkeys(EMPHASIS, 0)

    def at_end(self, element: int, end: Callable[..., None], *given: object) -> None:
        """Schedule a call for an element's end tag."""
        self.ends.append((self._source.tree.closes[element], end, given))

    def begin_block(self, element: int, tag: str) -> bool:
        """Set an element apart from the text around it."""
        self.set_apart()
        self.at_end(element, self.set_apart)
        return False

    def begin_container(self, last: int, first: str, rest: str) -> None:
        """Begin a quotation or a note that ends with the element `last`. Its first line begins with
        `first`, all other lines with `rest`."""
        self.set_apart()
        self.out.open(first, rest)
        self.at_end(last, self._end_container)

    def _end_container(self) -> None:
        self.set_apart()
        self.out.close()

    def set_apart(self) -> None:
        """End the current line, and put an empty line before the next line. In a heading or a link,
        add only a space."""
        if self.n_inline:
            self.pieces.append(" ")
            return
        if self.pieces:
            self.end()
        if self.cell is None and not self.out.mark and not self.is_between_items:
            self.out.gap = APART

    def end(self, mark: str = "") -> None:
        """Write the collected line.

        Args:
            mark: The heading mark, if the line is a heading.
        """
        unit = "".join(self.pieces)
        self.pieces.clear()
        if not unit or unit.isspace():
            return
        if unit.isascii():
            unit = unit.strip()
        else:
            kept = unit.rstrip(BLANK + OPENERS)
            if len(kept) < len(unit):
                # Emphasis that has no text yet carries over to the next line.
                self.pieces.extend(mark for mark in unit[len(kept) :] if mark in OPENERS)
            unit = kept.strip(BLANK)
        if "  " in unit:
            unit = _BLANKS.sub(" ", unit)
        if "\n" not in unit:
            self._write(unit, mark)
            return
        unit = unit.replace(" \n", "\n").replace("\n ", "\n")
        unit = _EDGES.sub(lambda edge: _BREAKS.sub("", edge.group()), unit)
        position = 0
        carried = ""
        for end in _PARAGRAPH.finditer(unit):
            marks = end.group()
            closed = "".join(character for character in marks if character > "\ufde5" and character not in OPENERS)
            self._write((carried + unit[position : end.start()] + closed).strip(BLANK), mark)
            if self.cell is None:
                self.out.gap = APART
            carried = "".join(character for character in marks if character in OPENERS)
            position = end.end()
        self._write((carried + unit[position:]).strip(BLANK), mark)

    def _write(self, unit: str, mark: str) -> None:
        if self.cell is not None:
            lines = write_unit(unit, self.holes, in_table=True).split("\n")
            self.cell += filter(None, (line.strip(BLANK) for line in lines))
            return
        written = write_unit(unit, self.holes, mark or self.out.mark)
        if not written or not written.strip(BLANK):
            return
        if self.out.gap == AFTER_LIST:
            self.out.gap = APART
        if "[^" in written or self.out.mark[:2] == "[^":
            written = self._settle_definitions(written)
        self.out.write((mark + written).split("\n"))

    def _settle_definitions(self, written: str) -> str:
        """Escape footnote marks at line starts, so that they do not define footnotes. A note such
        as `[^1]: Ibid.` also gets a suffix. Otherwise, renderers without footnotes would read the
        note as a link definition."""
        written = _DEFINED.sub(r"\1\:", written)
        if self.out.mark[:2] == "[^" and _DEFINES.match(written):
            written = f"{written} &nbsp;"
        return written

    def fill(self, markdown: str) -> None:
        """Add finished Markdown to the line."""
        if markdown:
            self.holes.append(markdown)
            self.pieces.append(HOLE.format(len(self.holes) - 1))

    def begin_emphasis(self, element: int, tag: str) -> bool:
        """Begin an emphasized element. Write it as a plain block if it contains, for example, a
        list."""
        kind = EMPHASIZED.get(self._source.roles.get(element) or self._source.tree.tags[element], "strong")
        if self._source.holds(element, STRUCTURE):
            return self.begin_block(element, tag)
        if not self._emphasis[kind]:
            self.emphasize(element, kind)
        return False

    def emphasize(self, element: int, kind: str) -> None:
        """Emphasize the text of an element."""
        self._emphasis[kind] += 1
        self.pieces.append(EMPHASIS[kind][0])
        self.at_end(element, self._end_emphasis, kind)

    def _end_emphasis(self, kind: str) -> None:
        self._emphasis[kind] -= 1
        self.pieces.append(EMPHASIS[kind][1])

    def begin_line(self, element: int, tag: str) -> bool:
        """Begin an element as an emphasized line of its own."""
        self.begin_block(element, tag)
        return self.begin_emphasis(element, tag)


def do_nothing() -> None:
    """End an element that writes nothing."""
