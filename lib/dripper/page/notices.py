"""Recognises notices that pages show instead of their content: scripts are off, please wait, not
found, access denied.

`notices.txt` lists the words and phrases of notices in about thirty languages. A page's text is a
notice if the list contains all its words, and if a block or the title has a listed phrase.
Therefore text that only contains a typical word is not a notice: "404 Main Street", "Loading dock",
"a developer who knows JavaScript".
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from unicodedata import combining, normalize

from dripper.tree.elements import words

LONGEST = 1_000
"""Maximum number of characters in a notice."""
_UNPARTED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Letters of Korean, and of the scripts that do not put spaces between words."""
_UNPARTED_LETTER = re.compile(f"[{_UNPARTED}]")
_WORD = re.compile(rf"[{_UNPARTED}]+|[^\W_{_UNPARTED}]+")
_STATUS = re.compile("[45][0-9]{2}")
"""Matches an HTTP error status code."""
_PLACE = re.compile(r"(?<![\w@.])(?:https?://\S+|(?:[\w-]+\.)+[a-z]{2,}\b(?!@)\S*|/\S+)")
"""Matches a URL, a host or a path."""
_NUMBERED = words("error id ip reference incident code number port seconds nginx apache openresty iis php")
"""Words that often come with a number."""
_WIDEST_GAP = 60
"""Maximum number of characters between the two parts of a phrase."""
_LONGEST_TITLE = 200
_PARTS_OF_A_TITLE = re.compile(r"\s[|\u2013\u2014\u00b7:-]\s|\uff5c")


class _Phrase(NamedTuple):
    """A phrase: one of `firsts`, followed by one of `seconds` if there are any. All are in the form
    that `_say` returns."""

    firsts: list[str]
    seconds: list[str]
    begins: bool
    ends: bool

    def is_in(self, said: str) -> bool:
        for first in self.firsts:
            at = said.find(first)
            if at < 0 or (self.begins and at) or (self.ends and len(first) != len(said)):
                continue
            after = at + len(first) - 1
            if not self.seconds or any(each in said[after : after + _WIDEST_GAP + len(each)] for each in self.seconds):
                return True
        return False


class _Lexicon(NamedTuple):
    phrases: list[_Phrase]
    topics: frozenset[str]
    words: frozenset[str]
    """The topics, and the words that may occur between topics."""
    pieces: re.Pattern[str]

    def knows(self, word: str) -> bool:
        return word in self.words or self.pieces.fullmatch(word) is not None or _STATUS.fullmatch(word) is not None

    def has_phrase(self, text: str) -> bool:
        said = _say(text)
        return any(phrase.is_in(said) for phrase in self.phrases)


def is_notice(texts: Iterable[str], title: str = "") -> bool:
    """Return whether a page with these block texts shows only a notice.

    >>> is_notice(["You need JavaScript to go on."]), is_notice(["JavaScript was new then."])
    (True, False)
    >>> is_notice(["404", "Page not found"]), is_notice(["404 Main Street"])
    (True, False)
    """
    blocks, size = list[str](), 0
    for text in texts:
        size += len(text)
        if size > LONGEST:
            return False
        blocks.append(text)
    lexicon, blocks = _load(), [block for block in map(_plain, blocks) if _WORD.search(block)]
    parts = [_plain(part) for part in _PARTS_OF_A_TITLE.split(title[:_LONGEST_TITLE])]
    named = set(_WORD.findall(" ".join(parts)))
    if not blocks or not all(word in named or lexicon.knows(word) for word in _find_words(blocks)):
        return False
    headline = [part for part in parts if lexicon.has_phrase(part) or _STATUS.fullmatch(part)]
    site = named.difference(_WORD.findall(" ".join(headline)))
    is_said = [lexicon.has_phrase(block) for block in blocks]
    is_one = bool(headline) or any(is_said)
    return is_one and all(_says_no_more(*each, lexicon, site) for each in zip(blocks, is_said, strict=True))


def _find_words(blocks: Iterable[str]) -> Iterator[str]:
    """Yield the words of blocks, except words in addresses and paths, and words with a digit."""
    for block in blocks:
        yield from (word for word in _WORD.findall(_PLACE.sub(" ", block)) if not any(map(str.isdigit, word)))


def _says_no_more(block: str, is_said: bool, lexicon: _Lexicon, site: Collection[str]) -> bool:
    """Return whether a block has only words that are listed in the lexicon. A block with a listed
    phrase is also allowed to have the site's name, addresses and numbers."""
    said = _WORD.findall(block)
    has_numbers = is_said or not _NUMBERED.isdisjoint(said)
    if has_numbers or _PLACE.fullmatch(block):
        said = _WORD.findall(_PLACE.sub(" ", block))
    is_topic = is_said or any(word in lexicon.topics or word not in lexicon.words for word in said)
    return (is_topic or not said) and all(
        lexicon.knows(word) or (is_said and word in site) or (has_numbers and any(map(str.isdigit, word)))
        for word in said
    )


def _plain(text: str) -> str:
    """Return `text` in lower case, without accents and repeated spaces."""
    text = " ".join(text.lower().split())
    if text.isascii():
        return text
    return normalize("NFC", "".join(each for each in normalize("NFKD", text) if not combining(each)))


def _say(text: str) -> str:
    """Return the words of `text`, with spaces between and around them. Status codes become
    `#`."""
    return f" {' '.join('#' if _STATUS.fullmatch(word) else word for word in _WORD.findall(text))} "


@cache
def _load() -> _Lexicon:
    """Read the lexicon."""
    sections = dict[str, list[str]]()
    for line in map(_plain, files("dripper.page").joinpath("notices.txt").read_text("utf-8").splitlines()):
        if line.startswith("["):
            rows = sections.setdefault(line, [])
        elif line and not line.startswith("#"):
            rows.append(line)
    phrases = [_read_phrase(each.strip()) for line in sections["[phrases]"] for each in line.split(" ; ")]
    topics, glue = (frozenset(_WORD.findall(" ".join(sections[name]))) for name in ("[topics]", "[glue]"))
    pieces = sorted(" ".join(sections["[pieces]"]).split(), key=len, reverse=True)
    return _Lexicon(phrases, topics, topics | glue, re.compile(f"(?:{'|'.join(pieces)})++"))


def _read_phrase(phrase: str) -> _Phrase:
    first, _, second = phrase.strip("^$").partition(" * ")
    firsts, seconds = ([_read_words(each) for each in side.split("|") if each] for side in (first, second))
    return _Phrase(firsts, seconds, phrase.startswith("^"), phrase.endswith("$"))


def _read_words(text: str) -> str:
    """Convert the words of a listed phrase to the form that `_say` returns."""
    said = f" {' '.join(_WORD.findall(text.replace('#', '400'))).replace('400', '#')}"
    return said.strip() if _UNPARTED_LETTER.search(said) else said if text.endswith("~") else f"{said} "
