"""Parses HTML5 with lexbor (by way of selectolax), and refuses markup for which its time grows with
the square of the size.

lexbor is linear but for four things, all far beyond real pages (of 8,451 none comes near a limit).
A limit here makes an error row of what would otherwise be minutes of work.
"""

import re
import sys
from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError

from dripper.errors import ErrorCode, PageError
from dripper.html.tree.open_elements import ATTRIBUTE, ATTRIBUTES, FORMATTING, SAME, count_costs
from dripper.settings import LimitSettings

_START_TAG = re.compile(rf"<[a-zA-Z][^\t\n\f\r />]*+{ATTRIBUTES}".encode())
_ATTRIBUTE_BYTES = 4
"""Of the shortest attributes, if there are thousands with different names."""
_FORMATTING_TAG = re.compile(
    rf"<(?:{'|'.join(sorted(FORMATTING))})(?=[\t\n\f\r />]){ATTRIBUTES}".encode(), re.IGNORECASE
)


def _mark_formatting_letters() -> npt.NDArray[np.bool_]:
    """Return which two characters a formatting tag begins with, but for those of one letter without
    attributes."""
    table = np.zeros((256, 256), bool)
    for name in FORMATTING:
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
    # numpy counts bytes faster than `bytes.count` does.
    begins = np.flatnonzero(np.frombuffer(html, np.uint8) == ord("<"))
    tags = len(begins)
    starts = tags - html.count(b"</")
    may_have_options = starts > limits.options and html.count(b"<o") + html.count(b"<O") > limits.options
    if may_have_options and (most := _count_most_options(html)) > limits.options:
        raise PageError(ErrorCode.PARSE_FAILED, f"a select with {most} options; the limit is {limits.options}")
    # With fewer tags no page reaches these limits: at each of them all others would be open.
    is_deep = starts * (2 * tags - starts) > 2 * limits.steps
    if (
        is_deep
        or _has_long_tag(html, _ATTRIBUTE_BYTES * limits.attributes)
        or (tags * tags > limits.repeats and _may_repeat(html, begins, limits.repeats))
    ):
        _refuse_open(html.lower().decode("latin-1"), limits)


def _count_most_options(html: bytes) -> int:
    # HTML folds the case of ASCII alone, as bytes do, which is far cheaper than Unicode's rules.
    return max(part.count(b"<option") for part in html.lower().split(b"<select"))


def _refuse_open(lowered: str, limits: ParserLimits) -> None:
    """Raise PageError(PARSE_FAILED) where elements that stay open would cost more than the limits
    allow."""
    for cost in count_costs(lowered):
        if len(cost.attributes) > _ATTRIBUTE_BYTES * limits.attributes:
            most = sum(map(bool, ATTRIBUTE.findall(cost.attributes)))
            if most > limits.attributes:
                raise PageError(
                    ErrorCode.PARSE_FAILED, f"a tag with about {most} attributes; the limit is {limits.attributes}"
                )
        if cost.repeats > limits.repeats:
            raise PageError(
                ErrorCode.PARSE_FAILED,
                f"formatting elements without an end: more than {limits.repeats} others would repeat them; the limit is "
                f"{limits.repeats}",
            )
        if cost.steps > limits.steps:
            raise PageError(
                ErrorCode.PARSE_FAILED,
                f"elements nested too deeply: {cost.steps} steps and more; the limit is {limits.steps}",
            )


def _has_long_tag(html: bytes, n_bytes: int) -> bool:
    """Tell whether a tag has more bytes; perhaps it is only what a script says."""
    return len(html) > n_bytes and max(map(len, _START_TAG.findall(html)), default=0) > n_bytes


def _may_repeat(html: bytes, begins: npt.NDArray[np.intp], limit: int) -> bool:
    """Tell whether formatting elements would be repeated more often than `limit` if none of them
    had an end.

    begins: where tags begin. A look at two letters of each settles it for nine of ten pages, in a
    third of the time."""
    letters = np.frombuffer(html, np.uint8)
    first, second = (letters.take(begins + place, mode="clip") for place in (1, 2))
    most = int(np.count_nonzero(_MAY_FORMAT[first, second])) + SAME * len(FORMATTING)
    if most * len(begins) <= limit:
        return False
    most = sum(min(count, SAME) for count in Counter(_FORMATTING_TAG.findall(html)).values())
    return most * len(begins) > limit


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
