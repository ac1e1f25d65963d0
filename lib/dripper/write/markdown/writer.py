"""Writes a tree of main HTML as Markdown, in one pass.

`Source` holds the tree, its text, and the roles of elements. `Lines` collects the text of each
line. The parts (writers of lists, tables, links, code, notes and so on) share both objects, and
each part keeps the state of its own elements. Decisions that need look-ahead are made at an
element's start tag. They are stored as roles of the inner elements, such as the cells of a data
table or the terms of a list.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from dripper.settings import MarkdownSettings
from dripper.tree.elements import HEADINGS, LINE_BREAKING, words
from dripper.tree.parser import output_limit
from dripper.tree.tree import Tree
from dripper.write.markdown.code import CodeWriter, find_code_boxes
from dripper.write.markdown.formulas import may_be_formula, read_formula
from dripper.write.markdown.lines import EMPHASIZED, Lines, do_nothing
from dripper.write.markdown.links import LinkWriter
from dripper.write.markdown.lists import ListWriter
from dripper.write.markdown.notes import NoteWriter, find_notes
from dripper.write.markdown.output import APART, Heads, Markdown, Output
from dripper.write.markdown.phrases import PhraseWriter
from dripper.write.markdown.quotations import QuotationWriter
from dripper.write.markdown.repeats import find_repeated_headings, find_twins
from dripper.write.markdown.source import read_source
from dripper.write.markdown.tables import TableWriter

_BLOCKS = LINE_BREAKING - {"br", "noscript"} | {"video", "audio"}
_UNREAD = words("select datalist iframe script style template noembed noframes xmp plaintext head title")
"""Elements that are written as a space: form fields, and elements without readable text."""
_NEVER_INLINE = words("ul ol menu li dl")
"""Elements that are written as plain blocks in a cell, a heading or a link."""
_EDIT_LINK = re.compile(r'class="(?:[^"]*\s)?mw-editsection[\s"]')
_Begin = Callable[[Any, int, str], bool]
"""Method that writes an element, or only its beginning. Returns whether all content of the element
is already written."""
_ELEMENTS: Mapping[str, Mapping[str, _Begin]] = {
    "lines": {
        **dict.fromkeys(EMPHASIZED, Lines.begin_emphasis),
        **dict.fromkeys(("summary", "legend", "figcaption", "caption"), Lines.begin_line),
    },
    "phrases": {
        **dict.fromkeys(HEADINGS, PhraseWriter.begin_heading),
        **dict.fromkeys(_UNREAD, PhraseWriter.write_blank),
        "br": PhraseWriter.write_break,
        "sup": PhraseWriter.write_exponent,
        "q": PhraseWriter.quote,
        "input": PhraseWriter.write_control,
        "svg": PhraseWriter.write_drawing,
    },
    "links": {"a": LinkWriter.begin_anchor, "img": LinkWriter.write_image},
    "code": dict.fromkeys(("code", "kbd", "samp", "tt", "pre"), CodeWriter.write),
    "lists": {
        **dict.fromkeys(("ul", "ol", "menu"), ListWriter.begin_list),
        "li": ListWriter.begin_item,
        "dl": ListWriter.begin_terms,
    },
    "tables": {"table": TableWriter.begin_table},
    "quotations": {"blockquote": QuotationWriter.begin, "hr": QuotationWriter.write_rule},
}
"""The methods that write elements, by part and element name."""
_ROLES: Mapping[str, Mapping[str, _Begin]] = {
    "lines": {"strong-line": Lines.begin_line},
    "phrases": {"gone": PhraseWriter.leave_out},
    "code": {"code-box": CodeWriter.write_box},
    "lists": {
        "term": ListWriter.begin_term,
        **dict.fromkeys(("meaning", "meaning-item"), ListWriter.begin_meaning),
    },
    "tables": {"row": TableWriter.begin_row, "cell": TableWriter.begin_cell},
    "notes": {"mark": NoteWriter.write_mark, "note": NoteWriter.begin},
    "quotations": {"post": QuotationWriter.begin_post, "first-quotation": QuotationWriter.begin_first},
}
"""The methods that write elements with a role, keyed by part and role."""
_BY_NAME, _BY_ROLE = (
    {name: (part, begin) for part, begins in table.items() for name, begin in begins.items()}
    for table in (_ELEMENTS, _ROLES)
)
_BLOCK, _SPECIAL = range(2)


class Writer:
    """Writes one tree.

    Args:
        heads: The lines above the content and above posts. If there is a title and an `h1`, all
            headings go down a level.
    """

    def __init__(self, tree: Tree, settings: MarkdownSettings, heads: Heads) -> None:
        self._tree = tree
        self._source = source = read_source(tree)
        self._lines = lines = Lines(source, Output(output_limit(sum(map(len, tree.parts))), heads))
        tops = tree.find("h1")
        lower_from = -1 if heads.title and tops else tops[0] if len(tops) > 1 else len(tree)
        quotations, code = QuotationWriter(source, lines), CodeWriter(tree, lines)
        if heads.posts:
            quotations.set_apart_posts(sorted(heads.posts))
        if "blockquote" in tree.tags:
            quotations.set_apart_indented()
        source.roles |= dict.fromkeys((*find_repeated_headings(source), *find_twins(source)), "gone")
        notes = find_notes(source, lines)
        if " data-lang" in "".join(tree.names):
            source.roles |= dict.fromkeys(find_code_boxes(tree), "code-box")
        self._links = LinkWriter(source, lines, settings, notes.lost)
        self._parts = {
            "lines": lines,
            "phrases": PhraseWriter(source, lines, lower_from),
            "links": self._links,
            "code": code,
            "lists": ListWriter(source, lines),
            "tables": TableWriter(source, lines, code, settings.tables == "keep"),
            "notes": notes,
            "quotations": quotations,
        }
        self._notable = {tree.start_tag(element) for element in source.roles}
        """Start tags of elements that have a role, may be a formula, or may be a section's edit
        link."""

    def write(self) -> Markdown:
        """Write the Markdown, and return it."""
        tree, source, lines = self._tree, self._source, self._lines
        texts, roles, ends, pieces, cards = source.texts, source.roles, lines.ends, lines.pieces, self._links.cards
        out, closes = lines.out, tree.closes
        kinds = self._read_kinds()
        elements = dict(zip(tree.opens, range(len(tree)), strict=True))
        position = 0
        """Index of the next text."""
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
                    lines.set_apart()
                continue
            if kind == _BLOCK and element not in roles:
                if pieces or out.gap != APART:
                    lines.set_apart()
            elif self._begin(element, tree.parts[index]):
                position = closes[element] // 2 + 1
                continue
            if element in cards:
                self._links.begin(element, cards[element])
        pieces += texts[position:]
        lines.end()
        return out.finish()

    def _read_kinds(self) -> dict[str, int]:
        """Return the kind of each tag that begins a line or needs a handler."""
        names = self._tree.names
        kinds = {tag: _BLOCK for tag, name in names.items() if name in _BLOCKS}
        kinds |= {tag: _SPECIAL for tag, name in names.items() if name in _BY_NAME}
        if _is_notable("\n".join(names)):
            self._notable.update(tag for tag in names if tag[1:2] != "/" and _is_notable(tag))
        return kinds | dict.fromkeys(self._notable, _SPECIAL)

    def _begin(self, element: int, tag: str) -> bool:
        """Begin a special element. Return whether all content of the element is already written."""
        role = self._source.roles.get(element)
        if role is None and tag in self._notable:
            if may_be_formula(tag) and (formula := read_formula(self._tree, element)) is not None:
                self._lines.fill(formula)
                return True
            if "mw-editsection" in tag and _EDIT_LINK.search(tag):
                self._lines.pieces.append(" ")
                return True
        if role == "none":
            self._lines.at_end(element, do_nothing)
            return False
        name = role or self._tree.tags[element]
        if name in _NEVER_INLINE and (self._lines.cell is not None or self._lines.n_inline):
            return self._lines.begin_block(element, tag)
        part, begin = (_BY_ROLE.get(name) if role else None) or _BY_NAME.get(name) or ("", None)
        if begin is not None:
            return begin(self._parts[part], element, tag)
        return name in _BLOCKS and self._lines.begin_block(element, tag)


def _is_notable(tags: str) -> bool:
    return "mw-editsection" in tags or may_be_formula(tags)
