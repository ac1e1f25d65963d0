"""Splits Markdown into passages for search and for language models, with headings and offsets."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dripper.labels.words import words_of
from dripper.page.finish import Extraction

_HEADING = re.compile(r"(#{1,6}) (.*)")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)]) ")
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,})\s*$")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|(?<=[。！？])|\n")
"""Matches the end of a sentence: closing quotation marks and brackets, then white space."""
_PAIRS = (("[", "]"), ("(", ")"))
_TOGGLES = "`*"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of Markdown."""

    text: str
    offset: int
    """Position in the Markdown, in characters from 0."""
    headings: tuple[str, ...]
    """The headings above the passage and at its beginning, the outermost first."""
    kind: str
    """Either "prose", "list", "table" or "code", whichever has the most words, or "post" for part
    of a post. Only parts of posts can have `author` and `published`."""
    words: int
    """The number of words, or of characters in languages without spaces."""
    author: str | None = None
    published: str | None = None


class _Unit(NamedTuple):
    kind: str
    start: int
    end: int


def passages(result: Extraction | str, max_words: int = 200, posts: Iterable[Any] | None = None) -> list[Passage]:
    """Split a result's Markdown into passages, in order. Together, they contain everything except
    the horizontal rules between posts.

    A passage ends before a heading, at the end of a post, or before it would exceed `max_words`
    words. Paragraphs are cut between sentences. Tables, list items, quotations and code are never
    cut, so a passage with one of them can be longer.

    Args:
        result: An extraction, or the Markdown of a row.
        posts: The row's `posts` column if `result` is Markdown: objects with `author`, `published`
            and `offset`. An extraction has its own posts.

    Raises ValueError if `max_words` is below 1.

    >>> [(p.offset, p.headings) for p in passages("# Ferry\\n\\nAt noon.\\n\\n## Fare\\n\\nFree.")]
    [(0, ('Ferry',)), (19, ('Ferry', 'Fare'))]
    """
    if max_words < 1:
        raise ValueError(f"max_words must be 1 or more, not {max_words}")
    markdown = result if isinstance(result, str) else result.markdown
    found = posts if posts is not None else () if isinstance(result, str) else result.posts
    placed = sorted((post for post in found if post.offset is not None), key=lambda post: post.offset or 0)
    return list(_collect(markdown, max_words, placed))


def _collect(markdown: str, max_words: int, posts: Sequence[Any]) -> Iterator[Passage]:
    """Combine neighbouring units (see `_split`) into passages of up to `max_words` words."""
    units, path, post, number = list[tuple[_Unit, int]](), list[tuple[int, str]](), None, 0
    n_words, has_text = 0, False
    for unit in _split_long(markdown, max_words):
        words = len(words_of(markdown[unit.start : unit.end]))
        is_full = has_text and n_words + words > max_words
        begins_post = number < len(posts) and unit.start >= (posts[number].offset or 0)
        if units and (begins_post or is_full or (unit.kind == "heading" and has_text)):
            yield _make_passage(markdown, units, path, post)
            units, n_words, has_text = [], 0, False
        while number < len(posts) and unit.start >= (posts[number].offset or 0):
            post, number = posts[number], number + 1
        if unit.kind == "heading" and (match := _HEADING.match(markdown, unit.start)):
            depth = len(match[1])
            path = [*(each for each in path if each[0] < depth), (depth, _ESCAPE.sub(r"\1", match[2].strip()))]
        units.append((unit, words))
        n_words, has_text = n_words + words, has_text or unit.kind != "heading"
    if units:
        yield _make_passage(markdown, units, path, post)


def _make_passage(
    markdown: str, units: Sequence[tuple[_Unit, int]], path: Sequence[tuple[int, str]], post: Any
) -> Passage:
    """Join units to a passage.

    Args:
        units: The units, each with its number of words.
        path: The level and text of each heading above the passage and at its beginning.
        post: The post that the passage belongs to, if any.
    """
    start, words = units[0][0].start, dict.fromkeys(("prose", "list", "table", "code"), 0)
    for unit, count in units:
        words["prose" if unit.kind == "heading" else unit.kind] += count
    kind = "post" if post is not None else max(words, key=words.__getitem__)
    who = (post.author, post.published) if post is not None else (None, None)
    text, headings = markdown[start : units[-1][0].end], tuple(name for _, name in path)
    return Passage(text, start, headings, kind, sum(words.values()), *who)


def _split_long(markdown: str, max_words: int) -> Iterator[_Unit]:
    """Yield the units of `_split`, but split paragraphs of more than `max_words` words between
    sentences."""
    for unit in _split(markdown):
        text = markdown[unit.start : unit.end]
        if unit.kind != "prose" or text.startswith(">") or len(words_of(text)) <= max_words:
            yield unit
        else:
            yield from (_Unit("prose", unit.start + start, unit.start + end) for start, end in _cut(text, max_words))


def _cut(text: str, max_words: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each piece of a paragraph. No piece ends within brackets,
    emphasis or code."""
    start = at = end = count = 0
    is_closed = True
    marks = [0] * (len(_PAIRS) + len(_TOGGLES))
    stops = [(match.end() - len(match[0]) + len(match[0].rstrip()), match.end()) for match in _SENTENCE.finditer(text)]
    for stop, after in [*stops, (len(text), len(text))]:
        piece = text[at:after]
        more = len(words_of(piece))
        if count and count + more > max_words and is_closed:
            yield start, end
            start, count = at, 0
        bare = _ESCAPE.sub("", piece)
        for index, (left, right) in enumerate(_PAIRS):
            marks[index] += bare.count(left) - bare.count(right)
        for index, mark in enumerate(_TOGGLES, len(_PAIRS)):
            marks[index] ^= bare.count(mark) & 1
        at, end, count, is_closed = after, stop, count + more, not any(marks)
    yield start, len(text)


def _split(markdown: str) -> Iterator[_Unit]:
    """Yield the units of Markdown that this package wrote: headings, paragraphs, list items, tables
    and code blocks. Horizontal rules are left out."""
    kind, start, end, at, fence, is_below_blank = "", 0, 0, 0, "", True
    for line in markdown.split("\n"):
        begin, at = at, at + len(line) + 1
        if not fence and not line.strip():
            is_below_blank = True
            continue
        if not fence and not _goes_on(kind, line, is_below_blank=is_below_blank):
            if kind:
                yield _Unit(kind, start, end)
            kind, start = _find_kind(line), begin
            fence = line[: len(line) - len(line.lstrip(line[0]))] if kind == "code" else ""
        elif fence and line.startswith(fence) and not line.strip(fence[0]):
            fence, is_below_blank = "", True
            yield _Unit(kind, start, begin + len(line))
            kind = ""
            continue
        end, is_below_blank = begin + len(line.rstrip()), False
    if kind:
        yield _Unit(kind, start, end)


def _find_kind(line: str) -> str:
    """Return the kind of the unit that begins with this line, or "" for a horizontal rule."""
    if _HEADING.match(line):
        return "heading"
    if _RULE.match(line):
        return ""
    return "table" if line[0] == "|" else "code" if _FENCE.match(line) else "list" if _ITEM.match(line) else "prose"


def _goes_on(kind: str, line: str, *, is_below_blank: bool) -> bool:
    """Return whether a line continues the unit before it. `kind` is the kind of that unit."""
    if kind == "list" and line[0] == " ":
        return True
    return not is_below_blank and kind in ("prose", "table", "list") and _find_kind(line) in {kind, "prose"} - {"list"}
