"""Parses HTML5 with lexbor (through selectolax), and rejects markup for which lexbor needs
quadratic time.

lexbor needs linear time except in three cases (see `ParserLimits`), and real pages stay far below
all three limits. A page that would take minutes or gigabytes becomes an error row. The check only
counts open elements by name. Markup that is written to deceive this count can still reach the time
and memory limits of `dripper.guard`.
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
from dripper.tree.elements import HEADINGS, HTML_VOID, RAW_TEXT, words

_ATTRIBUTE = (
    rb"(?!>)[\t\n\f\r /]*+=?[^\t\n\f\r />=]*+"
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)?+"""
)
"""An attribute, tokenised as in browsers (HTML standard 13.2.5)."""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(
    rb"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|[!?][^>]*+|/(?=[^a-z])[^>]*+"
    rb"|(?P<end>/?)(?P<name>[a-z][^\t\n\f\r />]*+)(?P<attributes>(?:" + _ATTRIBUTE + rb")*+))",
    re.DOTALL,
)
"""Matches a tag or a comment. The page must be in lower case."""
_RAW_ENDS = {name.encode(): re.compile(rf"</{name}(?=[\t\n\f\r />])".encode()) for name in RAW_TEXT}
_FORMATTING = (b"b", b"big", b"code", b"em", b"font", b"i", b"nobr", b"s", b"small", b"strike", b"strong", b"tt", b"u")
"""Elements that a parser reopens in every following block until they are closed. `a` is missing
because only one `a` can be open at a time."""
_SAME = 3
"""Maximum number of identical tags that a parser keeps open (HTML standard 13.2.4.3)."""
_CLOSED_ALIKE = frozenset(
    name.encode()
    for name in HTML_VOID
    | HEADINGS
    | words(
        "a body button caption colgroup dd dt form frameset head html li nobr optgroup option p rb rp rt rtc select "
        "tbody td tfoot th thead tr"
    )
)
"""Elements that never stay open, or that the next element of the same kind closes."""
_ROOTS = (b"html", b"body")
_CELLS = (b"td", b"th", b"caption")
_LEAKING = (b"svg", b"math", b"select")
"""A formatting element inside one of these elements closes that element, and stays open after its
end."""
_MARKS = (b"table", b"object", b"applet", b"marquee", b"template", *_LEAKING)
"""Inside these elements, an end tag cannot close a formatting element that began outside."""
_START_TAG = re.compile(rb"<[a-zA-Z][^\t\n\f\r />]*+((?:" + _ATTRIBUTE + rb")*+)")
_FORMATTING_TAG = re.compile(
    rb"<(?:" + b"|".join(_FORMATTING) + rb")(?=[\t\n\f\r /])(?:" + _ATTRIBUTE + rb")*+", re.IGNORECASE
)
_LETTERS = frozenset(letter | 32 for letter in b"abcdefghijklmnopqrstuvwxyz!/?")
_LONG_GAP = 2_000
"""A tag with many attributes has at least this many bytes."""
_ATTRIBUTE_BYTES = 4
"""Minimum number of bytes per attribute in a tag with thousands of different attributes."""


class ParserLimits(NamedTuple):
    """Limits on the parser's work for one page."""

    steps: int = 400_000_000
    """Maximum number of steps up the tree (2.4 ns each). Many tags make the parser search all open
    elements, so n nested blocks cost n²/2 steps. The default allows 28,000 nested `div`. The worst
    of 2,502 real pages needs 1/278 of this limit."""
    attributes: int = 30_000
    """Maximum number of attributes of one tag, or of all `html` and `body` tags together, because
    the parser merges these tags. Each attribute is compared with all previous attributes."""
    repeats: int = 1_000_000
    """Maximum number of copied elements (260 bytes each). If an `i` element has no end tag, the
    parser opens a copy of it in every later block."""


DEFAULT_LIMITS = ParserLimits()
NO_LIMITS = ParserLimits(sys.maxsize, sys.maxsize, sys.maxsize)
"""For pages that have already passed the check."""


class Reading(NamedTuple):
    """Options for reading a page. Every profile accepts them."""

    url: str | None = None
    """The page's URL, needed for its metadata. None if unknown."""
    limits: ParserLimits = DEFAULT_LIMITS
    keeps_hidden: bool = False
    """Whether to keep hidden text (the `html.hidden` setting). Has an effect only in the `dripper`
    profile."""
    only_title: bool = False
    """Whether to skip dates, authors, organisations and tags. These take most of the time for
    metadata."""


DEFAULT_READING = Reading()


def refuse_costly(html: bytes, limits: ParserLimits = DEFAULT_LIMITS) -> None:
    """Raise PageError(PARSE_FAILED) if parsing would exceed one of the limits. Most pages need only
    a cheap check.

    Args:
        html: The page as UTF-8.
    """
    if _may_be_costly(html, limits) and (excess := _find_excess(html.lower(), limits)):
        raise PageError(ErrorCode.PARSE_FAILED, excess)


def _mark_letters() -> npt.NDArray[np.int64]:
    """Build a table from the first two letters of a tag to the kind of tag.

    1: possibly a formatting tag, but not a one-letter tag without attributes, because a parser
    keeps at most `_SAME` of these open. 2: possibly `html` or `body`. 0: any other tag.
    """
    table = np.zeros((256, 256), np.int64)
    for names, kind in ((_FORMATTING, 1), (_ROOTS, 2)):
        for name in names:
            seconds = b"\t\n\f\r /" if len(name) == 1 else (name[1:2] + name[1:2].upper())
            for first in name[:1] + name[:1].upper():
                table[first, list(seconds)] = kind
    return table


_KINDS = _mark_letters()


def _may_be_costly(html: bytes, limits: ParserLimits) -> bool:
    """Return whether a page would reach a limit if no element had an end tag. Of 2,502 real pages,
    22 would."""
    letters = np.frombuffer(html, np.uint8)
    begins = np.flatnonzero(letters == ord("<"))
    n_tags = len(begins)
    if n_tags * n_tags > 2 * limits.steps:
        return True
    if n_tags * n_tags < 4 * limits.repeats and len(html) < _ATTRIBUTE_BYTES * limits.attributes:
        return False
    kinds = _KINDS[letters.take(begins + 1, mode="clip"), letters.take(begins + 2, mode="clip")]
    most = _SAME * len(_FORMATTING)
    if n_tags * n_tags > 4 * limits.repeats and (most + np.count_nonzero(kinds == 1)) * n_tags > limits.repeats:
        found = Counter(match[0] for match in _match_at(_FORMATTING_TAG, html, begins[kinds == 1]))
        if (most + sum(min(count, _SAME) for count in found.values())) * n_tags > limits.repeats:
            return True
    # Unlike tags, attributes cannot be counted by a single character. But a tag with many
    # attributes is long, so there is a long gap before the next `<`. The gap begins at the tag's
    # own `<` or at a `<` inside the tag.
    gaps = np.diff(begins, append=len(html))
    looked_at = (gaps > min(_LONG_GAP, limits.attributes)) | (kinds == 2)
    written = [match[1] for match in _match_at(_START_TAG, html, begins[looked_at])]
    # A `<` that begins no tag may itself be inside a tag.
    long = np.flatnonzero(gaps > _LONG_GAP)
    firsts = (letters.take(begins[long] + 1, mode="clip") | 32).tolist()
    n_odd: int = sum(gap for gap, first in zip(gaps[long].tolist(), firsts, strict=True) if first not in _LETTERS)
    most_attributes = limits.attributes - n_odd // _ATTRIBUTE_BYTES
    if sum(map(len, written)) <= most_attributes:
        return False
    return sum(sum(map(bool, _ATTRIBUTES.findall(each))) for each in written) > most_attributes


def _match_at(pattern: re.Pattern[bytes], html: bytes, begins: npt.NDArray[np.intp]) -> Iterator[re.Match[bytes]]:
    """Yield the tags that begin at these offsets, except tags inside another tag. Takes linear
    time."""
    places, at = begins.tolist(), 0
    while at < len(places):
        match = pattern.match(html, places[at])
        at = bisect_left(places, match.end(), at + 1) if match else at + 1
        if match:
            yield match


def _find_excess(lowered: bytes, limits: ParserLimits) -> str | None:
    """Return an error message if parsing a lower-case page may exceed a limit, else None. Stops
    after the first tag that makes this possible."""
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
        if attributes > limits.attributes:
            return f"a tag with about {attributes} attributes; the limit is {limits.attributes}"
        if repeats > limits.repeats:
            repeated = f"more than {limits.repeats} others would repeat them; the limit is {limits.repeats}"
            return f"formatting elements without an end: {repeated}"
        if steps > limits.steps:
            return f"elements nested too deeply: {steps} steps and more; the limit is {limits.steps}"
    return None


class _Formatting:
    """The open formatting elements. An end tag inside a table, a drawing or the like never closes a
    formatting element that began outside."""

    def __init__(self) -> None:
        self.open: list[tuple[bytes, bytes]] = []
        self._marks: list[tuple[bytes, int]] = []

    def start(self, name: bytes, written: bytes) -> None:
        """Process a start tag."""
        if name in _MARKS:
            self._marks.append((name, len(self.open)))
        elif name in _CELLS:
            self._leave(b"table", stays=True)
        elif name in _FORMATTING and self.open.count((name, written)) < _SAME:
            self.open.append((name, written))

    def end(self, name: bytes) -> None:
        """Process an end tag."""
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
"""Maximum size of an output relative to its input. None of 364 labelled pages has Markdown longer
than its main HTML."""
OUTPUT_FLOOR = 1 << 20
"""An output is always allowed to have this number of characters, so that small pages with long URLs
pass."""


def output_limit(size: int) -> int:
    """Return the maximum number of characters in an output. `size` is the number of characters in
    its input. The input of main HTML is the page, and the input of Markdown is main HTML.

    >>> output_limit(100), output_limit(1_000_000)
    (1048576, 4000000)
    """
    return max(OUTPUT_FLOOR, OUTPUT_FACTOR * size)


def refuse_large(kind: str, size: int, limit: int) -> None:
    """Raise PageError(OUTPUT_TOO_LARGE) if an output has or will have more than `limit`
    characters."""
    if size > limit:
        raise PageError(ErrorCode.OUTPUT_TOO_LARGE, f"{kind} of {size} characters or more; the limit is {limit}")


def parse_document(html: str | bytes) -> LexborHTMLParser:
    """Parse a page into a document as a browser does. NULs in text and lone surrogates are
    dropped. Bytes are read as UTF-8 without a copy.

    Raises MemoryError if the parser runs out of memory. There is no other error: the parser accepts
    every string.
    """
    try:
        # Events are not used, and would cost 5 % of the parsing time.
        return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:
        raise MemoryError(str(error)) from None


def read_title(document: LexborHTMLParser) -> str:
    """Return the page's title on one line, or "" if there is none."""
    # `css_first` stops at the first title, which most pages have in the head. Listing all titles
    # would walk the whole page.
    first = document.css_first("title")
    title = _read_own_title(first) if first is not None else ""
    if not title and first is not None:
        title = next((text for node in document.tags("title") if (text := _read_own_title(node))), "")
    if not title:
        node = document.css_first('meta[property="og:title"]') or document.css_first('meta[name="og:title"]')
        title = " ".join(((node.attributes.get("content") if node is not None else "") or "").split())
    return title


def _read_own_title(node: LexborNode) -> str:
    # SVG images have titles too. The page's own title is in the head. If the head ended too early,
    # the title is directly in the body.
    is_own = node.parent is not None and node.parent.tag in ("head", "body")
    return " ".join(node.text().split()) if is_own else ""
