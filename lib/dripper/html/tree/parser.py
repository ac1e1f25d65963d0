"""Parses HTML5 with lexbor (through selectolax), and refuses markup that lexbor parses in quadratic
time.

lexbor is linear except in three cases, all far beyond real pages. The limits here turn a page that
would take minutes or gigabytes into an error row. Open elements are counted by name, not as a
parser counts them; markup made to deceive the count is left to the guard's limits.
"""

import re
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from dripper.errors import ErrorCode, PageError
from dripper.html.tree.elements import HEADINGS, HTML_VOID, RAW_TEXT, words

_ATTRIBUTE = (
    rb"(?!>)[\t\n\f\r /]*+=?[^\t\n\f\r />=]*+"
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)?+"""
)
"""An attribute as browsers tokenise it (HTML standard 13.2.5)."""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(
    rb"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|[!?][^>]*+|/(?=[^a-z])[^>]*+"
    rb"|(?P<end>/?)(?P<name>[a-z][^\t\n\f\r />]*+)(?P<attributes>(?:" + _ATTRIBUTE + rb")*+))",
    re.DOTALL,
)
"""A tag in a lower-case page."""
_RAW_ENDS = {name.encode(): re.compile(rf"</{name}(?=[\t\n\f\r />])".encode()) for name in RAW_TEXT}
_FORMATTING = (b"b", b"big", b"code", b"em", b"font", b"i", b"nobr", b"s", b"small", b"strike", b"strong", b"tt", b"u")
"""Elements that a parser reopens in each following block until they are closed. `a` is not listed
because only one can be open at a time."""
_SAME = 3
"""Maximum number of equal tags that a parser keeps open (HTML standard 13.2.4.3)."""
_CLOSED_ALIKE = frozenset(
    name.encode()
    for name in HTML_VOID
    | HEADINGS
    | words(
        "a body button caption colgroup dd dt form frameset head html li nobr optgroup option p rb rp rt rtc select "
        "tbody td tfoot th thead tr"
    )
)
"""Elements that never stay open, or that another element of the same kind closes."""
_ROOTS = (b"html", b"body")
_CELLS = (b"td", b"th", b"caption")
_LEAKING = (b"svg", b"math", b"select")
"""Elements that a formatting element inside them closes, so that the formatting element is still
open after them."""
_MARKS = (b"table", b"object", b"applet", b"marquee", b"template", *_LEAKING)
"""Elements inside which no end tag closes a formatting element that began before them."""
_START_TAG = re.compile(rb"<[a-zA-Z][^\t\n\f\r />]*+((?:" + _ATTRIBUTE + rb")*+)")
_FORMATTING_TAG = re.compile(
    rb"<(?:" + b"|".join(_FORMATTING) + rb")(?=[\t\n\f\r /])(?:" + _ATTRIBUTE + rb")*+", re.IGNORECASE
)
_LETTERS = frozenset(letter | 32 for letter in b"abcdefghijklmnopqrstuvwxyz!/?")
_LONG_GAP = 2_000
"""Minimum number of bytes in a tag with many attributes."""
_ATTRIBUTE_BYTES = 4
"""Minimum number of bytes per attribute if a tag has thousands with different names."""


class ParserLimits(NamedTuple):
    """Limits on how much work a page may give the parser."""

    steps: int = 400_000_000
    """Steps up the tree, 2.4 ns each. Many start tags and end tags search all open elements, so n
    nested blocks cost n²/2. The default allows 28,000 nested `div`; the worst of 8,451 real pages
    needs a five-hundredth of this limit."""
    attributes: int = 30_000
    """Attributes of one tag, or of all `html` and `body` tags together, because the parser merges
    repeated ones. The parser compares each attribute with all attributes before it."""
    repeats: int = 1_000_000
    """Copies of elements, 260 bytes each: an `i` without an end tag is reopened in each block after
    it."""


DEFAULT_LIMITS = ParserLimits()
NO_LIMITS = ParserLimits(sys.maxsize, sys.maxsize, sys.maxsize)
"""Limits for a page that has already passed the check once."""


class Reading(NamedTuple):
    """The options for reading a page, in any profile."""

    url: str | None = None
    """The page's address, for its metadata; None if unknown."""
    limits: ParserLimits = DEFAULT_LIMITS
    keeps_hidden: bool = False
    """Whether to keep hidden text (the setting `html.hidden`); matters only in profile
    `dripper`."""
    only_title: bool = False
    """Whether to skip dates, authors, organisations and tags, which take most of the time for
    reading metadata."""


DEFAULT_READING = Reading()


def refuse_costly(html: bytes, limits: ParserLimits = DEFAULT_LIMITS) -> None:
    """Raise PageError(PARSE_FAILED) if parsing would take seconds or gigabytes. Only pages large
    enough for that are examined closely.

    Args:
        html: The page as UTF-8.
    """
    if not _may_be_costly(html, limits):
        return
    for cost in _count_costs(html.lower()):
        if cost.attributes > limits.attributes:
            sentence = f"a tag with about {cost.attributes} attributes; the limit is {limits.attributes}"
        elif cost.repeats > limits.repeats:
            sentence = (
                f"formatting elements without an end: more than {limits.repeats} others would repeat them; the limit is "
                f"{limits.repeats}"
            )
        elif cost.steps > limits.steps:
            sentence = f"elements nested too deeply: {cost.steps} steps and more; the limit is {limits.steps}"
        else:
            continue
        raise PageError(ErrorCode.PARSE_FAILED, sentence)


def _mark_letters() -> npt.NDArray[np.int64]:
    """Return a table of the kinds of tags by their first two letters. 1: perhaps formatting, except
    one-letter tags without attributes (a parser keeps at most `_SAME` of them open); 2: perhaps
    `html` or `body`; 0: neither."""
    table = np.zeros((256, 256), np.int64)
    for names, kind in ((_FORMATTING, 1), (_ROOTS, 2)):
        for name in names:
            seconds = b"\t\n\f\r /" if len(name) == 1 else (name[1:2] + name[1:2].upper())
            for first in name[:1] + name[:1].upper():
                table[first, list(seconds)] = kind
    return table


_KINDS = _mark_letters()


def _may_be_costly(html: bytes, limits: ParserLimits) -> bool:
    """Return whether a page would reach a limit if none of its elements had an end tag, as 22 of
    2,502 real pages would."""
    n_tags = html.count(b"<")
    if n_tags * n_tags > 2 * limits.steps:
        return True
    if n_tags * n_tags < 4 * limits.repeats and len(html) < _ATTRIBUTE_BYTES * limits.attributes:
        return False
    letters = np.frombuffer(html, np.uint8)
    begins = np.flatnonzero(letters == ord("<"))
    kinds = _KINDS[letters.take(begins + 1, mode="clip"), letters.take(begins + 2, mode="clip")]
    most = _SAME * len(_FORMATTING)
    if n_tags * n_tags > 4 * limits.repeats and (most + np.count_nonzero(kinds == 1)) * n_tags > limits.repeats:
        found = Counter(match[0] for match in _match_at(_FORMATTING_TAG, html, begins[kinds == 1]))
        if (most + sum(min(count, _SAME) for count in found.values())) * n_tags > limits.repeats:
            return True
    # No character marks each attribute, so attributes cannot simply be counted. But a tag with many
    # attributes has a long gap after its `<`, or after another `<` inside it.
    gaps = np.diff(begins, append=len(html))
    looked_at = (gaps > min(_LONG_GAP, limits.attributes)) | (kinds == 2)
    written = [match[1] for match in _match_at(_START_TAG, html, begins[looked_at])]
    # A `<` that begins no tag may be inside a tag.
    long = np.flatnonzero(gaps > _LONG_GAP)
    firsts = (letters.take(begins[long] + 1, mode="clip") | 32).tolist()
    n_odd: int = sum(gap for gap, first in zip(gaps[long].tolist(), firsts, strict=True) if first not in _LETTERS)
    most_attributes = limits.attributes - n_odd // _ATTRIBUTE_BYTES
    if sum(map(len, written)) <= most_attributes:
        return False
    return sum(sum(map(bool, _ATTRIBUTES.findall(each))) for each in written) > most_attributes


def _match_at(pattern: re.Pattern[bytes], html: bytes, begins: npt.NDArray[np.intp]) -> Iterator[re.Match[bytes]]:
    """Yield the tags that begin at these offsets, except tags inside another tag, so that the
    search is linear."""
    places, at = begins.tolist(), 0
    while at < len(places):
        match = pattern.match(html, places[at])
        at = bisect_left(places, match.end(), at + 1) if match else at + 1
        if match:
            yield match


class _Cost(NamedTuple):
    """The work that a parser may do for a page up to a tag, and the largest number of attributes so
    far in one tag, or in all `html` and `body` tags together."""

    steps: int
    repeats: int
    attributes: int


def _count_costs(lowered: bytes) -> Iterator[_Cost]:
    """Yield the possible cost of a lower-case page up to each of its tags."""
    open_names, formatting = Counter[bytes](), _Formatting()
    position = depth = steps = repeats = attributes = of_roots = 0
    while match := _TAG.search(lowered, position):
        position, name, written = match.end(), match["name"], match["attributes"]
        if not name:
            continue
        steps, repeats = steps + depth, repeats + len(formatting.open)
        is_foreign = open_names[b"svg"] or open_names[b"math"]
        if match["end"]:
            if open_names[name]:
                open_names[name] -= 1
                depth -= 1
            formatting.end(name)
        elif (end := _RAW_ENDS.get(name)) and not is_foreign:
            position = found.end() if (found := end.search(lowered, position)) else len(lowered)
        else:
            if name not in _CLOSED_ALIKE and not (is_foreign and written.endswith(b"/")):
                open_names[name] += 1
                depth += 1
            formatting.start(name, written)
        if len(written) > _ATTRIBUTE_BYTES or name in _ROOTS:
            n_here = sum(map(bool, _ATTRIBUTES.findall(written)))
            of_roots += n_here if name in _ROOTS else 0
            attributes = max(attributes, n_here, of_roots)
        yield _Cost(steps, repeats, attributes)


class _Formatting:
    """The open formatting elements. No end tag inside a table, a drawing or the like closes a
    formatting element around it."""

    def __init__(self) -> None:
        self.open: list[tuple[bytes, bytes]] = []
        self._marks: list[tuple[bytes, int]] = []

    def start(self, name: bytes, written: bytes) -> None:
        """Update the open elements for a start tag."""
        if name in _MARKS:
            self._marks.append((name, len(self.open)))
        elif name in _CELLS:
            self._leave(b"table", stays=True)
        elif name in _FORMATTING and self.open.count((name, written)) < _SAME:
            self.open.append((name, written))

    def end(self, name: bytes) -> None:
        """Update the open elements for an end tag."""
        if name in _MARKS:
            self._leave(name)
        elif name in _FORMATTING:
            first = self._marks[-1][1] if self._marks else 0
            places = range(len(self.open) - 1, first - 1, -1)
            if (place := next((place for place in places if self.open[place][0] == name), None)) is not None:
                del self.open[place]

    def _leave(self, name: bytes, stays: bool = False) -> None:
        place = next((place for place in range(len(self._marks) - 1, -1, -1) if self._marks[place][0] == name), None)
        if place is not None:
            if name not in _LEAKING:
                del self.open[self._marks[place][1] :]
            del self._marks[place + stays :]


OUTPUT_FACTOR = 4
"""Real output is about as large as its input: none of 364 labelled pages has Markdown longer than
its main HTML."""
OUTPUT_FLOOR = 1 << 20
"""Number of characters that an output may always have, so that small pages with long addresses
pass."""


def output_limit(size: int) -> int:
    """Return the maximum number of characters in main HTML made from `size` characters, or in
    Markdown made from `size` characters of main HTML.

    >>> output_limit(100), output_limit(1_000_000)
    (1048576, 4000000)
    """
    return max(OUTPUT_FLOOR, OUTPUT_FACTOR * size)


def refuse_large(kind: str, size: int, limit: int) -> None:
    """Raise PageError(OUTPUT_TOO_LARGE) if an output has, or will have, more characters than the
    limit."""
    if size > limit:
        raise PageError(ErrorCode.OUTPUT_TOO_LARGE, f"{kind} of {size} characters or more; the limit is {limit}")


def parse_document(html: str | bytes) -> LexborHTMLParser:
    """Return the page's document as a browser builds it. NULs in texts and lone surrogates are
    dropped. Bytes are read as UTF-8, without a copy.

    Raises MemoryError if the parser runs out of memory. The parser accepts every string, so it
    fails for no other reason.
    """
    try:
        # Nothing listens to events, which cost 5 % of parsing time.
        return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:
        raise MemoryError(str(error)) from None


def read_title(document: LexborHTMLParser) -> str:
    """Return the page's title on one line, or ""."""
    # Most pages have a title in the head, and `css_first` stops at it; listing all titles walks the
    # whole page.
    first = document.css_first("title")
    title = _read_own_title(first) if first is not None else ""
    if not title and first is not None:
        title = next((text for node in document.tags("title") if (text := _read_own_title(node))), "")
    if not title:
        node = document.css_first('meta[property="og:title"]') or document.css_first('meta[name="og:title"]')
        title = " ".join(((node.attributes.get("content") if node is not None else "") or "").split())
    return title


def _read_own_title(node: LexborNode) -> str:
    # SVG images have titles too. A page's own title is in the head or, if the head ended too early,
    # directly in the body.
    is_own = node.parent is not None and node.parent.tag in ("head", "body")
    return " ".join(node.text().split()) if is_own else ""
