"""What is refused before it is parsed: markup for which the parser's time grows with the square of
the size. And how large the output may be.

lexbor is linear but for three things, all far beyond real pages (of 8,451 none comes near a limit).
A limit here makes an error row of what would otherwise be minutes of work.
"""

import math
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dripper.errors import ErrorCode, PageError
from dripper.markup.tags import HTML_VOID, words
from dripper.settings import LimitSettings

_TAG = re.compile("<(/?)([a-z][a-z0-9]*)")
_SCRIPT = re.compile(rb"<(script|style)\b[^<]*(?:<(?!/\1)[^<]*)*", re.IGNORECASE)
_VALUE = re.compile(rb"""=\s*(?:"[^"]*"|'[^']*')""")
_CLOSED_BY_NEXT = HTML_VOID | words("p li dt dd td th tr option script style a button nobr")
_CLOSES_P = words(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp"
)


_DEFAULTS = LimitSettings()


class ParserLimits(NamedTuple):
    """What a page may ask of the parser."""

    steps: int = _DEFAULTS.parser_steps
    """Up the tree, each a step: every start tag of a block looks for an open `p` among all
    its ancestors, so n nested blocks cost n²/2. 28,000 nested `div` are the default."""
    attributes: int = _DEFAULTS.parser_attributes
    """Of one tag: each is compared with all before it."""
    options: int = _DEFAULTS.parser_options
    """Of one `select`: the parser's time grows with their square."""

    @classmethod
    def of(cls, limits: LimitSettings) -> "ParserLimits":
        """Return what the settings allow."""
        return cls(limits.parser_steps, limits.parser_attributes, limits.parser_options)


DEFAULT_LIMITS = ParserLimits()
NO_LIMITS = ParserLimits(sys.maxsize, sys.maxsize, sys.maxsize)
"""For a page that has passed once."""


def refuse_costly(html: bytes, limits: ParserLimits = DEFAULT_LIMITS) -> None:
    """Raise PageError(PARSE_FAILED) if parsing would take seconds; looks closer only at pages that
    are large enough.

    html: the page as UTF-8.
    """
    if (most := _most_attributes(html, limits.attributes)) > limits.attributes:
        raise PageError(ErrorCode.PARSE_FAILED, f"a tag with about {most} attributes; the limit is {limits.attributes}")
    # A page with fewer tags reaches no other limit: n nested elements cost n²/2 steps, and have
    # four characters each.
    fewest = min(limits.options, math.isqrt(2 * limits.steps))
    # numpy counts bytes faster than `bytes.count` does.
    if len(html) < 4 * fewest or (tags := np.count_nonzero(np.frombuffer(html, np.uint8) == ord("<"))) < fewest:
        return
    if (starts := int(tags) - html.count(b"</")) < fewest:
        return
    if html.count(b"<o") + html.count(b"<O") <= limits.options and starts * starts <= 2 * limits.steps:
        return
    # HTML folds the case of ASCII alone, as bytes do, which is far cheaper than Unicode's rules.
    lowered = html.lower()
    if (most := max(part.count(b"<option") for part in lowered.split(b"<select"))) > limits.options:
        raise PageError(ErrorCode.PARSE_FAILED, f"a select with {most} options; the limit is {limits.options}")
    if starts * starts > 2 * limits.steps and (steps := _steps(lowered.decode("latin-1"))) > limits.steps:
        raise PageError(
            ErrorCode.PARSE_FAILED, f"elements nested too deeply: {steps} steps; the limit is {limits.steps}"
        )


def _most_attributes(html: bytes, limit: int) -> int:
    """Return how many attributes the largest tag has, roughly; a "<" in a script does not count."""
    most = max(map(_words, _long_tags(html, limit)), default=0)
    return most if most <= limit else max(map(_words, _long_tags(_SCRIPT.sub(b"", html), limit)), default=0)


def _words(tag: bytes) -> int:
    return len(_VALUE.sub(b"", tag).split())


def _long_tags(html: bytes, limit: int) -> Iterator[bytes]:
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


def _steps(html: str) -> int:
    """Return how many ancestors the parser will look at, from above: it knows end tags that we do
    not see."""
    depth = steps = 0
    for end, name in _TAG.findall(html):
        if not end and name in _CLOSES_P:
            steps += depth
        if name not in _CLOSED_BY_NEXT:
            depth = max(0, depth - 1) if end else depth + 1
    return steps


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
