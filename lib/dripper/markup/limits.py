"""What is refused before it is parsed: markup for which the parser's time grows with the square of the size.

lexbor is linear but for three things, all far beyond real pages (of 8,451 none comes near a limit). A limit here
makes an error row of what would otherwise be minutes of work.
"""

import re
from collections.abc import Iterator

from dripper.errors import ErrorCode, PageError
from dripper.markup.tags import HTML_VOID, words

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_SCRIPT = re.compile(r"<(script|style)\b[^<]*(?:<(?!/\1)[^<]*)*", re.IGNORECASE)
_VALUE = re.compile("""=\\s*(?:"[^"]*"|'[^']*')""")
_SELECT = re.compile("<select", re.IGNORECASE)
_OPTION = re.compile("<option", re.IGNORECASE)
_CLOSED_BY_NEXT = HTML_VOID | words("p li dt dd td th tr option script style a button nobr")
_CLOSES_P = words(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp"
)

MAX_STEPS = 400_000_000
"""Steps up the tree, about 2.4 ns each: every start tag of a block looks for an open `p` among all its ancestors, so n
nested blocks cost n²/2. 28,000 nested `div` are the limit."""
MAX_ATTRIBUTES = 30_000
"""Attributes of one tag: each is compared with all before it (20,000 take 0.9 s)."""
MAX_OPTIONS = 20_000
"""Options of one `select` (20,000 take 1.4 s)."""
_SMALLEST_COSTLY = MAX_OPTIONS * len("<option")
"""No shorter page reaches a limit on options or nesting: 28,000 nested `div` have as many characters."""


def refuse_costly(html: str) -> None:
    """Raise PageError(PARSE_FAILED) if parsing would take seconds; looks closer only at pages that are large enough."""
    if (most := _most_attributes(html)) > MAX_ATTRIBUTES:
        raise PageError(ErrorCode.PARSE_FAILED, f"a tag with about {most} attributes; the limit is {MAX_ATTRIBUTES}")
    if len(html) < _SMALLEST_COSTLY or html.count("<") < MAX_OPTIONS:
        return
    if (most := max(len(_OPTION.findall(part)) for part in _SELECT.split(html))) > MAX_OPTIONS:
        raise PageError(ErrorCode.PARSE_FAILED, f"a select with {most} options; the limit is {MAX_OPTIONS}")
    if (steps := _steps(html)) > MAX_STEPS:
        raise PageError(ErrorCode.PARSE_FAILED, f"elements nested too deeply: {steps} steps; the limit is {MAX_STEPS}")


def _most_attributes(html: str) -> int:
    """Return how many attributes the largest tag has, roughly; a "<" in a script does not count."""
    most = max(map(_words, _long_tags(html)), default=0)
    return most if most <= MAX_ATTRIBUTES else max(map(_words, _long_tags(_SCRIPT.sub("", html))), default=0)


def _words(tag: str) -> int:
    return len(_VALUE.sub("", tag).split())


def _long_tags(html: str) -> Iterator[str]:
    """Yield the tags that are long enough for too many attributes: only where no "<" stands for a while is one."""
    position = 0
    while position < len(html):
        if html.find("<", position, position + MAX_ATTRIBUTES) >= 0:
            position += MAX_ATTRIBUTES
            continue
        start, end = html.rfind("<", 0, position), html.find("<", position)
        end = len(html) if end < 0 else end
        tag = html[start + 1 : end].partition(">")[0]
        if len(tag) > 2 * MAX_ATTRIBUTES:
            yield tag
        position = end


def _steps(html: str) -> int:
    """Return how many ancestors the parser will look at, from above: it knows end tags that we do not see."""
    depth = steps = 0
    for end, name in _TAG.findall(html):
        name = name.lower()
        if not end and name in _CLOSES_P:
            steps += depth
        if name not in _CLOSED_BY_NEXT:
            depth = max(0, depth - 1) if end else depth + 1
    return steps
