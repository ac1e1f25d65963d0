"""Prepares main HTML for Markdown: takes tables apart that only lay out the page, and moves links
around whole cards and bold around headings.

Each rule is for something that the converter would lose or garble; over 1,000 extracted pages
(benchmarks/markdown_column.py) the first version lost 227 of 7,335 headings, 402 of 4,919 table
cells and 31 of 285 images.
"""

import re
from collections import Counter
from collections.abc import Sequence

from dripper.html.inert import clean_inert_address
from dripper.html.markdown.inert import EMPHASIS, is_plain, mask_marks, write_destination
from dripper.html.tree.elements import HEADINGS, LINE_BREAKING
from dripper.html.tree.parser import OUTPUT_FLOOR
from dripper.html.tree.permalinks import is_permalink
from dripper.html.tree.tree import Tree, attribute, unescape
from dripper.settings import MarkdownSettings

_LAYOUT = frozenset({"table", "pre", "article", "section"})
_SMALL = 200
"""Characters: a table that says no more, in a cell of a table with headers, lays out that cell."""
_TABLE_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption"})
_TABLE = "<div><table>"
"""Without the division the converter writes no empty line beside tables in items and quotations."""
_WEIGHTS = frozenset({"b", "strong", "i", "em", "u", "del", "s", "mark", "small", "big", "font", "sub", "sup"})
_NOT_INLINE = HEADINGS | {"ul", "ol", "dl", "table", "pre", "blockquote"}
_ITALIC = frozenset({"i", "em"})
ORDERED = _WEIGHTS | {"table", "td", "th", "a", "summary", "li", "img", "blockquote"}
"""Names of the elements that `put_in_order` has a rule for."""
_NEAREST = 64
"""Texts and tags before a quotation among which the end of another one is looked for."""
_EDGES = ("<div", "</div", "<section", "</section", "<article", "</article", "<p>", "<p ", "</p>")
_TIGHT = frozenset({"li", "td", "th"})
_INDENTED = frozenset({"ul", "ol", "blockquote"})
_FEW_ROWS, _SOME_LINKS = 2, 3
"""The converter (3.21) takes a table of no more rows and no fewer links for a list, unless it has
headers."""
_ROW_PARTS = frozenset({"td", "th", "p", "div", "span", "br", "b", "strong", "font"})
"""What a row may hold that says nothing; anything else may show something."""
_BLANK = re.compile(r"(?:\s|\u200b|&nbsp;)*")
_MOST_COLUMNS = 1000
"""Of one cell, in HTML and here."""
_SPAN = re.compile("[0-9]{1,9}")
_EXPONENT = re.compile(r"\s*[-+\u2212\u2013]?[0-9]{1,4}\s*")
_BASE = re.compile(r"[0-9)]$|(?<![^\W\d_])[^\W\d_]{1,2}$")
"""What an exponent follows: a number, or a name or unit of one or two letters. Behind a longer word
the number is that of a note."""
_SHOWS = frozenset({"img", "picture", "video", "audio", "svg", "iframe"})


def put_in_order(tree: Tree, element: int, settings: MarkdownSettings, holes: list[str]) -> None:
    """Rewrite the tags of one element, in place, where Markdown cannot say what stands there.

    Tables that lay out the page become divisions, headings that are whole cells of a table of data
    become bold. A link around a card moves into its heading, and goes where it shows nothing or
    leads to a script; that of a heading to itself goes with its mark. Weights (a `summary` is bold)
    around headings and lists go, and those of italics within italics, whose marks would end what
    they should go on. A power gets a `^`, as `10<sup>6</sup>` is not 106. A quotation right after
    another begins anew, as does an `ol` at an item with a number of its own. Where a link or an
    image leads becomes one of `holes`; of one that nothing may follow or load, its text stays. What
    the settings leave out of links, images and tables goes too.
    """
    name, tag = tree.tags[element], tree.start_tag(element)
    if name == "table":
        _order_table(tree, element, settings)
    elif name in ("td", "th"):
        _strip_line_breaks(tree, element)
    elif name == "a":
        if "#" in tag and is_permalink(tree, element):
            tree.replace(element, "")
        elif settings.links == "keep":
            _order_link(tree, element, holes)
        else:
            tree.retag(element, "", "")
    elif name in _WEIGHTS or name == "summary":
        if not _NOT_INLINE.isdisjoint(_copy_inside(tree, element)):
            tree.retag(element, "<div>", "</div>")
        elif name in _ITALIC and _is_in_italics(tree, element):
            tree.retag(element, "", "")
        elif name == "sup" and _is_exponent(tree, element):
            tree.retag(element, "^", "")
    elif name == "blockquote":
        follows = "<br>" if _follows_quotation(tree, element) else ""
        if tree.tags[tree.parents[element]] not in _TIGHT:
            # Else the converter writes no empty lines around it.
            tree.retag(element, f"{follows}<section><blockquote>", "</blockquote></section>")
        elif follows:
            tree.parts[tree.opens[element]] = follows + tree.start_tag(element)
    elif name == "li" and " value" in tag and tree.tags[tree.parents[element]] == "ol":
        if (number := attribute(tag, "value")) and number.isascii() and number.isdigit():
            tree.parts[tree.opens[element]] = f'</ol><ol start="{number}">{tag}'
    elif name == "img" and settings.images == "drop":
        tree.parts[tree.opens[element]] = ""
    elif name == "img":
        _order_image(tree, element, holes)


def measure_padding(tree: Tree, holes: Sequence[str]) -> int:
    """Return how many characters the Markdown of a tree in order has at least for what no page
    writes: cells that make rows of a table equally long, and the indentation of lists and
    quotations.

    The converter would write gigabytes of it, and ends the process where it cannot.
    """
    return _measure_table_padding(tree) + _measure_indentation(tree, sum(hole.count("\n") for hole in holes))


def _measure_table_padding(tree: Tree) -> int:
    if "table" not in tree.tags:
        return 0
    widths: dict[int, Counter[int]] = {}
    for element, name in enumerate(tree.tags):
        if name not in ("td", "th") or not (tag := tree.start_tag(element)).startswith(("<td", "<th")):
            continue
        row = tree.parents[element]
        table = row
        while tree.tags[table] not in ("table", "html", "body"):
            table = tree.parents[table]
        span = attribute(tag, "colspan") or "" if "colspan" in tag else ""
        widths.setdefault(table, Counter())[row] += min(int(span), _MOST_COLUMNS) if _SPAN.fullmatch(span) else 1
    return sum(2 * len(rows) * max(rows.values()) for rows in widths.values())


def _measure_indentation(tree: Tree, code_lines: int) -> int:
    if 2 * sum(map(tree.tags.count, _INDENTED)) * (len(tree) + code_lines) < OUTPUT_FLOOR:
        return 0
    depths: list[int] = []
    for parent, name in zip(tree.parents, tree.tags, strict=True):
        depths.append((depths[parent] if parent >= 0 else 0) + (name in _INDENTED))
    lines = sum(depth for depth, name in zip(depths, tree.tags, strict=True) if name in LINE_BREAKING)
    return 2 * (lines + max(depths, default=0) * code_lines)


def _copy_inside(tree: Tree, element: int) -> list[str]:
    return tree.tags[element + 1 : tree.lasts[element] + 1]


def _read_text(tree: Tree, element: int) -> str:
    """Return the text in an element, as serialised, without blanks around."""
    return "".join(tree.parts[tree.opens[element] + 1 : tree.closes[element] : 2]).strip()


def _is_exponent(tree: Tree, element: int) -> bool:
    """Tell whether an element is a number that a number, or a short name or unit, is raised to."""
    opens, closes = tree.opens[element], tree.closes[element]
    if (
        closes - opens > _NEAREST
        or "a" in _copy_inside(tree, element)
        or not _EXPONENT.fullmatch("".join(tree.parts[opens + 1 : closes : 2]))
    ):
        return False
    before = "".join(tree.parts[max(0, opens - 1 - _NEAREST) : opens : 2])
    return _BASE.search(before) is not None


def _is_in_italics(tree: Tree, element: int) -> bool:
    """Tell whether an element stands in italics that are still there."""
    above = tree.parents[element]
    while above > 0:
        if tree.tags[above] in _ITALIC and tree.parts[tree.opens[above]] not in ("", "<div>"):
            return True
        above = tree.parents[above]
    return False


def _follows_quotation(tree: Tree, element: int) -> bool:
    """Tell whether nothing but the edges of containers stands between a quotation's end and this
    one's start."""
    place = tree.opens[element]
    for index in range(place - 1, max(0, place - _NEAREST), -1):
        part = tree.parts[index]
        if part.startswith("</blockquote>"):
            return True
        if part.strip() and not part.startswith(_EDGES):
            return False
    return False


def _order_image(tree: Tree, element: int, holes: list[str]) -> None:
    tag = tree.start_tag(element)
    address, alt = clean_inert_address(attribute(tag, "src") or ""), attribute(tag, "alt") or ""
    text = mask_marks(alt)
    if not address:
        tree.parts[tree.opens[element]] = text
        return
    holes.append(write_destination(address, attribute(tag, "title") or "", alt))
    tree.parts[tree.opens[element]] = f'<img src="{len(holes) - 1}" alt="{text}">'


def _order_link(tree: Tree, element: int, holes: list[str]) -> None:
    inside, tag = _copy_inside(tree, element), tree.start_tag(element)
    href = attribute(tag, "href") or ""
    is_ready = href.startswith(("https://", "http://")) and is_plain(href)
    address = href if is_ready else clean_inert_address(href)
    if not address or (_SHOWS.isdisjoint(inside) and not unescape(_read_text(tree, element)).strip()):
        tree.retag(element, "", "")
        return
    title = attribute(tag, "title") if " title=" in tag else None
    said = unescape(_read_text(tree, element)) if title else ""
    holes.append(write_destination(address, title or "", said) if title or not is_ready else address)
    tree.parts[tree.opens[element]] = f'<a href="{len(holes) - 1}">'
    if _NOT_INLINE.isdisjoint(inside):
        return
    target = _find_title(tree, range(element + 1, tree.lasts[element] + 1))
    if target is not None:
        tree.parts[tree.opens[target]] += tree.start_tag(element)
        tree.parts[tree.closes[target]] = "</a>" + tree.parts[tree.closes[target]]
    tree.retag(element, "<div>", "</div>")


def _find_title(tree: Tree, elements: range) -> int | None:
    """Return what the link of a card can go to: its first heading, else the first line in it that
    has a text."""
    lines = [i for i in elements if tree.tags[i] in LINE_BREAKING and tree.tags[i] != "br" and _read_text(tree, i)]
    heading = next((i for i in lines if tree.tags[i] in HEADINGS), None)
    if heading is not None:
        return heading
    return next((i for i in lines if tree.tags[i] != "pre" and LINE_BREAKING.isdisjoint(_copy_inside(tree, i))), None)


def _order_table(tree: Tree, table: int, settings: MarkdownSettings) -> None:
    inside = range(table + 1, tree.lasts[table] + 1)
    if settings.tables == "keep" and not _is_layout(tree, table):
        for element in inside:
            if tree.tags[element] in HEADINGS:
                tree.retag(element, *EMPHASIS["strong"])
        _order_rows(tree, table)
        if tree.tags[table + 1 : table + 2] == ["caption"]:
            start, end = EMPHASIS["em"]
            tree.retag(table + 1, "", f"{end}</div>{_TABLE}")
            tree.parts[tree.opens[table]] = f"<div>{start}"
        else:
            tree.parts[tree.opens[table]] = _TABLE
        tree.parts[tree.closes[table]] = "</table></div>"
        return
    element = table
    while element <= tree.lasts[table]:
        if element != table and tree.tags[element] == "table":  # judged on its own
            element = tree.lasts[element] + 1
            continue
        if tree.tags[element] in _TABLE_PARTS:
            tree.retag(element, "<div>", "</div>")
        element += 1


def _order_rows(tree: Tree, table: int) -> None:
    """Leave out rows that say nothing, and make the first one of a few rows with links the table's
    head, in place."""
    names = _copy_inside(tree, table)
    rows = [table + 1 + at for at, name in enumerate(names) if name == "tr"]
    if "table" in names or not rows:
        return
    if "rowspan=" not in "".join(tree.parts[tree.opens[table] + 2 : tree.closes[table] : 2]):
        full = [row for row in rows if _says_something(tree, row)]
        for row in set(rows).difference(full) if full else ():
            tree.replace(row, "")
        rows = full or rows
    if len(rows) <= _FEW_ROWS and "th" not in names and names.count("a") >= _SOME_LINKS:
        for cell in range(rows[0] + 1, tree.lasts[rows[0]] + 1):
            if tree.tags[cell] == "td" and (tag := tree.start_tag(cell)).startswith("<td"):
                tree.retag(cell, f"<th{tag[3:]}", "</th>")


def _says_something(tree: Tree, row: int) -> bool:
    texts = tree.parts[tree.opens[row] + 1 : tree.closes[row] : 2]
    return not _ROW_PARTS.issuperset(_copy_inside(tree, row)) or not all(map(_BLANK.fullmatch, texts))


def _is_layout(tree: Tree, table: int) -> bool:
    """Tell whether a table lays out the page: it holds what no cell of data does, or has but one
    column."""
    inside = _copy_inside(tree, table)
    cells = sum(tag in ("td", "th") for tag in inside)
    if _is_in_data(tree, table) or cells <= max(inside.count("tr"), 1):
        return True
    layout = _LAYOUT.intersection(inside)
    if layout and not (layout == {"table"} and _has_small_tables(tree, table)):
        return True
    headings = (table + 1 + i for i, tag in enumerate(inside) if tag in HEADINGS)
    return not all(_fills_its_cell(tree, heading) for heading in headings)


def _is_in_data(tree: Tree, table: int) -> bool:
    """Tell whether a table stands in the cell of one that stays a table."""
    above = tree.parents[table]
    while above > 0 and tree.tags[above] != "table":
        above = tree.parents[above]
    return above > 0 and tree.parts[tree.closes[above]].startswith("</table")


def _has_small_tables(tree: Tree, table: int) -> bool:
    """Tell whether a table begins with a row of headers, and those in its cells say little."""
    inside = range(table + 1, tree.lasts[table] + 1)
    row = next((element for element in inside if tree.tags[element] == "tr"), table)
    cells = [tree.tags[child] for child in tree.children(row)]
    small = (len(_read_text(tree, element)) <= _SMALL for element in inside if tree.tags[element] == "table")
    return len(cells) > 1 and set(cells) == {"th"} and all(small)


def _fills_its_cell(tree: Tree, heading: int) -> bool:
    cell = heading
    while tree.tags[cell] not in ("td", "th", "caption", "table"):
        cell = tree.parents[cell]
    return tree.tags[cell] != "table" and _read_text(tree, cell) == _read_text(tree, heading)


def _strip_line_breaks(tree: Tree, cell: int) -> None:
    index = tree.closes[cell] - 1
    while index > tree.opens[cell]:
        part = tree.parts[index]
        if (index % 2 == 0 and part.strip()) or (index % 2 == 1 and not part.startswith("<br")):
            return
        tree.parts[index] = ""
        index -= 1
