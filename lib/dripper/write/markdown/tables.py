"""Distinguishes data tables from layout tables, and writes the data tables."""

import re
from dataclasses import dataclass

from dripper.tree.elements import HEADINGS
from dripper.tree.tree import Tree, attribute
from dripper.write.markdown.code import CodeWriter, is_code_table
from dripper.write.markdown.lines import Lines
from dripper.write.markdown.output import APART
from dripper.write.markdown.source import Source

_LAYOUT = frozenset({"article", "section"})
_TABLE, _CELLS, _ROWS, _HEADERS, _CODE = map(frozenset, (["table"], ["td", "th"], ["tr"], ["th", "thead"], ["pre"]))
_PARTS = dict.fromkeys(HEADINGS, "strong") | {"tr": "row", "td": "cell", "th": "cell", "caption": "caption"}
_SMALL = 200
"""Maximum number of characters in an inner table that only lays out its cell. Applies if the outer
table has a header row."""
_ROW_PARTS = frozenset({"td", "th", "p", "div", "span", "br", "b", "strong", "font"})
"""Elements that show nothing in a row without text."""
_BLANK = re.compile(r"(?:\s|\u200b|&nbsp;)*")
_MOST_COLUMNS = 1000
"""Maximum number of columns that one cell can span, as in HTML."""
_SPAN = re.compile("[0-9]{1,9}")


def is_layout(source: Source, table: int) -> bool:
    """Return whether a table only lays out the page. The signs are a single column without a
    header, and elements that are unusual in a cell, such as `article` or a large inner table."""
    n_rows, n_cells = len(source.within(table, _ROWS)), len(source.within(table, _CELLS))
    is_list = n_rows > 1 and source.holds(table, _HEADERS)
    if (n_cells <= max(n_rows, 1) and not is_list) or source.holds(table, _LAYOUT):
        return True
    has_tables = source.holds(table, _TABLE)
    if (has_tables or source.holds(table, _CODE)) and not _has_head(source, table):
        return True
    if has_tables and not all(source.size(inner) <= _SMALL for inner in source.within(table, _TABLE)):
        return True
    return not all(_fills_its_cell(source, heading) for heading in source.within(table, HEADINGS))


def _has_head(source: Source, table: int) -> bool:
    row = next(iter(source.within(table, _ROWS)), table)
    cells = [source.tree.tags[child] for child in source.tree.children(row)]
    return len(cells) > 1 and set(cells) == {"th"}


def _fills_its_cell(source: Source, heading: int) -> bool:
    tree, cell = source.tree, heading
    while tree.tags[cell] not in ("td", "th", "caption", "table"):
        cell = tree.parents[cell]
    return tree.tags[cell] != "table" and source.fills(heading, cell)


def find_parts(source: Source, table: int) -> dict[int, str]:
    """Return the roles of a data table's elements: `row`, `cell`, `caption`, `table`, `strong` for
    a heading, `none` for a row that shows nothing."""
    tree, parts = source.tree, dict[int, str]()
    rows = source.within(table, _ROWS)
    is_simple = not source.holds(table, _TABLE) and "rowspan=" not in "".join(
        tree.parts[tree.opens[table] + 2 : tree.closes[table] : 2]
    )
    silent = {row for row in rows if is_simple and not _says_something(tree, row)}
    element = table + 1
    while element <= tree.lasts[table]:
        name = tree.tags[element]
        if name == "table" or (element in silent and len(silent) < len(rows)):
            parts[element] = "table" if name == "table" else "none"
            element = tree.lasts[element]
        elif name in _PARTS:
            parts[element] = _PARTS[name]
        element += 1
    return parts


def _says_something(tree: Tree, row: int) -> bool:
    texts = tree.parts[tree.opens[row] + 1 : tree.closes[row] : 2]
    return not _ROW_PARTS.issuperset(tree.tags[row + 1 : tree.lasts[row] + 1]) or not all(map(_BLANK.fullmatch, texts))


class Table:
    """Collects the cells of a data table, and writes its lines."""

    def __init__(self) -> None:
        self.n_cells = 0
        self._rows: list[list[str]] = []
        self._foot: list[int] = []
        """Positions of the `tfoot` rows. Browsers show these rows last."""
        self._spans: dict[int, int] = {}
        """Number of further rows that a cell spans, keyed by column."""

    def add_row(self, is_foot: bool = False) -> None:
        """Begin a row."""
        if is_foot:
            self._foot.append(len(self._rows))
        self._rows.append([])
        if self._spans:
            self._fill()

    def add_cell(self, tag: str, text: str) -> None:
        """Add a cell, and empty cells for the other columns that it spans."""
        if not self._rows:
            self._rows.append([])
        row = self._rows[-1]
        row.append(text)
        self.n_cells += 1
        if "span=" in tag:
            first, n_more = len(row) - 1, _read_span(tag, "colspan") - 1
            row += [""] * n_more
            self.n_cells += n_more
            if (n_rows := _read_span(tag, "rowspan")) > 1:
                self._spans |= dict.fromkeys(range(first, len(row)), n_rows - 1)
        if self._spans:
            self._fill()

    def _fill(self) -> None:
        row = self._rows[-1]
        while count := self._spans.get(len(row), 0):
            self._spans[len(row)] = count - 1
            row.append("")
            self.n_cells += 1

    def size(self) -> int:
        """Return a lower bound on the number of characters in the lines."""
        return 2 * len(self._rows) * max(map(len, self._rows), default=0)

    def lines(self) -> list[str]:
        """Return the table's lines, with the first row as the header."""
        width = max(map(len, self._rows), default=0)
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in self._rows]
        if self._foot:
            foot = [lines.pop(place) for place in reversed(self._foot)]
            lines += reversed(foot)
        return [*lines[:1], f"| {' | '.join(['---'] * width)} |", *lines[1:]] if width else []


def _read_span(tag: str, name: str) -> int:
    value = attribute(tag, name) or "" if name in tag else ""
    return max(1, min(int(value), _MOST_COLUMNS)) if _SPAN.fullmatch(value) else 1


@dataclass(slots=True)
class TableWriter:
    """Writes the tables of one tree."""

    source: Source
    lines: Lines
    code: CodeWriter
    are_kept: bool
    """Whether data tables are written as tables."""
    _table: Table | None = None

    def begin_table(self, element: int, tag: str) -> bool:
        """Begin a table. A table that only lays out the page is written as a plain block."""
        source, lines = self.source, self.lines
        is_apart = self._table is None and not lines.n_inline
        if is_apart and is_code_table(source, element):
            return self.code.write_block(element)
        if not is_apart or not self.are_kept or is_layout(source, element):
            return lines.begin_block(element, tag)
        lines.set_apart()
        self._table = Table()
        source.roles |= find_parts(source, element)
        lines.at_end(element, self._end_table)
        return False

    def _end_table(self) -> None:
        table, self._table = self._table, None
        assert table is not None
        self.lines.set_apart()
        self.lines.out.refuse(table.size())
        if lines := table.lines():
            self.lines.out.write(lines)
        self.lines.out.gap = APART

    def begin_row(self, element: int, tag: str) -> bool:
        """Begin a row."""
        if self._table is not None:
            self._table.add_row(self.source.tree.tags[self.source.tree.parents[element]] == "tfoot")
            self.lines.out.refuse(2 * self._table.n_cells)
        return False

    def begin_cell(self, element: int, tag: str) -> bool:
        """Begin a cell."""
        if self.lines.pieces:
            self.lines.end()
        self.lines.cell = []
        self.lines.at_end(element, self._end_cell, tag)
        return False

    def _end_cell(self, tag: str) -> None:
        if self.lines.pieces:
            self.lines.end()
        cell, self.lines.cell = self.lines.cell, None
        if self._table is not None and cell is not None:
            self._table.add_cell(tag, "<br>".join(cell))
