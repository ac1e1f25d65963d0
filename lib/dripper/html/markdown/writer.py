"""Writes a tree of main HTML as Markdown, in one walk over its parts.

Decisions that need a look ahead are made at the start tag of an element, with `Look`, and noted for
the elements inside: the cells of a data table, the terms of a list, the heading that gets a card's
link.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from dripper.html.markdown.code import find_code_boxes
from dripper.html.markdown.formulas import may_be_formula, read_formula
from dripper.html.markdown.inert import EMPHASIS
from dripper.html.markdown.lines import BLANK, EMPHASIZED, do_nothing
from dripper.html.markdown.links import LinkWriter
from dripper.html.markdown.lists import ListWriter
from dripper.html.markdown.look import STRUCTURE
from dripper.html.markdown.notes import find_notes
from dripper.html.markdown.output import APART, NO_HEADS, Heads, Markdown, Output
from dripper.html.markdown.repeats import find_repeated_headings, find_twins
from dripper.html.markdown.tables import TableWriter
from dripper.html.tree.elements import HEADINGS, LINE_BREAKING, words
from dripper.html.tree.tree import Tree, attribute
from dripper.settings import MarkdownSettings

_BLOCKS = LINE_BREAKING - {"br", "noscript"} | {"video", "audio"}
_IN_NO_HEADING = STRUCTURE - {"pre"}
_CODE = words("code kbd samp tt")
_LISTS = words("ul ol menu li dl")
"""Elements that are plain blocks in a cell, a heading or a link."""
_UNREAD = words("select datalist iframe script style template noembed noframes xmp plaintext head title")
"""Elements that write nothing: fields to fill in, and elements without readable text."""
_EDIT_LINK = re.compile(r'class="(?:[^"]*\s)?mw-editsection[\s"]')
_BODY = re.compile(r"post|message|content", re.IGNORECASE)
"""A part of the start tag of a quotation that holds a whole post."""
_EXPONENT = re.compile(r"\s*[-+\u2212\u2013]?[0-9]{1,4}\s*")
_BASE = re.compile(r"[0-9)]$|(?<![^\W\d_])[^\W\d_]{1,2}$")
"""Base of an exponent: a number, or a name or unit of one or two letters. A number behind a longer
word is the number of a note."""
_NEAREST = 32
"""Pieces before an exponent among which its base is searched for."""
_SHARE_INDENTED = 0.85
"""Share of a page's text above which a `blockquote` is no quotation. This holds for ten of the
eleven on 5,619 training pages; the eleventh is a shop's text about an album."""
_LEAST_INDENTED = 300
"""Characters of the shortest blockquote to which that applies."""
_NOTHING, _BLOCK, _SPECIAL = range(3)


class Writer(LinkWriter, ListWriter, TableWriter):
    """Writes one tree.

    Args:
        limit: Characters that may be written.
        is_below: Whether a title will be written above: then all headings go down a level if there
            is an `h1`.
        heads: The lines above the content and above posts.
    """

    def __init__(
        self, tree: Tree, settings: MarkdownSettings, limit: int, heads: Heads = NO_HEADS, *, is_below: bool = False
    ) -> None:
        super().__init__(tree, settings, Output(limit, heads))
        self._card_links = {}
        tops = tree.find("h1")
        self._lower_from = -1 if is_below and tops else tops[0] if len(tops) > 1 else len(tree)
        self._quoting = dict[int, int]()
        if heads.posts:
            self._set_apart_posts(sorted(heads.posts))
        if "blockquote" in tree.tags:
            self._set_apart_indented()
        self._repeated = find_repeated_headings(tree, self._look)
        self._roles |= dict.fromkeys(find_twins(tree, self._texts, self._look), "gone")
        self._notes = find_notes(tree, self._texts, self._look)
        self._roles |= self._notes.roles
        if " data-lang" in "".join(tree.names):
            self._roles |= dict.fromkeys(find_code_boxes(tree), "code-box")
        self._notable = {tree.start_tag(element) for element in self._roles}
        """The start tags of elements that may be a formula or a link that edits a section, or that
        have a role."""

    def _set_apart_posts(self, rules: Sequence[int]) -> None:
        """Do not write the elements around the rules before posts as lists, quotations or tables.
        Also do not write as a quotation an element with the start tag of the quotation around most
        of the rules: it also holds the text of a post."""
        tree, holders = self._tree, Counter[str]()
        for rule, following in pairwise([*rules, len(tree)]):
            end = tree.opens[following] if following < len(tree) else len(tree.parts)
            above, holder = tree.parents[rule], ""
            self._roles[rule] = "post"
            for around in tree.nearest(above, _NEAREST):
                if tree.tags[around] == "blockquote" and self._comes_first(around, rule, end):
                    self._roles |= {rule: "gone", around: "quotation"}
                    self._quoting[around], above = rule, tree.parents[around]
                    break
            while above >= 0 and above not in self._roles:
                self._roles[above] = "div"
                holder = tree.start_tag(above) if tree.tags[above] == "blockquote" else holder
                above = tree.parents[above]
            holders[holder] += " class=" in holder
        if 2 * max(holders.values()) > len(rules):
            self._roles |= dict.fromkeys(tree.tagged({max(holders, key=holders.__getitem__)}), "div")

    def _comes_first(self, element: int, rule: int, end: int) -> bool:
        """Return whether a quotation around the rule before a post is a quotation at the beginning
        of that post."""
        opens, closes, says = self._tree.opens, self._tree.closes, self._look.says
        is_body = _BODY.search(self._tree.start_tag(element)) is not None
        return not is_body and not says(opens[element], opens[rule]) and says(closes[element], end)

    def _set_apart_indented(self) -> None:
        """Do not write a `blockquote` that holds almost all text of the page as a quotation: old
        pages use it to indent."""
        least = max(_LEAST_INDENTED, _SHARE_INDENTED * sum(map(len, self._texts)))
        for element in self._tree.find("blockquote"):
            if self._look.size(element) > least:
                self._roles[element] = "div"

    def write(self) -> Markdown:
        """Write the Markdown, and return it."""
        tree, texts, ends, roles, pieces = self._tree, self._texts, self._ends, self._roles, self._pieces
        out, closes = self._out, tree.closes
        kinds = self._read_kinds()
        elements = dict(zip(tree.opens, range(len(tree)), strict=True))
        position = 0
        """Position of the next text among the texts."""
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
        return out.finish()

    def _read_kinds(self) -> dict[str, int]:
        """Return the tags that begin a line, and the tags that need a handler."""
        names = self._tree.names
        kinds = {tag: _BLOCK for tag, name in names.items() if name in _BLOCKS}
        kinds |= {tag: _SPECIAL for tag, name in names.items() if name in _HANDLERS}
        if _is_notable("\n".join(names)):
            self._notable.update(tag for tag in names if tag[1:2] != "/" and _is_notable(tag))
        return kinds | dict.fromkeys(self._notable, _SPECIAL)

    def _begin(self, element: int, tag: str) -> bool:
        """Begin a special element, and return whether it is written completely."""
        role = self._roles.get(element)
        if role is None and tag in self._notable:
            if may_be_formula(tag) and (formula := read_formula(self._tree, element)) is not None:
                self._fill(formula)
                return True
            if "mw-editsection" in tag and _EDIT_LINK.search(tag):
                self._pieces.append(" ")
                return True
        if role == "none":
            self._at_end(element, do_nothing)
            return False
        name = role or self._tree.tags[element]
        if name in _LISTS and (self._cell is not None or self._n_inline):
            return self._begin_block(element, tag)
        handler = (_ROLES.get(name) if role else None) or _HANDLERS.get(name)
        return handler(self, element, tag) if handler else name in _BLOCKS and self._begin_block(element, tag)

    # Elements; each method returns whether the element is written completely.

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
        unit = "".join(self._pieces).strip(BLANK).replace("\n", " ")
        opener, closer = EMPHASIS["strong"]
        if unit.startswith(opener) and unit.endswith(closer) and unit.count(opener) == 1:
            unit = unit[1:-1]
        self._pieces[:] = [unit]
        self._flush(mark)
        self._pieces.clear()
        self._out.gap = APART

    def _break_line(self, element: int, tag: str) -> bool:
        self._pieces.append(" " if self._n_inline > self._is_in_link else "\n")
        return True

    def _write_rule(self, element: int, tag: str) -> bool:
        self._break()
        if self._cell is None and not self._n_inline:
            self._out.write(["---"])
            self._out.gap = APART
        return True

    def _begin_post(self, element: int, tag: str) -> bool:
        self._break()
        if self._cell is None and not self._n_inline:
            self._out.begin_post(element)
            self._out.gap = APART
        return True

    def _write_exponent(self, element: int, tag: str) -> bool:
        tree = self._tree
        if tree.lasts[element] - element < 4 and "a" not in tree.tags[element + 1 : tree.lasts[element] + 1]:
            before = "".join(self._pieces[-_NEAREST:])
            if _EXPONENT.fullmatch(self._look.read(element).strip()) and _BASE.search(before.rstrip("\ufde7\ufde9")):
                self._pieces.append("^")
        return False

    def _quote(self, element: int, tag: str) -> bool:
        self._pieces.append('"')
        self._at_end(element, self._pieces.append, '"')
        return False

    def _write_control(self, element: int, tag: str) -> bool:
        """Write the checkbox of an item in a task list, which says so or lets nobody change it; all
        other controls become a blank."""
        parent = self._tree.parents[element]
        while parent > 0 and self._tree.tags[parent] in ("label", "p", "span"):
            parent = self._tree.parents[parent]
        is_fixed = self._tree.tags[parent] == "li" and ' type="checkbox"' in tag and " disabled" in tag
        is_task = is_fixed or "task-list-item" in (attribute(self._tree.start_tag(parent), "class") or "")
        if is_task and not self._n_inline:
            self._fill("[x]" if " checked" in tag else "[ ]")
        self._pieces.append(" ")
        return True

    def _write_drawing(self, element: int, tag: str) -> bool:
        first, last = self._tree.opens[element] // 2 + 1, self._tree.closes[element] // 2 + 1
        self._pieces.append(f" {' '.join(self._texts[first:last])} ")
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

    def _quote_in_post(self, element: int, tag: str) -> bool:
        self._begin_post(self._quoting[element], tag)
        return self._begin_quotation(element, tag)

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


def _is_notable(tags: str) -> bool:
    return "mw-editsection" in tags or may_be_formula(tags)


_Handler = Callable[[Writer, int, str], bool]
_HANDLERS: dict[str, _Handler] = {
    **dict.fromkeys(HEADINGS, Writer._begin_heading),
    **dict.fromkeys(EMPHASIZED, Writer._begin_emphasis),
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
    "post": Writer._begin_post,
    "quotation": Writer._quote_in_post,
}
"""Handlers of the parts of lists, tables and notes, whatever the names of their elements."""
