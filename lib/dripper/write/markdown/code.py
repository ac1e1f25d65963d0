"""Writes code as Markdown, with its language and without line numbers and buttons."""

import re
from dataclasses import dataclass

from dripper.tree.elements import LINE_BREAKING
from dripper.tree.tree import Tree, attribute, unescape
from dripper.write.markdown.inert import count_ticks, drop_unseen, write_code_span
from dripper.write.markdown.lines import Lines
from dripper.write.markdown.output import APART
from dripper.write.markdown.source import Source

_LANGUAGE = re.compile(
    r"\b(?:lang(?:uage)?|brush|highlight-source|sourceCode|prettyprint lang)[-: ]+([A-Za-z][\w+#.-]*)"
)
_HIGHLIGHTED = re.compile(r"(?<!\S)hljs (?:\S* )*?([a-z][\w+#]*)(?!\S)")
"""`hljs js`: highlight.js names the language without a prefix. Inside the code, classes such as
`hljs-string` name token types."""
_NAME = re.compile(r"[\w+#./-]{1,50}")
_LINE_NUMBERS = re.compile(
    r"\b(?:line-?numbers?(?:-rows)?|lineno|linenos|gutter|blob-num|lnt|CodeMirror-linenumber|cm-gutters?|"
    r"hljs-ln-numbers|code-?lines?-num)\b"
)
_CODE_BOX = re.compile(r' class="[^"]*(?:code|highlight|listing|snippet)', re.IGNORECASE)
_TABLES, _PRE = frozenset({"table"}), frozenset({"pre", "code"})
_ENDING_LINES = frozenset({"br", "pre", "div", "p"})
_NOT_LANGUAGES = frozenset(
    {"line", "numbers", "plaintext", "plain", "text", "txt", "none", "auto", "default", "nohighlight", "code"}
)


def read_code(tree: Tree, element: int) -> str:
    """Return the text of a code element, without line numbers, buttons and tooltips. Each `br` and
    each line-breaking element begins a new line."""
    lines: list[list[str]] = [[]]
    has_text = False
    for kind, piece in _read_code_pieces(tree, element):
        if kind == "text":
            lines[-1].append(piece)
            has_text = has_text or bool(piece.strip(" "))
        elif kind == "br" or (has_text and not lines[-1][-1].endswith("\n")):
            lines.append([])
            has_text = False
    written = ["".join(line).removesuffix("\n") for line in lines]
    return "\n".join(_drop_numbers(written) if written[0].strip().isdecimal() else written).strip("\n")


def find_code(tree: Tree, pre: int) -> int:
    """Return the only `code` in a `pre` if it shares no line with other text, such as a file name.
    Otherwise return the `pre`."""
    inside = range(pre + 1, tree.lasts[pre] + 1)
    codes = [each for each in inside if tree.tags[each] == "code"]
    if len(codes) != 1:
        return pre
    code = codes[0]
    lines = (each for each in inside if tree.tags[each] in LINE_BREAKING)
    beside = tree.outermost(each for each in lines if tree.lasts[each] < code or each > tree.lasts[code])
    pre_size, *sizes = (len("".join(tree.text(each).split())) for each in (pre, code, *beside))
    return code if pre_size == sum(sizes) else pre


def _drop_numbers(lines: list[str]) -> list[str]:
    """Remove line numbers if they are consecutive and each is on a line of its own before its line
    of code."""
    said = [line for line in lines if line.strip()]
    numbers, code = said[::2], said[1::2]
    first = int(numbers[0]) if len(numbers) == len(code) > 1 else 0
    is_gutter = first and [line.strip() for line in numbers] == [str(first + place) for place in range(len(numbers))]
    return code if is_gutter else lines


def _read_code_pieces(tree: Tree, element: int) -> list[tuple[str, str]]:
    """Return the pieces of a code element: ("text", characters), ("br", ""), and ("block", "") at
    both ends of a line-breaking element.
    """
    pieces = list[tuple[str, str]]()
    index, last, skip_to = tree.opens[element] + 1, tree.closes[element], -1
    inner, n_elements = element + 1, len(tree)
    while index < last:
        part = tree.parts[index]
        if index % 2 == 0:
            if index > skip_to and part:
                pieces.append(("text", unescape(part) if "&" in part else part))
        else:
            # Take the element's name from the tree, because the tag itself may be rewritten: the
            # link around a card moves into an element inside the card.
            is_start = inner < n_elements and tree.opens[inner] == index
            name = tree.tags[inner] if is_start else part.rpartition("</")[2][:-1]
            if is_start and index > skip_to and _is_beside_code(name, part):
                skip_to = tree.closes[inner]
            elif index > skip_to and name in LINE_BREAKING:
                pieces.append(("br" if name == "br" else "block", ""))
            inner += is_start
        index += 1
    return pieces


def _is_beside_code(name: str, tag: str) -> bool:
    return (
        name == "button"
        or ' role="tooltip"' in tag
        or (" class=" in tag and _LINE_NUMBERS.search(attribute(tag, "class") or "") is not None)
    )


def has_lines(tree: Tree, element: int) -> bool:
    """Return whether a `code` outside a `pre` has several lines. A single newline in the source
    does not count."""
    inside = tree.parts[tree.opens[element] + 1 : tree.closes[element]]
    return "".join(inside).strip().count("\n") > 1 or any(tree.names.get(tag) in _ENDING_LINES for tag in inside[1::2])


def find_code_boxes(tree: Tree) -> list[int]:
    """Return elements other than `code` that have a `data-lang` attribute and a class such as
    `highlight`. Each contains several lines and no line-breaking element."""
    tags = {tag for tag in tree.names if " data-lang" in tag and _CODE_BOX.search(tag)}
    return [
        element
        for element in tree.tagged(tags)
        if tree.tags[element] != "code"
        and LINE_BREAKING.isdisjoint(tree.tags[element + 1 : tree.lasts[element] + 1])
        and "\n" in "".join(tree.parts[tree.opens[element] + 1 : tree.closes[element] : 2]).strip()
    ]


def find_language(tree: Tree, element: int) -> str:
    """Return the language of a code block in lower case, or "" if none is named. Reads the
    attributes of the block, its parent, its grandparent, and a `code` directly inside the block."""
    around = [element, tree.parents[element], tree.parents[tree.parents[element]] if tree.parents[element] > 0 else 0]
    if tree.lasts[element] > element and tree.tags[element + 1] == "code":
        around.insert(0, element + 1)
    for each in around:
        values = tree.attributes(each)
        named = values.get("data-lang") or values.get("data-language") or ""
        names = values.get("class", "")
        match = _LANGUAGE.search(names) or _HIGHLIGHTED.search(names)
        language = named or (match.group(1) if match else "")
        if language and language.lower() not in _NOT_LANGUAGES:
            return language.lower() if _NAME.fullmatch(language) else ""
    return ""


def is_code_table(source: Source, table: int) -> bool:
    """Return whether a table only puts line numbers beside code."""
    if source.holds(table, _TABLES):
        return False
    tree = source.tree
    inside = set(tree.parts[tree.opens[table] + 2 : tree.closes[table] : 2])
    if not source.holds(table, _PRE) and not any("code" in tag for tag in inside):
        return False
    return any(" class=" in tag and _LINE_NUMBERS.search(attribute(tag, "class") or "") for tag in inside)


@dataclass(slots=True)
class CodeWriter:
    """Writes the code of one tree."""

    tree: Tree
    lines: Lines
    _span: tuple[str, str] = "", ""
    """Placeholder and code of the last code span written."""

    def write(self, element: int, tag: str) -> bool:
        """Write a code element, as a block if it is a `pre` or has several lines, otherwise as a
        span."""
        tree = self.tree
        if tree.tags[element] == "pre" or (tree.tags[element] == "code" and has_lines(tree, element)):
            inner = find_code(tree, element) if tree.tags[element] == "pre" else element
            return self.write_block(inner, find_language(tree, inner) or find_language(tree, element))
        self._write_span(drop_unseen(read_code(tree, element)))
        return True

    def write_box(self, element: int, tag: str) -> bool:
        """Write an element that is marked as code only by its attributes."""
        return self.write_block(element, find_language(self.tree, element))

    def _write_span(self, code: str) -> None:
        pieces, holes = self.lines.pieces, self.lines.holes
        if not code.strip():
            pieces.append(" ")
            return
        hole, before = self._span
        if hole and pieces and pieces[-1] == hole:
            # Renderers would read two adjacent spans as one.
            code = before + code
            holes[-1] = write_code_span(code)
        else:
            self.lines.fill(write_code_span(code))
        self._span = pieces[-1], code

    def write_block(self, element: int, language: str = "") -> bool:
        """Write an element as a code block. In a cell, a heading or a link, write code spans
        instead."""
        code, lines = read_code(self.tree, element), self.lines
        lines.set_apart()
        if lines.n_inline or lines.cell is not None:
            for line in code.split("\n") if lines.cell is not None else [code]:
                self._write_span(line)
                lines.set_apart()
        elif code.strip():
            fence = "`" * max(3, 1 + count_ticks(code))
            lines.out.write([fence + language, *code.split("\n"), fence])
            lines.out.gap = APART
        return True
