"""Writes lines of Markdown: the pieces of a line are collected, and written when the line ends. The
writers of links, lists, tables and code extend this class.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from dripper.html.markdown.formulas import cut_tex, may_have_tex
from dripper.html.markdown.inert import EMPHASIS, HOLE, OPENERS, drop_unseen, drop_unseen_in_all, write_unit
from dripper.html.markdown.look import STRUCTURE, Look
from dripper.html.markdown.ordinals import join_ordinals
from dripper.html.markdown.output import AFTER_LIST, APART, Output
from dripper.html.tree.elements import LINE_BREAKING
from dripper.html.tree.plain import set_apart
from dripper.html.tree.tree import Tree, unescape
from dripper.html.units.lines import collapse_lines, find_kept_lines, write_annotations
from dripper.settings import MarkdownSettings

EMPHASIZED = dict.fromkeys(("b", "strong"), "strong") | dict.fromkeys(("i", "em", "var", "dfn"), "em")
EMPHASIZED |= dict.fromkeys(("del", "s", "strike"), "del")
EMPHASIZED |= {"figcaption": "em", "caption": "em"}
"""The kind of emphasis that an element has."""
BLANK = " \u00a0\n"
"""Characters that are removed at the ends of a line."""
_BLANKS = re.compile("  +")
_BREAKS = re.compile("[ \u00a0\n]+")
_EDGES = re.compile("^[ \u00a0\n\ufde6-\ufdeb]+|[ \u00a0\n\ufde6-\ufdeb]+$")
_PARAGRAPH = re.compile("\n(?:[ \u00a0\ufde6-\ufdeb]*\n)+")
"""Line breaks with nothing between them."""
_DEFINED = re.compile(r"^(\[\^[0-9]+\]):", re.MULTILINE)
_DEFINES = re.compile(r"""\S+(?:\s+(?:"[^"]*"|'[^']*'|\(.*\)))?$""")
"""An address and its title, as the rest of a line that defines a link."""


@dataclass(slots=True)
class OpenList:
    """A list that is being written."""

    is_ordered: bool = False
    number: int = 0
    """Number of the item that was written last, as readers of Markdown count."""
    shown: int = 0
    """Number of the item that came last, as browsers count."""
    step: int = 1
    """Difference between the numbers of two items."""
    delimiter: str = "."
    is_open: bool = False
    """Whether an item has begun and has not ended."""
    rest: str = ""
    """The indentation of the item that was written last."""
    before: int = 0
    """Blocks that are written before the item that was opened last."""
    has_terms: bool = False


class LineWriter:
    """Writes the lines of one tree."""

    def __init__(self, tree: Tree, settings: MarkdownSettings, out: Output) -> None:
        self._tree = tree
        self._settings = settings
        self._out = out
        self._holes: list[str] = []
        self._texts = _read_texts(tree, self._holes)
        join_ordinals(tree, self._texts)
        self._look = Look(tree, self._texts)
        self._roles: dict[int, str] = {}
        """Roles of the elements that their names do not show."""
        self._ends: list[tuple[int, Callable[..., None], tuple[object, ...]]] = []
        """Calls to make at later end tags."""
        self._pieces: list[str] = []
        self._n_inline = 0
        """Number of open headings and links: inside them, blanks separate blocks."""
        self._open = dict.fromkeys(EMPHASIS, 0)
        self._lists: list[OpenList] = []
        self._cell: list[str] | None = None

    def _at_end(self, element: int, end: Callable[..., None], *given: object) -> None:
        self._ends.append((self._tree.closes[element], end, given))

    def _begin_block(self, element: int, tag: str) -> bool:
        self._break()
        self._at_end(element, self._break)
        return False

    def _break(self) -> None:
        """End a line, and put an empty line before the next one."""
        if self._n_inline:
            self._pieces.append(" ")
            return
        if self._pieces:
            self._flush()
        if self._cell is None and not self._out.mark and not (self._lists and not self._lists[-1].is_open):
            self._out.gap = APART

    def _flush(self, mark: str = "") -> None:
        """Write the collected line.

        Args:
            mark: The mark of a heading.
        """
        unit = "".join(self._pieces)
        self._pieces.clear()
        if not unit or unit.isspace():
            return
        if unit.isascii():
            unit = unit.strip()
        else:
            kept = unit.rstrip(BLANK + OPENERS)
            if len(kept) < len(unit):
                # Emphasis that has no text yet continues in the next line.
                self._pieces.extend(mark for mark in unit[len(kept) :] if mark in OPENERS)
            unit = kept.strip(BLANK)
        if "  " in unit:
            unit = _BLANKS.sub(" ", unit)
        if "\n" not in unit:
            self._write_unit(unit, mark)
            return
        unit = unit.replace(" \n", "\n").replace("\n ", "\n")
        unit = _EDGES.sub(lambda edge: _BREAKS.sub("", edge.group()), unit)
        position = 0
        carried = ""
        for end in _PARAGRAPH.finditer(unit):
            marks = end.group()
            closed = "".join(character for character in marks if character > "\ufde5" and character not in OPENERS)
            self._write_unit((carried + unit[position : end.start()] + closed).strip(BLANK), mark)
            if self._cell is None:
                self._out.gap = APART
            carried = "".join(character for character in marks if character in OPENERS)
            position = end.end()
        self._write_unit((carried + unit[position:]).strip(BLANK), mark)

    def _write_unit(self, unit: str, mark: str) -> None:
        if self._cell is not None:
            lines = write_unit(unit, self._holes, in_table=True).split("\n")
            self._cell += filter(None, (line.strip(BLANK) for line in lines))
            return
        written = write_unit(unit, self._holes, mark or self._out.mark)
        if not written or not written.strip(BLANK):
            return
        if self._out.gap == AFTER_LIST:
            self._out.gap = APART
        if "[^" in written or self._out.mark[:2] == "[^":
            written = self._settle_definitions(written)
        self._out.write((mark + written).split("\n"))

    def _settle_definitions(self, written: str) -> str:
        """Return a line with its leading footnote marks escaped, so that they define no footnote. A
        line such as `[^1]: Ibid.` that begins a note also gets an end that keeps renderers without
        footnotes from reading it as the definition of a link."""
        written = _DEFINED.sub(r"\1\:", written)
        if self._out.mark[:2] == "[^" and _DEFINES.match(written):
            written = f"{written} &nbsp;"
        return written

    def _fill(self, markdown: str) -> None:
        """Write finished Markdown into the line."""
        if markdown:
            self._holes.append(markdown)
            self._pieces.append(HOLE.format(len(self._holes) - 1))

    def _begin_emphasis(self, element: int, tag: str) -> bool:
        kind = EMPHASIZED.get(self._roles.get(element) or self._tree.tags[element], "strong")
        if self._look.holds(element, STRUCTURE):
            return self._begin_block(element, tag)
        if not self._open[kind]:
            self._open[kind] += 1
            self._pieces.append(EMPHASIS[kind][0])
            self._at_end(element, self._end_emphasis, kind)
        return False

    def _end_emphasis(self, kind: str) -> None:
        self._open[kind] -= 1
        self._pieces.append(EMPHASIS[kind][1])

    def _begin_line(self, element: int, tag: str) -> bool:
        """Begin an emphasized line of its own."""
        self._break()
        self._at_end(element, self._break)
        return self._begin_emphasis(element, tag)


def _read_texts(tree: Tree, holes: list[str]) -> list[str]:
    """Return the texts of a tree as characters. Invisible characters are removed, line breaks of
    the source become blanks, neighbours that a browser sets apart get a blank between them, and
    LaTeX becomes holes."""
    breaks = {tag: "\n" for tag, name in tree.names.items() if name in LINE_BREAKING}
    parts = write_annotations(tree)
    texts = parts[::2]
    for index, text in set_apart(tree, parts, [breaks.get(tag, "") for tag in tree.parts[1::2]]).items():
        texts[index // 2] = text
    joined = unescape("\ufdd0".join(drop_unseen_in_all(texts)))
    if may_have_tex(joined):
        joined = "\ufdd0".join(cut_tex(text, holes) for text in joined.split("\ufdd0"))
    for character in "\n\t\r\f":
        joined = joined.replace(character, " ")
    texts = joined.split("\ufdd0")
    for place in find_kept_lines(tree):
        texts[place // 2] = collapse_lines(unescape(drop_unseen(parts[place])))
    return texts


def do_nothing() -> None:
    """End an element that writes nothing."""
