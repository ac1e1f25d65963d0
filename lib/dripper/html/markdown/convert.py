"""Converts main HTML to Markdown for readers; `convert_with_html2text` writes the form that the
Dripper paper scored (4.2.2, "Html+MD"; GPL-3.0, installed apart).

Markdown is written by html-to-markdown (Rust, MIT); what it cannot know is put in order before:
formulas become LaTeX, code keeps its lines and its language, tables that only lay out the page are
taken apart.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import html_to_markdown as h2m

from dripper.extras import import_extra
from dripper.html.markdown.formulas import delimit, find_tex, read_formula
from dripper.html.markdown.inert import (
    CODE_BLOCK,
    EMPHASIS,
    HOLE,
    drop_unwritten,
    has_unwritten,
    mask_marks_in_texts,
    replace_stand_ins,
    write_code_span,
)
from dripper.html.markdown.layout import ORDERED, measure_padding, put_in_order
from dripper.html.markdown.repeats import drop_repeats, find_shown_twins, is_shown_twin
from dripper.html.markdown.text import read_main_html
from dripper.html.markdown.tidy import (
    CONTROLS,
    Numbers,
    fills_heading,
    find_unwanted,
    is_back_link,
    is_wanted,
    order_headings,
    order_item,
    order_list,
    part_words,
)
from dripper.html.tree.elements import LINE_BREAKING, LISTS
from dripper.html.tree.parser import output_limit, refuse_large
from dripper.html.tree.plain import plain_parts
from dripper.html.tree.tree import Tree, attributes, unescape
from dripper.settings import MarkdownSettings


def load_html2text() -> Any:
    """Return the package html2text. Raises MachineError where it is not installed."""
    return import_extra("html2text", "markdown.converter=html2text needs", "pip install html2text (GPL-3.0-or-later)")


def convert_with_html2text(html: str, settings: MarkdownSettings) -> str:
    """Return HTML as html2text's Markdown, not wrapped; of the settings `links` and `images` apply.
    Raises MachineError."""
    if not html.strip():
        return ""
    converter = load_html2text().HTML2Text(bodywidth=0)
    converter.ignore_links = settings.links == "text"
    converter.ignore_images = settings.images == "drop"
    return str(converter.handle(html))


DEFAULT_MARKDOWN = MarkdownSettings()

_LANGUAGE = re.compile(
    r"\b(?:lang(?:uage)?|brush|highlight-source|sourceCode|prettyprint lang)[-: ]+([A-Za-z][\w+#.-]*)"
)
_HIGHLIGHTED = re.compile(r"(?<!\S)hljs (?:\S* )*?([a-z][\w+#]*)(?!\S)")
"""`hljs js`: highlight.js names the language by itself. `hljs-string` inside is a kind of token."""
_NAME = re.compile(r"[\w+#./-]{1,50}")
_LINE_NUMBERS = re.compile(
    r"\b(?:line-?numbers?(?:-rows)?|lineno|linenos|gutter|blob-num|hljs-ln-numbers|code-?lines?-num)\b"
)
_TEX = re.compile("tex(?!t)")
_SIMPLE_TEX = re.compile(r"\$(?=[^\s$])[^$\n\ufdd2]{0,300}[_^][^$\n\ufdd2]{0,300}(?<=[^\s$])\$(?![0-9])")
"""LaTeX without a backslash, whose indexes must not be escaped."""
_NOT_LANGUAGES = frozenset(
    {"line", "numbers", "plaintext", "plain", "text", "txt", "none", "auto", "default", "nohighlight", "code"}
)
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_EMPHASIS = dict.fromkeys(("b", "strong"), "strong") | dict.fromkeys(("i", "em", "var", "dfn"), "em")
_EMPHASIS |= dict.fromkeys(("del", "s", "strike"), "del")
_LINES_OF_THEIR_OWN = {"summary": "strong", "legend": "strong", "figcaption": "em", "video": "", "audio": ""}
"""Of the last two the converter would write addresses, with words of its own."""
_REWRITTEN = ORDERED | CONTROLS | LISTS | _CODE | _EMPHASIS.keys() | _LINES_OF_THEIR_OWN.keys() | {"pre", "svg"}
_MAX_DEPTH = 500
"""html-to-markdown returns nothing for elements nested some 1,000 deep; above this the page becomes
plain text."""
_WITH_ATTRIBUTES = frozenset(
    {"a", "img", "ol", "ul", "li", "td", "th", "input", "code", "pre", "math", "iframe", "object"}
)
"""Elements of which attributes say something to the converter."""
_HIDING = re.compile(r' (?:style|hidden)="[^"]*"')
"""What it takes for signs of hidden parts: where one might be, it goes a way that takes twice the
time."""
_ROW = re.compile(r"^[> ]*(?:[-*+] |\d+[.)] )?\| .*\|$", re.MULTILINE)
_BREAKS = re.compile(r"<br>(?:[ \u00a0]|<br>)*")
_BREAK_AT_START = re.compile(r"(?<!\\)\| <br>")
_BLANK_LINES = re.compile(r"\s*\n\s*")
_FORCED = re.compile("  \n(?=[> \ufde6\ufde8\ufdea]*\n)")
"""Line breaks before a line that is empty, or only begins emphasis: what is around it ends
there."""


def to_markdown(main_html: str, *, is_pruned: bool = False, settings: MarkdownSettings = DEFAULT_MARKDOWN) -> str:
    """Return HTML as Markdown: headings, lists and their numbers, tables, code, formulas, links,
    image texts; not wrapped.

    main_html: any HTML; "" gives "". is_pruned: it is what `prune` wrote for the profiles `dripper`
    and `paper`; then nothing has to be parsed, which saves a fifth of the time. Ends with one
    newline. What the page wrote is text, whatever it looks like (see `inert`), and no address
    leads to a script. Raises PageError(OUTPUT_TOO_LARGE), and nothing else, above
    `html.tree.parser.output_limit(len(main_html))`.

    >>> to_markdown("<p>See <a href='/x'>the\\nmap</a>.", settings=MarkdownSettings(links="text"))
    'See the map.\\n'
    """
    return write_markdown(read_main_html(main_html, is_pruned=is_pruned), settings) if main_html.strip() else ""


def write_markdown(tree: Tree, settings: MarkdownSettings = DEFAULT_MARKDOWN) -> str:
    """Return the Markdown of a tree of main HTML, which is used up: its parts are rewritten on the
    way."""
    if settings.converter == "html2text":
        return convert_with_html2text("".join(tree.parts), settings)
    limit = output_limit(sum(map(len, tree.parts)))
    if _measure_depth(tree) > _MAX_DEPTH:
        return _check_size(_write_plain(tree), limit)
    parts, names = tree.parts.copy(), tree.names
    _drop_unwritten(tree)
    part_words(tree)
    drop_repeats(tree)
    order_headings(tree)
    holes = _rewrite(tree, settings)
    refuse_large("Markdown", measure_padding(tree, holes), limit)
    _rewrite_texts(tree, holes)
    _strip_attributes(tree)
    try:
        markdown = _convert("".join(tree.parts))
    except h2m.ConversionError:
        tree.parts, tree.names = parts, names
        return _check_size(_write_plain(tree), limit)
    return _check_size(replace_stand_ins(markdown, holes).strip() + "\n", limit)


def _check_size(markdown: str, limit: int) -> str:
    refuse_large("Markdown", len(markdown), limit)
    return markdown


def _convert(html: str) -> str:
    markdown = _FORCED.sub("\n", h2m.convert(html, _build_options()).content or "")
    return _ROW.sub(_tidy_row, markdown) if "<br>" in markdown else markdown


def _tidy_row(row: re.Match[str]) -> str:
    """Return a row of a table with a line break only between lines of its cells, and one at a
    time."""
    if "<br>" not in row.group():
        return row.group()
    return _BREAK_AT_START.sub("| ", _BREAKS.sub("<br>", row.group()).replace("<br>|", " |"))


def _strip_attributes(tree: Tree) -> None:
    """Leave out attributes that the converter does not need, in place; `noscript` is shown like any
    other."""
    bare = {tag: _strip_tag(tag, name) for tag, name in tree.names.items()}
    tree.parts[1::2] = [bare[tag] if tag in bare else _strip_signs(tag) for tag in tree.parts[1::2]]


def _strip_tag(tag: str, name: str) -> str:
    if name == "noscript":
        return "</span>" if tag.startswith("</") else "<span>"
    if tag.startswith("</") or " " not in tag:
        return tag
    # The name as the tag has it: control characters are gone there, and the converter refuses them.
    return _strip_signs(tag) if name in _WITH_ATTRIBUTES else f"{tag.partition(' ')[0]}>"


def _strip_signs(tags: str) -> str:
    return _HIDING.sub("", tags) if " style=" in tags or " hidden=" in tags else tags


@cache
def _build_options() -> h2m.ConversionOptions:
    # The first dozen are defaults, but those are names, which the library looks up anew for every
    # page (0.04 ms).
    return h2m.ConversionOptions(
        heading_style=h2m.HeadingStyle.ATX, list_indent_type=h2m.ListIndentType.SPACES,
        highlight_style=h2m.HighlightStyle.NONE, whitespace_mode=h2m.WhitespaceMode.NORMALIZED,
        newline_style=h2m.NewlineStyle.SPACES, code_block_style=h2m.CodeBlockStyle.BACKTICKS,
        inline_data_media=h2m.InlineDataMedia.KEEP, url_escape_style=h2m.UrlEscapeStyle.ANGLE,
        link_style=h2m.LinkStyle.INLINE, output_format=h2m.OutputFormat.MARKDOWN, tier_strategy=h2m.TierStrategy.AUTO,
        preprocessing=h2m.PreprocessingOptions(
            enabled=False, preset=h2m.PreprocessingPreset.STANDARD, remove_navigation=False, remove_forms=False
        ),
        hidden_content=h2m.HiddenContent.DROP, extract_metadata=False, br_in_tables=True, compact_tables=True, bullets="-",
        keep_inline_images_in=["a", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th"], autolinks=False,
        expand_abbreviations=False, include_blockquote_citations=False,
    )  # fmt: skip


def _write_plain(tree: Tree) -> str:
    parts = tree.parts.copy()
    parts[::2] = mask_marks_in_texts(parts[::2])
    return replace_stand_ins(_BLANK_LINES.sub("\n\n", unescape("".join(plain_parts(tree, parts)))), []).strip() + "\n"


def _measure_depth(tree: Tree) -> int:
    depths: list[int] = []
    for parent in tree.parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return max(depths, default=0)


def _drop_unwritten(tree: Tree) -> None:
    """Take what stands for something in `inert`, and control characters, out of the page's own
    characters, in place."""
    if has_unwritten("".join(tree.parts)):
        tree.names = {drop_unwritten(tag): name for tag, name in tree.names.items()}
        tree.parts = [drop_unwritten(part) for part in tree.parts]


def _rewrite(tree: Tree, settings: MarkdownSettings) -> list[str]:
    """Replace formulas, code and destinations by holes, whose contents are returned; put the rest
    in order. In place."""
    holes: list[str] = []
    may_be_formula = set[str]()
    if _may_be_formula("\n".join(tree.names).lower()):
        may_be_formula = {tag for tag in tree.names if _may_be_formula(tag.lower())}
    unwanted = find_unwanted(tree)
    twins = find_shown_twins(tree)
    notable = may_be_formula | unwanted | twins
    tags, parts, opens = tree.tags, tree.parts, tree.opens
    element, count, code_end = 0, len(tree), -1
    spans: dict[int, list[str]] = {}
    numbers: Numbers = {}
    while element < count:
        name, tag = tags[element], parts[opens[element]]
        if name not in _REWRITTEN and tag not in notable:
            element += 1
            continue
        formula = read_formula(tree, element) if tag in may_be_formula else None
        if tag in unwanted or (name in CONTROLS and not is_wanted(tree, element)):
            tree.replace(element, " ")
        elif (name == "a" and "#" in tag and is_back_link(tree, element)) or (
            tag in twins and is_shown_twin(tree, element)
        ):
            tree.replace(element, "")
        elif formula is not None:
            holes.append(formula)
            tree.replace(element, HOLE.format(len(holes) - 1))
        elif name == "pre" or (name == "code" and _has_lines(tree, element)):
            tree.replace(element, _write_code_block(tree, element, holes, _find_language_class(tree, element)))
        elif name == "table" and _is_code_table(tree, element):
            tree.replace(element, _write_code_block(tree, element, holes))
        elif name in _CODE:
            code = read_code(tree, element)
            if code.strip() and code_end == tree.opens[element] - 2 and not tree.parts[code_end + 1]:
                # Two spans right after each other would not be two.
                spans[len(holes) - 1].append(code)
                tree.replace(element, "")
            else:
                spans[len(holes)] = [code]
                holes.append("")
                tree.replace(element, HOLE.format(len(holes) - 1) if code.strip() else " ")
            code_end = tree.closes[element] if code.strip() else -1
        elif name == "svg":
            _untag(tree, element)
        else:
            if name in LISTS and tag.startswith(f"<{name}"):
                order_list(tree, element)
            elif name == "li" and tag.startswith("<li"):
                order_item(tree, element, numbers)
            if name in ORDERED:
                put_in_order(tree, element, settings, holes)
            if name in ("b", "strong") and fills_heading(tree, element):
                tree.retag(element, "", "")
            elif name in _EMPHASIS and tree.start_tag(element).startswith(f"<{name}"):
                tree.retag(element, *EMPHASIS[_EMPHASIS[name]])
            elif name in _LINES_OF_THEIR_OWN and tree.start_tag(element).startswith(f"<{name}"):
                start, end = EMPHASIS.get(_LINES_OF_THEIR_OWN[name], ("", ""))
                tree.retag(element, f"<div>{start}", f"{end}</div>")
            element += 1
            continue
        element = tree.lasts[element] + 1
    for hole, codes in spans.items():
        holes[hole] = write_code_span("".join(codes))
    return holes


def _write_code_block(tree: Tree, element: int, holes: list[str], language: str = "") -> str:
    code = read_code(tree, element)
    if not code.strip():
        return ""
    holes.append(code)
    return f"<pre><code{language}>{CODE_BLOCK.format(len(holes) - 1)}</code></pre>"


def _untag(tree: Tree, element: int) -> None:
    """Leave the texts of a drawing, in place; the converter would write it as an image's data."""
    for index in range(tree.opens[element], tree.closes[element] + 1, 2):
        tree.parts[index] = " "


def _rewrite_texts(tree: Tree, holes: list[str]) -> None:
    """Replace LaTeX in running text by more holes, and what could be a mark by stand-ins, in place.

    Code has become part of a tag by now.
    """
    texts = tree.parts[::2]
    for index, text in enumerate(texts):
        if "\\" in text or "[tex]" in text:
            texts[index] = text = _cut_tex(text, holes)
        if "$" in text and ("_" in text or "^" in text):
            texts[index] = _SIMPLE_TEX.sub(lambda match: _add_hole(holes, match.group()), text)
    tree.parts[::2] = mask_marks_in_texts(texts)


def _cut_tex(text: str, holes: list[str]) -> str:
    """Return a text with holes for its LaTeX: without them its backslashes would be doubled."""
    pieces, position = list[str](), 0
    for start, end in find_tex(text):
        pieces += [text[position:start], _add_hole(holes, text[start:end])]
        position = end
    return "".join([*pieces, text[position:]])


def _may_be_formula(tag: str) -> bool:
    """Tell whether a start tag in lower case is worth a look; without this sieve every attribute of
    the page is parsed.

    Four searches for words take a small part of the time of one for any of them, ignoring case.
    """
    return "math" in tag or "mjx-" in tag or "codecogs" in tag or ("tex" in tag and _TEX.search(tag) is not None)


def _add_hole(holes: list[str], tex: str) -> str:
    tex = unescape(tex)
    if tex.startswith("\\begin"):
        tex = f"$${tex}$$"
    holes.append(delimit(tex.removeprefix("[tex]").removesuffix("[/tex]")))
    return HOLE.format(len(holes) - 1)


def read_code(tree: Tree, element: int) -> str:
    """Return the text of a code element with its lines: line breaks for `br` and for elements that
    stand on lines of their own, nothing of line numbers beside it."""
    lines: list[list[str]] = [[]]
    has_text = False
    for kind, piece in _read_code_pieces(tree, element):
        if kind == "text":
            lines[-1].append(piece)
            has_text = has_text or bool(piece.strip(" "))
        elif kind == "br" or (has_text and not lines[-1][-1].endswith("\n")):
            lines.append([])
            has_text = False
    return "\n".join("".join(line).removesuffix("\n") for line in lines).strip("\n")


def _read_code_pieces(tree: Tree, element: int) -> Iterator[tuple[str, str]]:
    """Yield what a code element consists of: ("text", characters), ("br", ""), ("block", "") at
    either end of a line.
    """
    index, last = tree.opens[element] + 1, tree.closes[element]
    skip_to = -1
    inner = element + 1
    while index < last:
        part = tree.parts[index]
        if index % 2 == 0:
            if index > skip_to and part:
                yield "text", unescape(part)
        else:
            # By the tree, for the tag itself may be rewritten: a link around a card moves into one
            # inside it.
            is_start = inner < len(tree) and tree.opens[inner] == index
            name = tree.tags[inner] if is_start else part.rpartition("</")[2][:-1]
            if is_start and index > skip_to and _LINE_NUMBERS.search(attributes(part).get("class", "")):
                skip_to = tree.closes[inner]
            elif index > skip_to and name in LINE_BREAKING:
                yield ("br" if name == "br" else "block"), ""
            inner += is_start
        index += 1


def _has_lines(tree: Tree, element: int) -> bool:
    """Tell whether a `code` that is not in a `pre` holds several lines (one line break is mere
    source formatting)."""
    inside = tree.parts[tree.opens[element] + 1 : tree.closes[element]]
    return "".join(inside).strip().count("\n") > 1 or any(tree.names.get(tag) == "br" for tag in inside[1::2])


def _find_language_class(tree: Tree, element: int) -> str:
    """Return ` class="language-x"` from the classes of a code block, of what is right inside and
    right around it."""
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
            return f' class="language-{language.lower()}"' if _NAME.fullmatch(language) else ""
    return ""


def _is_code_table(tree: Tree, element: int) -> bool:
    """Tell whether a table only puts line numbers beside code."""
    inside = range(element + 1, tree.lasts[element] + 1)
    if not any(tree.tags[i] in ("pre", "code") or "code" in tree.start_tag(i) for i in inside):
        return False
    return any(_LINE_NUMBERS.search(tree.attributes(i).get("class", "")) for i in inside)
