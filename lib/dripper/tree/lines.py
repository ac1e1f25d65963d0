"""Finds elements that do not begin a new line. Browsers show such an element within a sentence,
whatever its name, so the sentence is one block. Also writes ruby annotations in parentheses:
`漢字(かんじ)`.

    <p>一本の<ruby>柳<rp>(</rp><rt>やなぎ</rt><rp>)</rp></ruby>が</p>      一本の柳(やなぎ)が

The profiles `paper` and `mineru-1.1` keep MinerU-HTML's 44 inline names (`elements.INLINE`), and
split the line above into six blocks. On 102 of 2,432 labelled pages, a line contains an element
with another name. On 11 of these pages, such an element was lost, although the blocks before and
after it were main.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from dripper.tree.elements import INLINE, LINE_BREAKING, words
from dripper.tree.tree import Tree

RUBY = words("ruby rb rp rt rtc")
IN_WORDS = RUBY | {"wbr"}
"""Elements within a word, so no space is added around them."""
PHRASING = RUBY | words("bdi data del ins meter o:p output progress slot tt wbr")
"""Phrasing content (HTML standard 3.2.5.2.5) that INLINE lacks, obsolete phrasing elements, and
Word's empty `o:p`. None of these elements ends a line."""
_WORD_END = "o:p"
_SHOWN_ALONE = INLINE | LINE_BREAKING | PHRASING | words("html head title math")
"""`find_in_line` does not check the neighbours of these elements."""
_MOST_AROUND = 8
"""Maximum number of nested elements to check, from an element outwards."""
_FEW_PARTS = 200
"""Maximum number of parts (strings and tags) inside an element to search for text."""
_CJK = "\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff64\U00020000-\U0003ffff"
"""Han, kana and their punctuation: scripts without spaces between words (Hangul has them)."""
_WRAP = re.compile(rf"(?<=[{_CJK}])[ \t\r]*\n[ \t\r\n]*(?=[{_CJK}])")
_GOES_ON = re.compile(r"\s*[,;.]|\s+[a-z]")
UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff]")
"""Soft hyphen, zero-width space, word joiner, byte order mark. Joiners (U+200C, U+200D) and
direction marks are not included because they change the shown text."""


def find_in_line(tree: Tree) -> frozenset[int]:
    """Return the elements that do not end a line and are not in INLINE. These are phrasing
    elements, and other elements beside text, such as a custom element, a MathJax container, or a
    `select` in a sentence. These other elements are returned only if they contain no element of
    LINE_BREAKING. Takes linear time."""
    names = set(tree.names.values())
    odd, phrasing = (names - _SHOWN_ALONE) | (names & {"select"}), names & PHRASING
    if not odd and not phrasing:
        return frozenset()
    found = set(tree.named(phrasing))
    for element in [element for element in found if tree.tags[element] == _WORD_END]:
        inside = tree.parts[tree.opens[element] + 1 : tree.closes[element] : 2]
        if len(inside) <= _FEW_PARTS and not any(map(str.strip, inside)):
            # An empty paragraph inside `o:p` must not turn a table around it into a layout table.
            found.update(range(element, tree.lasts[element] + 1))
    breaks = tree.named(LINE_BREAKING - _CHOICES) if odd else []
    last = 0
    for element in tree.named(odd) if odd else ():
        if element > last and _has_no_break(breaks, tree, element) and _is_beside_text(tree, element):
            last = tree.lasts[element]
            found.update(range(element, last + 1))
    return frozenset(found)


_CHOICES = words("select optgroup option")
_ANNOTATED = words("rp rt select")


def _has_no_break(breaks: list[int], tree: Tree, element: int) -> bool:
    place = bisect_left(breaks, element)
    return place == len(breaks) or breaks[place] > tree.lasts[element]


def _is_beside_text(tree: Tree, element: int) -> bool:
    """Return whether text of the same line is right before or after an element. An element without
    text, such as a drawing, needs text on both sides. So does a `select`; with text on only one
    side, it is a control with its label."""
    first = tree.opens[element] + 1
    inside = tree.parts[first : min(tree.closes[element], first + _FEW_PARTS) : 2]
    both = tree.tags[element] == "select" or not any(map(str.strip, inside))
    for _ in range(_MOST_AROUND):
        before, after = tree.parts[tree.opens[element] - 1].strip(), tree.parts[tree.closes[element] + 1].strip()
        if (before and after) if both else (before or after):
            return True
        element = tree.parents[element]
        if tree.tags[element] not in INLINE:
            return False
    return False


def join_formulas(tree: Tree) -> None:
    """Repair paragraphs that end right before a formula, by joining them with the rest of the
    sentence.

    Programs that write formulas have often put a `<div>` into a `<p>`. In HTML, the `<div>` ends
    the paragraph: `<p>When </p><math>…</math>, there are two`.
    """
    for element in tree.find("math"):
        before = tree.opens[element] - 2
        if before < 0 or tree.parts[before] != "</p>" or tree.parts[before + 1].strip():
            continue
        said, after = tree.parts[before - 1].rstrip(), tree.parts[tree.closes[element] + 1]
        if said and said[-1].isalpha() and _GOES_ON.match(after):
            paragraph = bisect_left(tree.opens, before) - 1
            while tree.closes[paragraph] != before:
                paragraph = tree.parents[paragraph]
            tree.tags[paragraph] = tree.names["<span>"] = tree.names["</span>"] = "span"
            tree.retag(paragraph, "<span>", "</span>")


_PRINTED = re.compile(
    rb'<(div|p) (?=[^<>]*(?:class="t m[0-9]|style="position:absolute;top:[^<>";]*;left:[^<>"]*white-space:nowrap))[^<>]*>'
    rb"((?:[^<]|<(?!/?(?:div|p)\b))*+)</\1>\s*"
)
"""A line of a PDF page, as pdf2htmlEX and pdftohtml write it."""
_INNER_TAG = re.compile(rb"<[^<>]*>")
_SHORT = 0.8
"""A line that ends a sentence also ends the paragraph if it is shorter than this fraction of the
longest line on the printed page."""
_SENTENCE_ENDS = tuple('.!?:;"\u201d\u00bb')


def is_printed(tree: Tree) -> bool:
    """Return whether a page may contain lines converted from a PDF (printed lines). Checks only the
    distinct tags."""
    lines = [tag for tag, classes in tree.values("class").items() if classes.startswith("t m")]
    lines += [tag for tag, style in tree.values("style").items() if "position:absolute;top:" in style]
    return any(tree.names[tag] in ("div", "p") for tag in lines)


def join_printed_lines(html: bytes) -> bytes:
    """Return the page with lines that were converted from a PDF joined into paragraphs. Words
    hyphenated across lines are joined too.

    >>> join_printed_lines(b'<div class="t m0 x0">thir-</div><div class="t m0 x0">ty</div>')
    b'<p>thirty</p>'
    """
    out, position, lines = list[bytes](), 0, list[bytes]()
    for line in _PRINTED.finditer(html):
        if line.start() > position:
            out += [*_write_paragraphs(lines), html[position : line.start()]]
            lines = []
        lines.append(line[2].strip())
        position = line.end()
    return b"".join([*out, *_write_paragraphs(lines), html[position:]])


def _write_paragraphs(lines: list[bytes]) -> Iterator[bytes]:
    said = [_INNER_TAG.sub(b"", line).decode().strip() for line in lines]
    longest, paragraph = max(map(len, said), default=0), b""
    for place, line in enumerate(lines):
        before = said[place - 1] if place else ""
        is_broken = before[-1:] == "-" and before[-2:-1].isalpha() and said[place][:1].islower()
        if paragraph and before.endswith(_SENTENCE_ENDS) and len(before) < _SHORT * longest:
            yield b"<p>%s</p>" % paragraph
            paragraph = line
        elif is_broken and paragraph.endswith(b"-"):
            paragraph = paragraph[:-1] + line
        else:
            paragraph += b" " + line if paragraph else line
    if paragraph:
        yield b"<p>%s</p>" % paragraph


def write_annotations(tree: Tree) -> list[str]:
    """Return the tree's parts with ruby annotations in parentheses. The fallback for browsers
    without ruby support (`rp`) and the options of a `select` within a sentence are left out."""
    parts, names = tree.parts, set(tree.names.values())
    if "rt" not in names and "select" not in names:
        return parts
    parts, end = parts.copy(), -1
    for element in tree.named(_ANNOTATED):
        name, first, last = tree.tags[element], tree.opens[element] + 1, tree.closes[element]
        if element <= end:
            continue
        end = tree.lasts[element]
        if name == "rp" or (name == "select" and _is_beside_text(tree, element)):
            parts[first:last:2] = [""] * ((last - first + 1) // 2)
        elif name == "rt" and any(map(str.strip, parts[first:last:2])):
            parts[first] = f"({parts[first].lstrip()}"
            parts[last - 1] = f"{parts[last - 1].rstrip()})"
    return parts


def find_kept_lines(tree: Tree) -> list[int]:
    """Return the indexes in `tree.parts` of the strings in which browsers show line breaks because
    of a `white-space` style. Code is left out. 2 of 3,598 pages have such text."""
    tags = {tag for tag, style in tree.values("style").items() if _KEEPS_LINES.search(style)}
    found = dict[int, None]()
    for element in tree.tagged(tags):
        if not _CODE.isdisjoint(tree.tags[each] for each in tree.nearest(element, _MOST_AROUND)):
            continue
        inside = range(tree.opens[element] + 1, tree.closes[element], 2)
        if _CODE.isdisjoint(tree.tags[element : tree.lasts[element] + 1]):
            found |= {place: None for place in inside if "\n" in (text := tree.parts[place]) and not text.isspace()}
    return list(found)


def collapse_lines(text: str) -> str:
    """Return `text` with its line breaks kept, and other white space collapsed to one space.

    >>> collapse_lines(" a  b\\n  c")
    ' a b\\nc'
    """
    return _AROUND_BREAK.sub("\n", _BLANKS.sub(" ", text))


_BLANKS = re.compile(r"[ \t\r\f]+")
_AROUND_BREAK = re.compile(" ?\n ?")
_KEEPS_LINES = re.compile(r"white-space:\s*(?:pre|break-spaces)")
_CODE = words("pre code textarea")


_UNSAID = re.compile(f"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f{UNSEEN.pattern[1:]}")
"""The characters of UNSEEN, and control characters except white space."""


def join_lines(text: str) -> str:
    """Return `text` without soft hyphens, zero-width spaces and control characters, and without
    line breaks between Han or kana.

    >>> join_lines("水車は\\n三十年 the mill\\nwheel, un\\u00adused")
    '水車は三十年 the mill\\nwheel, unused'
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSAID.sub("", _WRAP.sub("", text) if "\n" in text else text)
