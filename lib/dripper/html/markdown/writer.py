"""Writes a tree of main HTML as Markdown, in one walk over its parts.

What stands in a line is collected in `_pieces`, a unit of `inert`, and written when the line ends.
What needs a look ahead is decided where an element begins, by `Look`, and noted for the elements in
it: the cells of a table of data, the terms of a list, the heading that a card's link goes to.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from dripper.html.inert import clean_inert_address
from dripper.html.markdown.code import find_code_boxes, find_language, has_lines, is_code_table, read_code
from dripper.html.markdown.formulas import cut_tex, may_be_formula, may_have_tex, read_formula
from dripper.html.markdown.inert import (
    EMPHASIS,
    HOLE,
    IMAGE,
    LINK,
    OPENERS,
    TARGET,
    count_ticks,
    drop_unseen,
    drop_unseen_in_all,
    is_plain,
    write_code_span,
    write_destination,
    write_unit,
)
from dripper.html.markdown.lists import (
    find_first_heading,
    find_only_list,
    find_written_mark,
    is_empty,
    is_one_line,
    list_items,
    list_terms,
    read_number,
)
from dripper.html.markdown.look import SHOWS, STRUCTURE, Look
from dripper.html.markdown.notes import find_notes
from dripper.html.markdown.output import AFTER_LIST, APART, TIGHT, Output
from dripper.html.markdown.posts import LINE
from dripper.html.markdown.repeats import find_repeated_headings, find_shown_twins, is_said_beside, is_shown_twin
from dripper.html.markdown.tables import Table, find_parts, is_layout
from dripper.html.tree.elements import HEADINGS, LINE_BREAKING, words
from dripper.html.tree.permalinks import is_permalink
from dripper.html.tree.plain import set_apart
from dripper.html.tree.tree import Tree, attribute, unescape
from dripper.html.units.lines import collapse_lines, find_kept_lines, write_annotations
from dripper.settings import MarkdownSettings

_EMPHASIZED = dict.fromkeys(("b", "strong"), "strong") | dict.fromkeys(("i", "em", "var", "dfn"), "em")
_EMPHASIZED |= dict.fromkeys(("del", "s", "strike"), "del")
_EMPHASIZED |= {"figcaption": "em", "caption": "em"}
_BLOCKS = LINE_BREAKING - {"br", "noscript"} | {"video", "audio"}
_IN_NO_HEADING = STRUCTURE - {"pre"}
_LINES = LINE_BREAKING - {"br", "pre", "noscript"}
_CODE = words("code kbd samp tt")
_UNREAD = words("select datalist iframe script style template noembed noframes xmp plaintext head title")
"""Elements of which nothing is written: what is to be filled in, or is no text."""
_EDIT_LINK = re.compile(r'class="(?:[^"]*\s)?mw-editsection[\s"]')
_BACK_LINK = re.compile(r"[\s\u21a9\u2191\ufe0e\ufe0f^]+")
_EXPONENT = re.compile(r"\s*[-+\u2212\u2013]?[0-9]{1,4}\s*")
_BASE = re.compile(r"[0-9)]$|(?<![^\W\d_])[^\W\d_]{1,2}$")
"""What an exponent follows: a number, or a name or unit of one or two letters. Behind a longer word
the number is that of a note."""
_ALONE = {("dt",), ("dt", "dt")}
"""What stands before and behind a meaning that can stand in its term's line."""
_NEAREST = 32
"""Pieces before an exponent among which its base is looked for."""
_BLANK = " \u00a0\n"
_BLANKS = re.compile("  +")
_BREAKS = re.compile("[ \u00a0\n]+")
_BREAKS_IN_LINK = re.compile("[ \u00a0\n]*\n[ \u00a0\n]*")
_EDGES = re.compile("^[ \u00a0\n\ufde6-\ufdeb]+|[ \u00a0\n\ufde6-\ufdeb]+$")
_PARAGRAPH = re.compile("\n(?:[ \u00a0\ufde6-\ufdeb]*\n)+")
"""Line breaks with nothing between them."""
_DEFINED = re.compile(r"^(\[\^[0-9]+\]):", re.MULTILINE)
_DEFINES = re.compile(r"""\S+(?:\s+(?:"[^"]*"|'[^']*'|\(.*\)))?$""")
"""An address and its title, as the rest of a line that defines a link."""
_NOTHING, _BLOCK, _SPECIAL = range(3)


@dataclass(slots=True)
class _List:
    """A list that is being written."""

    is_ordered: bool = False
    number: int = 0
    """Of the item that was written last, as readers of Markdown count."""
    shown: int = 0
    """Of the item that came last, as browsers count."""
    delimiter: str = "."
    is_open: bool = False
    """There is an item that has not ended."""
    rest: str = ""
    """The indentation of the item that was written last."""
    has_terms: bool = False


class Writer:
    """Writes one tree.

    Args:
        limit: Characters that may be written.
    """

    def __init__(self, tree: Tree, settings: MarkdownSettings, limit: int) -> None:
        self._tree = tree
        self._settings = settings
        self._out = Output(limit)
        self._holes: list[str] = []
        self._texts = _read_texts(tree, self._holes)
        self._look = Look(tree, self._texts)
        self._roles: dict[int, str] = {}
        """What an element is, where its name does not say that."""
        self._card_links: dict[int, int] = {}
        """The elements that the link of a card goes to, and the link."""
        self._ends: list[tuple[int, Callable[..., None], tuple[object, ...]]] = []
        """What is to be done at the end tags to come."""
        self._pieces: list[str] = []
        self._n_inline = 0
        """Headings and links that are open: in them blocks are set apart by blanks."""
        self._open = dict.fromkeys(EMPHASIS, 0)
        self._lists: list[_List] = []
        self._table: Table | None = None
        self._cell: list[str] | None = None
        self._span: tuple[str, str] = "", ""
        """The code span that was written last: its hole, and its code."""
        self._is_in_link = False
        tops = [element for element, name in enumerate(tree.tags) if name == "h1"]
        self._lower_from = tops[0] if len(tops) > 1 else len(tree)
        self._set_apart_posts()
        self._repeated = find_repeated_headings(tree, self._texts, self._look)
        self._twins = find_shown_twins(tree)
        self._notes = find_notes(tree, self._texts, self._look)
        self._roles |= self._notes.roles
        if " data-lang" in "".join(tree.names):
            self._roles |= dict.fromkeys(find_code_boxes(tree), "code-box")
        self._notable = {tree.start_tag(element) for element in self._roles}
        """The start tags of what may be a formula, or a link that edits a section, or a twin, or of
        a note."""

    def _set_apart_posts(self) -> None:
        """Let what is around the marks of posts be no list, quotation or table."""
        tree = self._tree
        for mark in tree.tagged({tag for tag in tree.names if tag[:10] == "<hr _post="}):
            above = tree.parents[mark]
            while above >= 0 and above not in self._roles:
                self._roles[above] = "div"
                above = tree.parents[above]

    def write(self) -> str:
        """Return the Markdown."""
        tree, texts, ends, roles, pieces = self._tree, self._texts, self._ends, self._roles, self._pieces
        out, closes = self._out, tree.closes
        kinds = self._read_kinds()
        elements = dict(zip(tree.opens, range(len(tree)), strict=True))
        position = 0
        """Among the texts: the next one."""
        for at, kind in enumerate(map(kinds.get, tree.parts[1::2])):
            if kind is None or at < position - 1:
                continue
            if at >= position:
                text = texts[at]
                if at > position:
                    pieces += texts[position : at + 1]
                elif text and (pieces or not text.isspace()):
                    pieces.append(text)
                position = at + 1
            index = 2 * at + 1
            element = elements.get(index)
            if element is None:
                if ends and ends[-1][0] == index:
                    while ends and ends[-1][0] == index:
                        _, end, given = ends.pop()
                        end(*given)
                elif kind == _BLOCK and (pieces or out.gap != APART):
                    self._break()
                continue
            if kind == _BLOCK and element not in roles:
                if pieces or out.gap != APART:
                    self._break()
            elif self._begin(element, tree.parts[index]):
                position = closes[element] // 2 + 1
                continue
            if element in self._card_links:
                self._begin_link(element, self._card_links[element])
        pieces += texts[position:]
        self._flush()
        return self._out.text()

    def _read_kinds(self) -> dict[str, int]:
        """Return which tags begin a line, and which ask for more."""
        names = self._tree.names
        kinds = {tag: _BLOCK for tag, name in names.items() if name in _BLOCKS}
        kinds |= {tag: _SPECIAL for tag, name in names.items() if name in _HANDLERS}
        if _is_notable("\n".join(names)):
            self._notable.update(tag for tag in names if tag[1:2] != "/" and _is_notable(tag))
        self._notable |= self._twins
        return kinds | dict.fromkeys(self._notable, _SPECIAL)

    def _begin(self, element: int, tag: str) -> bool:
        """Begin an element that is special; tell whether all of it is written."""
        role = self._roles.get(element)
        if role is None and tag in self._notable:
            if may_be_formula(tag) and (formula := read_formula(self._tree, element)) is not None:
                self._fill(formula)
                return True
            if "mw-editsection" in tag and _EDIT_LINK.search(tag):
                self._pieces.append(" ")
                return True
            if tag in self._twins and is_shown_twin(self._tree, self._look, element):
                return True
        if role == "none":
            self._at_end(element, _do_nothing)
            return False
        name = role or self._tree.tags[element]
        handler = (_ROLES.get(name) if role else None) or _HANDLERS.get(name)
        return handler(self, element, tag) if handler else name in _BLOCKS and self._begin_block(element, tag)

    def _at_end(self, element: int, end: Callable[..., None], *given: object) -> None:
        self._ends.append((self._tree.closes[element], end, given))

    def _begin_block(self, element: int, tag: str) -> bool:
        self._break()
        self._at_end(element, self._break)
        return False

    # Lines

    def _break(self) -> None:
        """End a line, and let the next one stand apart."""
        if self._n_inline:
            self._pieces.append(" ")
            return
        if self._pieces:
            self._flush()
        if self._cell is None and not self._out.mark and not (self._lists and not self._lists[-1].is_open):
            self._out.gap = APART

    def _flush(self, mark: str = "") -> None:
        """Write the line that is collected.

        Args:
            mark: Of a heading.
        """
        unit = "".join(self._pieces)
        self._pieces.clear()
        if not unit or unit.isspace():
            return
        if unit.isascii():
            unit = unit.strip()
        else:
            kept = unit.rstrip(_BLANK + OPENERS)
            if len(kept) < len(unit):
                # What nothing was said in yet goes on in the next line.
                self._pieces.extend(mark for mark in unit[len(kept) :] if mark in OPENERS)
            unit = kept.strip(_BLANK)
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
            self._write_unit((carried + unit[position : end.start()] + closed).strip(_BLANK), mark)
            if self._cell is None:
                self._out.gap = APART
            carried = "".join(character for character in marks if character in OPENERS)
            position = end.end()
        self._write_unit((carried + unit[position:]).strip(_BLANK), mark)

    def _write_unit(self, unit: str, mark: str) -> None:
        if self._cell is not None:
            lines = write_unit(unit, self._holes, in_table=True).split("\n")
            self._cell += filter(None, (line.strip(_BLANK) for line in lines))
            return
        written = write_unit(unit, self._holes, mark or self._out.mark)
        if not written or not written.strip(_BLANK):
            return
        if self._out.gap == AFTER_LIST:
            self._out.gap = APART
        if "[^" in written or self._out.mark[:2] == "[^":
            written = self._settle_definitions(written)
        self._out.write((mark + written).split("\n"))

    def _settle_definitions(self, written: str) -> str:
        """Return a line that defines no footnote by a mark that begins it, and, where it begins a
        note, no link for renderers that know no footnotes: `[^1]: Ibid.`"""
        written = _DEFINED.sub(r"\1\:", written)
        if self._out.mark[:2] == "[^" and _DEFINES.match(written):
            written = f"{written} &nbsp;"
        return written

    def _fill(self, markdown: str) -> None:
        """Write Markdown that is ready, in a line."""
        if markdown:
            self._holes.append(markdown)
            self._pieces.append(HOLE.format(len(self._holes) - 1))

    # Elements; each tells whether all of it is written.

    def _skip(self, element: int, tag: str) -> bool:
        self._pieces.append(" ")
        return True

    def _begin_heading(self, element: int, tag: str) -> bool:
        if element in self._repeated:
            return True
        if self._look.holds(element, _IN_NO_HEADING) or self._n_inline or self._cell is not None:
            return self._begin_block(element, tag)
        self._break()
        level = int(self._tree.tags[element][1]) + (element > self._lower_from)
        self._n_inline += 1
        self._at_end(element, self._end_heading, "#" * min(level, 6) + " ")
        return False

    def _end_heading(self, mark: str) -> None:
        self._n_inline -= 1
        unit = "".join(self._pieces).strip(_BLANK).replace("\n", " ")
        opener, closer = EMPHASIS["strong"]
        if unit.startswith(opener) and unit.endswith(closer) and unit.count(opener) == 1:
            unit = unit[1:-1]
        self._pieces[:] = [unit]
        self._flush(mark)
        self._pieces.clear()
        self._out.gap = APART

    def _begin_emphasis(self, element: int, tag: str) -> bool:
        kind = _EMPHASIZED.get(self._roles.get(element) or self._tree.tags[element], "strong")
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
        """Begin a line of its own that is emphasized."""
        self._break()
        self._at_end(element, self._break)
        return self._begin_emphasis(element, tag)

    def _begin_anchor(self, element: int, tag: str) -> bool:
        tree = self._tree
        look = self._look
        if (
            "#" in tag
            and look.size(element) <= _NEAREST
            and (is_permalink(tree, element) or self._is_back_link(element, tag))
        ):
            return True
        if (
            self._is_in_link
            or element in self._notes.lost
            or not (look.has_text(element) or look.holds(element, SHOWS))
        ):
            return False
        href = attribute(tag, "href") or "" if self._settings.links == "keep" else ""
        is_ready = href.startswith(("https://", "http://")) and is_plain(href)
        address = href if is_ready else clean_inert_address(href)
        if not address or address == "#":
            return False
        title = attribute(tag, "title") if " title=" in tag else None
        said = self._read_text(element) if title else ""
        self._holes.append(write_destination(address, title or "", said) if title or not is_ready else address)
        hole = len(self._holes) - 1
        if not self._look.holds(element, STRUCTURE):
            self._begin_link(element, hole)
            return False
        target = self._find_title(element)
        if target is not None:
            self._card_links[target] = hole
        self._break()
        self._at_end(element, self._break)
        return False

    def _is_back_link(self, element: int, tag: str) -> bool:
        """Tell whether a link leads from a note back to its place: it shows an arrow alone."""
        if self._look.holds(element, SHOWS):
            return False
        return "#" in (attribute(tag, "href") or "") and _BACK_LINK.fullmatch(self._read_text(element)) is not None

    def _find_title(self, element: int) -> int | None:
        """Return what the link of a card can go to: its first heading, else the first line in it
        that has a text."""
        look = self._look
        heading = next((each for each in look.within(element, HEADINGS) if look.has_text(each)), None)
        if heading is not None:
            return heading
        lines = (each for each in look.within(element, _LINES) if look.has_text(each))
        return next((each for each in lines if not look.holds(each, LINE_BREAKING)), None)

    def _begin_link(self, element: int, hole: int) -> None:
        self._pieces.append(LINK)
        self._is_in_link = True
        self._n_inline += 1
        self._at_end(element, self._end_link, len(self._pieces), hole)

    def _end_link(self, start: int, hole: int) -> None:
        self._is_in_link = False
        self._n_inline -= 1
        inside = "".join(self._pieces[start:])
        if inside.isascii() and inside[:1] > " " < inside[-1:] and "\n" not in inside:
            self._pieces.append(TARGET.format(hole))
            return
        text = inside.strip(_BLANK)
        before, _, behind = inside.partition(text) if text else ("", "", inside)
        if text.strip(OPENERS + "\ufde7\ufde9\ufdeb"):
            self._pieces[start - 1 :] = [before, LINK, _BREAKS_IN_LINK.sub("\n", text), TARGET.format(hole), behind]
        else:
            self._pieces[start - 1 :] = [inside]

    def _write_image(self, element: int, tag: str) -> bool:
        if self._settings.images == "drop":
            return True
        address, alt = clean_inert_address(attribute(tag, "src") or ""), drop_unseen(attribute(tag, "alt") or "")
        title = attribute(tag, "title") or "" if " title=" in tag else ""
        said, alt = alt, " ".join(alt.split())
        if alt and is_said_beside(self._look, self._texts, self._tree.opens[element], alt):
            alt = ""
        if not address:
            self._pieces.append(alt)
            return True
        self._holes.append(write_destination(address, title, said))
        self._pieces += [IMAGE, alt, TARGET.format(len(self._holes) - 1)]
        return True

    def _break_line(self, element: int, tag: str) -> bool:
        self._pieces.append(" " if self._n_inline > self._is_in_link else "\n")
        return True

    def _write_rule(self, element: int, tag: str) -> bool:
        self._break()
        if self._cell is None and not self._n_inline:
            number = attribute(tag, "_post")
            self._out.write(["---" if number is None else LINE.format(number)])
            self._out.gap = APART
        return True

    def _write_exponent(self, element: int, tag: str) -> bool:
        tree = self._tree
        if tree.lasts[element] - element < 4 and "a" not in tree.tags[element + 1 : tree.lasts[element] + 1]:
            before = "".join(self._pieces[-_NEAREST:])
            if _EXPONENT.fullmatch(self._read_text(element)) and _BASE.search(before.rstrip("\ufde7\ufde9")):
                self._pieces.append("^")
        return False

    def _quote(self, element: int, tag: str) -> bool:
        self._pieces.append('"')
        self._at_end(element, self._pieces.append, '"')
        return False

    def _write_control(self, element: int, tag: str) -> bool:
        """Write the box of an item of a list of tasks; no other control says anything."""
        parent = self._tree.parents[element]
        while parent > 0 and self._tree.tags[parent] in ("label", "p", "span"):
            parent = self._tree.parents[parent]
        if "task-list-item" in (attribute(self._tree.start_tag(parent), "class") or "") and not self._n_inline:
            self._fill("[x]" if " checked" in tag else "[ ]")
        self._pieces.append(" ")
        return True

    def _write_drawing(self, element: int, tag: str) -> bool:
        first, last = self._tree.opens[element] // 2 + 1, self._tree.closes[element] // 2 + 1
        self._pieces.append(f" {' '.join(self._texts[first:last])} ")
        return True

    def _write_code(self, element: int, tag: str) -> bool:
        tree = self._tree
        if tree.tags[element] == "pre" or (tree.tags[element] == "code" and has_lines(tree, element)):
            return self._write_code_block(element, find_language(tree, element))
        code = drop_unseen(read_code(tree, element))
        self._write_span(code)
        return True

    def _write_code_box(self, element: int, tag: str) -> bool:
        return self._write_code_block(element, find_language(self._tree, element))

    def _write_span(self, code: str) -> None:
        if not code.strip():
            self._pieces.append(" ")
            return
        hole, before = self._span
        if hole and self._pieces and self._pieces[-1] == hole:
            # Two spans right after each other would not be two.
            code = before + code
            self._holes[-1] = write_code_span(code)
        else:
            self._fill(write_code_span(code))
        self._span = self._pieces[-1], code

    def _write_code_block(self, element: int, language: str = "") -> bool:
        code = read_code(self._tree, element)
        if self._n_inline or self._cell is not None:
            self._break()
            for line in code.split("\n") if self._cell is not None else [code]:
                self._write_span(line)
                self._break()
            return True
        self._break()
        if code.strip():
            fence = "`" * max(3, 1 + count_ticks(code))
            self._out.write([fence + language, *code.split("\n"), fence])
            self._out.gap = APART
        return True

    def _write_mark(self, element: int, tag: str) -> bool:
        self._fill(f"[^{self._notes.numbers[element]}]")
        return True

    def _begin_note(self, element: int, tag: str) -> bool:
        self._break()
        self._out.open(f"[^{self._notes.numbers[element]}]: ", "    ")
        self._at_end(self._notes.lasts[element], self._end_container)
        return False

    def _leave_out(self, element: int, tag: str) -> bool:
        return True

    def _begin_quotation(self, element: int, tag: str) -> bool:
        self._break()
        if self._cell is not None or self._n_inline:
            return self._begin_block(element, tag)
        self._out.open("> ", "> ")
        self._at_end(element, self._end_container)
        return False

    def _end_container(self) -> None:
        self._break()
        self._out.close()

    # Lists

    def _begin_list(self, element: int, tag: str) -> bool:
        tree = self._tree
        if self._cell is not None or self._n_inline:
            return self._begin_block(element, tag)
        items = list_items(tree, element)
        is_ordered = tree.tags[element] == "ol"
        if not is_ordered and items and all(find_first_heading(tree, self._look, item) for item in items):
            self._roles |= dict.fromkeys(items, "div")
            return self._begin_block(element, tag)
        start = read_number(attribute(tag, "start") if " start=" in tag else None, 1) if is_ordered else 1
        self._open_list(_List(is_ordered, start - 1, start - 1))
        self._at_end(element, self._end_list)
        return False

    def _open_list(self, opened: _List) -> None:
        self._flush()
        outer = self._lists[-1] if self._lists else None
        if outer is None:
            self._out.gap = APART
        elif outer.is_open:
            # Only a list that begins with 1 can follow a text without an empty line.
            self._out.gap = max(self._out.gap, APART if opened.is_ordered and opened.number else TIGHT)
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
        if self._cell is not None or self._n_inline:
            return self._begin_block(element, tag)
        owner = self._lists[-1] if self._lists else None
        inner = find_only_list(tree, look, element)
        if owner and inner is not None and owner.is_ordered == (tree.tags[inner] == "ol"):
            self._roles |= dict.fromkeys(range(element, inner + 1), "none")
            self._at_end(element, _do_nothing)
            return False
        if owner:
            owner.shown = read_number(attribute(tag, "value") if " value=" in tag else None, owner.shown + 1)
        if is_empty(tree, look, element):
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

    def _open_item(self, owner: _List | None) -> None:
        self._flush()
        out = self._out
        if out.gap == AFTER_LIST:
            out.gap = TIGHT
        mark = "- "
        if owner and owner.is_ordered:
            if owner.shown != owner.number + 1 and owner.rest:
                # Numbers that do not follow each other are those of two lists.
                owner.delimiter = ")" if owner.delimiter == "." else "."
                out.gap = APART
            owner.number = owner.shown
            mark = f"{owner.shown}{owner.delimiter} "
        if owner:
            owner.is_open, owner.rest = True, " " * len(mark)
        out.open(mark, " " * len(mark))

    def _end_item(self, owner: _List | None) -> None:
        self._flush()
        self._out.close()
        if owner:
            owner.is_open = False

    def _begin_terms(self, element: int, tag: str) -> bool:
        rows = list_terms(self._tree, self._look, element)
        if not rows or self._cell is not None or self._n_inline:
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
        self._open_list(_List(has_terms=True))
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
            self._open_list(_List())
        self._open_item(self._lists[-1])
        self._at_end(element, self._end_item, self._lists[-1])
        return False

    # Tables

    def _begin_table(self, element: int, tag: str) -> bool:
        if self._table is None and not self._n_inline and is_code_table(self._tree, self._look, element):
            return self._write_code_block(element)
        is_data = self._settings.tables == "keep" and self._table is None and not self._n_inline
        if not is_data or is_layout(self._tree, self._look, element):
            return self._begin_block(element, tag)
        self._break()
        self._table = Table()
        self._roles |= find_parts(self._tree, self._look, element)
        self._at_end(element, self._end_table)
        return False

    def _end_table(self) -> None:
        table, self._table = self._table, None
        assert table is not None
        self._break()
        self._out.refuse(table.size())
        if lines := table.lines():
            self._out.write(lines)
        self._out.gap = APART

    def _begin_row(self, element: int, tag: str) -> bool:
        if self._table is not None:
            self._table.add_row()
            self._out.refuse(2 * self._table.n_cells)
        return False

    def _begin_cell(self, element: int, tag: str) -> bool:
        if self._pieces:
            self._flush()
        self._cell = []
        self._at_end(element, self._end_cell, tag)
        return False

    def _end_cell(self, tag: str) -> None:
        if self._pieces:
            self._flush()
        table, cell, self._cell = self._table, self._cell, None
        if table is not None and cell is not None:
            table.add_cell(tag, "<br>".join(cell))

    def _read_text(self, element: int) -> str:
        """Return the text in an element, without blanks around."""
        first, last = self._tree.opens[element] // 2 + 1, self._tree.closes[element] // 2 + 1
        return "".join(self._texts[first:last]).strip()


def _is_notable(tags: str) -> bool:
    return "mw-editsection" in tags or may_be_formula(tags)


def _do_nothing() -> None:
    """End an element of which nothing is written."""


def _read_texts(tree: Tree, holes: list[str]) -> list[str]:
    """Return the texts of a tree as characters: without what shows nothing, blanks for line breaks
    of the source, neighbours that a browser sets apart with a blank between them, LaTeX as
    holes."""
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
    for place in find_kept_lines(tree) if "white-space" in "".join(tree.names) else ():
        texts[place // 2] = collapse_lines(unescape(drop_unseen(parts[place])))
    return texts


_Handler = Callable[[Writer, int, str], bool]
_HANDLERS: dict[str, _Handler] = {
    **dict.fromkeys(HEADINGS, Writer._begin_heading),
    **dict.fromkeys(_EMPHASIZED, Writer._begin_emphasis),
    **dict.fromkeys(("summary", "legend", "figcaption", "caption"), Writer._begin_line),
    **dict.fromkeys(_CODE | {"pre"}, Writer._write_code),
    **dict.fromkeys(_UNREAD, Writer._skip),
    **dict.fromkeys(("ul", "ol", "menu"), Writer._begin_list),
    "a": Writer._begin_anchor,
    "img": Writer._write_image,
    "br": Writer._break_line,
    "hr": Writer._write_rule,
    "sup": Writer._write_exponent,
    "q": Writer._quote,
    "input": Writer._write_control,
    "svg": Writer._write_drawing,
    "blockquote": Writer._begin_quotation,
    "li": Writer._begin_item,
    "dl": Writer._begin_terms,
    "table": Writer._begin_table,
}
_ROLES: dict[str, _Handler] = {
    **dict.fromkeys(("meaning", "meaning-item"), Writer._begin_meaning),
    "strong-line": Writer._begin_line,
    "term": Writer._begin_term,
    "row": Writer._begin_row,
    "cell": Writer._begin_cell,
    "code-box": Writer._write_code_box,
    "mark": Writer._write_mark,
    "note": Writer._begin_note,
    "gone": Writer._leave_out,
}
"""Handlers of the parts of lists, tables and notes, whatever their elements are named."""
