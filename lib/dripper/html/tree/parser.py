"""Parses HTML5 with lexbor (by way of selectolax), and refuses markup for which its time grows with
the square of the size.

lexbor is linear but for four things, all far beyond real pages (of 8,451 none comes near a limit).
A limit here makes an error row of what would otherwise be minutes of work.
"""

import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from dripper.errors import ErrorCode, PageError
from dripper.html.tree.elements import HTML_VOID, words
from dripper.settings import LimitSettings

_TAG = re.compile("<(/?)([a-z][a-z0-9]*)")
_SCRIPT = re.compile(rb"<(script|style)\b[^<]*(?:<(?!/\1)[^<]*)*", re.IGNORECASE)
_VALUE = re.compile(rb"""=\s*(?:"[^"]*"|'[^']*')""")
_CLOSED_BY_NEXT = HTML_VOID | words("p li dt dd td th tr option script style a button nobr")
_CLOSES_P = words(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp"
)
_FORMATTING = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
"""What a parser opens again in each block that follows, until it is closed; of `a` there is only
one at a time."""
_FORMATTING_NAMES = frozenset(_FORMATTING.split("|"))
_FORMATTING_TAG = re.compile(rb"<(?:%s)(?=[\s/>])[^>]*" % _FORMATTING.encode(), re.IGNORECASE)
_TOKEN = re.compile(
    r"""<(?:(!--)|(/?)([a-z][^\s/>]*+)((?:=\s*+(?:"[^"]*+"|'[^']*+')|[^>])*+))|--(?=>)""", re.IGNORECASE
)
_SAME = 3
"""Equal tags that a parser keeps open at most (HTML standard 13.2.4.3)."""
_RAW = words("script style textarea title xmp iframe noembed noframes")
_CELLS = words("td th caption")
_APART = words("object applet marquee")


def _mark_formatting_letters() -> npt.NDArray[np.bool_]:
    """Return which two characters a formatting tag begins with, but for those of one letter without
    attributes."""
    table = np.zeros((256, 256), bool)
    for name in _FORMATTING_NAMES:
        for first in (name[0], name[0].upper()):
            for second in "\t\n\f\r /" if len(name) == 1 else (name[1], name[1].upper()):
                table[ord(first), ord(second)] = True
    return table


_MAY_FORMAT = _mark_formatting_letters()

_DEFAULTS = LimitSettings()


class ParserLimits(NamedTuple):
    """The limits of what a page may ask of the parser."""

    steps: int = _DEFAULTS.parser_steps
    """Up the tree, each a step: every start tag of a block looks for an open `p` among all
    its ancestors, so n nested blocks cost n²/2. 28,000 nested `div` are the default."""
    attributes: int = _DEFAULTS.parser_attributes
    """Of one tag: each is compared with all before it."""
    options: int = _DEFAULTS.parser_options
    """Of one `select`: the parser's time grows with their square."""
    repeats: int = _DEFAULTS.parser_repeats
    """Elements that stand for others: an `i` without an end is opened anew in each block behind it.
    260 bytes each."""

    @classmethod
    def of(cls, limits: LimitSettings) -> "ParserLimits":
        """Return what the settings allow."""
        return cls(limits.parser_steps, limits.parser_attributes, limits.parser_options, limits.parser_repeats)


DEFAULT_LIMITS = ParserLimits()
NO_LIMITS = ParserLimits(sys.maxsize, sys.maxsize, sys.maxsize, sys.maxsize)
"""For a page that has passed once."""


def refuse_costly(html: bytes, limits: ParserLimits = DEFAULT_LIMITS) -> None:
    """Raise PageError(PARSE_FAILED) if parsing would take seconds; looks closer only at pages that
    are large enough.

    Args:
        html: The page as UTF-8.
    """
    if (most := _count_most_attributes(html, limits.attributes)) > limits.attributes:
        raise PageError(ErrorCode.PARSE_FAILED, f"a tag with about {most} attributes; the limit is {limits.attributes}")
    # numpy counts bytes faster than `bytes.count` does.
    begins = np.flatnonzero(np.frombuffer(html, np.uint8) == ord("<"))
    tags = len(begins)
    # Fewer tags cannot stand for so many: each would be repeated at each of the others.
    if tags * tags > limits.repeats and _may_repeat(html, begins, limits.repeats):
        _refuse_repeats(html, limits.repeats)
    # A page with fewer tags reaches no other limit: n nested elements cost n²/2 steps.
    fewest = min(limits.options, math.isqrt(2 * limits.steps))
    if tags < fewest:
        return
    if (starts := tags - html.count(b"</")) < fewest:
        return
    if html.count(b"<o") + html.count(b"<O") <= limits.options and starts * starts <= 2 * limits.steps:
        return
    # HTML folds the case of ASCII alone, as bytes do, which is far cheaper than Unicode's rules.
    lowered = html.lower()
    if (most := max(part.count(b"<option") for part in lowered.split(b"<select"))) > limits.options:
        raise PageError(ErrorCode.PARSE_FAILED, f"a select with {most} options; the limit is {limits.options}")
    if starts * starts > 2 * limits.steps and (steps := _count_steps(lowered.decode("latin-1"))) > limits.steps:
        raise PageError(
            ErrorCode.PARSE_FAILED, f"elements nested too deeply: {steps} steps; the limit is {limits.steps}"
        )


def _count_most_attributes(html: bytes, limit: int) -> int:
    """Return how many attributes the largest tag has, roughly; a "<" in a script does not count."""
    most = max(map(_count_words, _find_long_tags(html, limit)), default=0)
    return most if most <= limit else max(map(_count_words, _find_long_tags(_SCRIPT.sub(b"", html), limit)), default=0)


def _count_words(tag: bytes) -> int:
    return len(_VALUE.sub(b"", tag).split())


def _find_long_tags(html: bytes, limit: int) -> Iterator[bytes]:
    """Yield the tags that are long enough for more attributes: only where no "<" stands for a while
    is one."""
    position = 0
    while position < len(html):
        if html.find(b"<", position, position + limit) >= 0:
            position += limit
            continue
        start, end = html.rfind(b"<", 0, position), html.find(b"<", position)
        end = len(html) if end < 0 else end
        tag = html[start + 1 : end].partition(b">")[0]
        if len(tag) > 2 * limit:
            yield tag
        position = end


def _count_steps(html: str) -> int:
    """Return how many ancestors the parser will look at, from above: it knows end tags that we do
    not see."""
    depth = steps = 0
    for end, name in _TAG.findall(html):
        if not end and name in _CLOSES_P:
            steps += depth
        if name not in _CLOSED_BY_NEXT:
            depth = max(0, depth - 1) if end else depth + 1
    return steps


def _may_repeat(html: bytes, begins: npt.NDArray[np.intp], limit: int) -> bool:
    """Tell whether formatting elements would be repeated more often than `limit` if none of them
    had an end.

    begins: where tags begin. A look at two letters of each settles it for nine of ten pages, in a
    third of the time."""
    letters = np.frombuffer(html, np.uint8)
    first, second = (letters.take(begins + place, mode="clip") for place in (1, 2))
    most = int(np.count_nonzero(_MAY_FORMAT[first, second])) + _SAME * len(_FORMATTING_NAMES)
    if most * len(begins) <= limit:
        return False
    most = sum(min(count, _SAME) for count in Counter(_FORMATTING_TAG.findall(html)).values())
    return most * len(begins) > limit


def _refuse_repeats(html: bytes, limit: int) -> None:
    """Raise PageError(PARSE_FAILED) where formatting elements would be repeated more often than
    `limit`.

    Counted from above: each tag repeats all that are open. End tags in comments and raw text close
    nothing, nor do those in a cell what is open around the table."""
    page, repeats = _OpenFormatting(), 0
    for match in _TOKEN.finditer(html.decode("latin-1")):
        page.read(match)
        repeats += len(page.open)
        if repeats > limit:
            raise PageError(
                ErrorCode.PARSE_FAILED,
                f"formatting elements without an end: more than {limit} others would repeat them; the limit is {limit}",
            )


class _OpenFormatting:
    """The formatting elements that are open, as a parser goes over a page."""

    def __init__(self) -> None:
        self.open: list[tuple[str, str]] = []
        """Name and attributes."""
        self._equal = Counter[tuple[str, str]]()
        self._scopes = [0]
        """How many were open where a cell began; its end tags reach no further."""
        self._cells: list[bool] = []
        """Of each open table, whether a cell of it is open."""
        self._raw = ""
        """The end of the raw text or comment that is being read."""

    def read(self, match: re.Match[str]) -> None:
        """Go on over a tag, a comment's start or its end."""
        comment, end, name, attributes = match.groups()
        name = (name or "").lower()
        if comment or not name:
            self._raw = "--" if comment and not self._raw else "" if not name and self._raw == "--" else self._raw
        elif self._raw and end:
            self._raw = "" if name == self._raw else self._raw
        elif name in _FORMATTING_NAMES:
            self._close(name) if end else self._add((name, attributes))
        elif name in _RAW:
            self._raw = self._raw or name
        elif name == "table" or self._cells:
            self._read_table(name, bool(end))
        if name in _APART and not self._raw:
            self._leave() if end else self._scopes.append(len(self.open))

    def _add(self, element: tuple[str, str]) -> None:
        if self._equal[element] == _SAME:
            self.open.remove(element)
        else:
            self._equal[element] += 1
        self.open.append(element)

    def _close(self, name: str) -> None:
        for place in range(len(self.open) - 1, self._scopes[-1] - 1, -1):
            if self.open[place][0] == name:
                self._equal[self.open.pop(place)] -= 1
                return

    def _read_table(self, name: str, is_end: bool) -> None:
        if name == "table" and not is_end:
            self._cells.append(False)
            return
        if self._cells[-1:] == [True] and name in _CELLS | {"tr", "table"}:
            self._leave()
            self._cells[-1] = False
        if name in _CELLS and not is_end:
            self._scopes.append(len(self.open))
            self._cells[-1] = True
        elif name == "table" and self._cells:
            self._cells.pop()

    def _leave(self) -> None:
        """Forget what was opened since the cell began."""
        if len(self._scopes) > 1:
            first = self._scopes.pop()
            self._equal.subtract(self.open[first:])
            del self.open[first:]


OUTPUT_FACTOR = 4
"""Real output is about as large as its input: of 364 labelled pages none had Markdown that was
longer than its main HTML."""
OUTPUT_FLOOR = 1 << 20
"""Characters that a page may always have, so that small ones with long addresses stay."""


def output_limit(size: int) -> int:
    """Return how many characters main HTML may have that is made of `size` characters, or Markdown
    that is made of main HTML of that size.

    >>> output_limit(100), output_limit(1_000_000)
    (1048576, 4000000)
    """
    return max(OUTPUT_FLOOR, OUTPUT_FACTOR * size)


def refuse_large(kind: str, size: int, limit: int) -> None:
    """Raise PageError(OUTPUT_TOO_LARGE) if output of a kind has, or will have, more characters than
    its limit."""
    if size > limit:
        raise PageError(ErrorCode.OUTPUT_TOO_LARGE, f"{kind} of {size} characters or more; the limit is {limit}")


def parse_document(html: str | bytes) -> LexborHTMLParser:
    """Return the page's document, as a browser builds it. NULs in texts and lone surrogates are
    dropped; bytes, as UTF-8, are taken as they are, without a copy.

    Raises MemoryError where the parser gets no memory: it accepts every string, so nothing else
    makes it give up.
    """
    try:
        # Nobody listens to events, which cost 5 % of parsing.
        return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:
        raise MemoryError(str(error)) from None


def read_title(document: LexborHTMLParser) -> str:
    """Return the page's title on one line, or ""."""
    # Most pages have one, in the head, where this stops; all titles are a walk over the whole page.
    first = document.css_first("title")
    title = _read_own_title(first) if first is not None else ""
    if not title and first is not None:
        title = next((text for node in document.tags("title") if (text := _read_own_title(node))), "")
    if not title:
        node = document.css_first('meta[property="og:title"]') or document.css_first('meta[name="og:title"]')
        title = " ".join(((node.attributes.get("content") if node is not None else "") or "").split())
    return title


def _read_own_title(node: LexborNode) -> str:
    # Pictures have titles too; a page's own is in the head, or, where that ended too early,
    # directly in the body.
    is_own = node.parent is not None and node.parent.tag in ("head", "body")
    return " ".join(node.text().split()) if is_own else ""
