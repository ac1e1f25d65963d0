"""Finds the rules that hide elements in a page's own `<style>` elements. Only rules with a simple
selector are counted as hiding.

A simple selector consists of an element name, classes and an id (`p`, `.x`, `p.x`, `#x.y`), perhaps
below `html` or `body`. To match such a selector, an element's start tag is enough. Rules count at
the top level and within `@media screen`, `@media all`, `@supports` and `@layer`. Print rules never
count. Other rules (with combinators, states, window sizes) never hide an element. But if one of
them shows an element that a simple rule hides, the element is *folded*: a user can open it, or sees
it at another window size.

Sheets are long, and few of their rules hide anything on the page. So the code first searches for
signs of hiding, then reads the rules around these signs, and finally compares selectors with the
page's tags.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from dripper.tree.elements import words
from dripper.tree.styles import MAY_HIDE, add_declarations, clean, find_way, resolve_escapes, shows

_MOST_CHARACTERS = 50_000
"""Maximum number of characters read from a page's sheets. The shortest are read first, because long
sheets are usually frameworks. Of 120 pages from five data sets, half have sheets with at most 400
characters in all."""
_MOST_RULES = 2_000
"""Maximum number of rules to read for a page."""
_LONGEST = 5_000
"""Maximum number of characters in a rule's selector list or declarations."""
_SIGNS = (
    *(f"{name}:{blank}{value}" for blank in ("", " ") for name, value in (
        ("display", "none"), ("visibility", "hidden"), ("visibility", "collapse"), ("opacity", "0"), ("opacity", "."),
        ("font-size", "0"), ("font-size", "1px"), ("overflow", "hidden"), ("overflow", "clip"), ("color", "transparent"),
    )),
    "clip:", "clip-path", "indent:", "-999", "scale", "opacity(", "matrix(0", "rotatex(", "rotatey(", "zoom:", "font:0",
    "content-visibility", "-100vw", *(f"-{thousand}000" for thousand in range(1, 9)),
)  # fmt: skip
"""Parts of declarations that can hide an element. `str.find` searches for them at C speed."""

_WIDE_COLONS = (" :", "\t:", ":  ", ":\t", ":\n")
"""Colons with unusual white space around them. Most sheets have none and stay unchanged."""
_GOES_ON = re.compile(r"[\w-]")
_BEGINS = re.compile(r"[\s,>+~{}]")
_COMMENT = re.compile(r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?")
_SIMPLE = re.compile(r"(?:html\s*>?\s*)?(?:body\s*>?\s*)?([a-z][a-z0-9-]*)?((?:[.#][\w-]+)*)")
_NAME = re.compile(r"[.#][\w-]+")
_BLOCK = re.compile(r"@[a-z-]+[^{};]*\{|[{}]|\"[^\"\n]*\"|'[^'\n]*'")
_PLAIN = re.compile(
    r"@(?:media\s*(?:[\w\s,]*\b)?(?:only\s+)?(?:screen|all)\b(?:[\w\s,]*|\s*and\s*\(min-width:\s*[01](?:px)?\)\s*)"
    r"|supports[^{]*|layer[^{]*)\{"
)
_PRINT = re.compile(r"@(?:media\s*(?:only\s+)?(?:print|speech|aural|tty|braille)\b|(?:-\w+-)?keyframes|font-face|page)")
_CLOAK = re.compile("cloak|fouc|js-?hid|async-?hide|no-?js|^\\.js$|amp-|preload|loading|(?:^|[.#-])hide-?until")
"""Class and id names of elements that a script shows when it runs."""
_KEPT_NAMES = words("html body noscript")


class Rule(NamedTuple):
    """A rule from the page's sheets that matches some of the page's tags.

    name: the element's name, or "" for any element. marks: the classes and ids, as `.x` and `#x`.
    rank: the rule's precedence, that is, the numbers of ids, classes and names, then its position
    in the sheets.
    """

    name: str
    marks: tuple[str, ...]
    rank: tuple[int, int, int, int]
    block: str


class Found(NamedTuple):
    """The rules in a page's sheets that affect hidden elements.

    rules: the hiding rules that match tags of the page, and the other rules for the same classes,
    ids or names. folded: classes, ids and names that one rule hides and another shows.
    """

    rules: Sequence[Rule]
    folded: frozenset[str]


NOTHING = Found((), frozenset())


def join_sheets(sheets: Iterable[str]) -> str:
    """Join a page's sheets in their order, in lower case and without comments and escapes. The
    longest sheets are left out if the total would exceed `_MOST_CHARACTERS`."""
    shortest, chosen, left = sorted(enumerate(sheets), key=lambda sheet: len(sheet[1])), list[tuple[int, str]](), 0
    for number, sheet in shortest:
        left += len(sheet)
        if left > _MOST_CHARACTERS:
            break
        chosen.append((number, sheet))
    css = "\n".join(sheet for _, sheet in sorted(chosen)).replace("\u0130", "i").lower()
    if "/*" in css:
        css = _COMMENT.sub(" ", css)
    if "<!--" in css:
        css = css.replace("<!--", " ").replace("-->", " ")
    if any(blanks in css for blanks in _WIDE_COLONS):
        css = " ".join(css.split()).replace(" :", ":")
    return resolve_escapes(css) if "\\" in css else css


def read_sheets(css: str, find_keys: Callable[[], Collection[str]]) -> Found:
    """Find the rules in a page's sheets that hide its elements.

    Limits on characters and rules keep the time linear. Rules beyond the limits are ignored.

    Args:
        css: The result of `join_sheets`.
        find_keys: Returns the page's element names (as `<p`), classes and ids, in lower case.
    """
    sheet = _Sheet(css, find_keys)
    hiding = [rule for place in sheet.find_signs() for rule in sheet.read_rule(place)]
    if not hiding:
        return NOTHING
    rules, folded = {rule.rank: rule for rule in hiding}, set[str]()
    for mark in sorted({(rule.marks or (rule.name,))[-1] for rule in hiding}):
        for other, is_shown in sheet.read_others(mark):
            if is_shown:
                folded.add(mark)
            elif other is not None:
                rules.setdefault(other.rank, other)
    return Found([rules[rank] for rank in sorted(rules)], frozenset(folded))


class _Sheet:
    """The text of a page's sheets, with methods to find rules."""

    def __init__(self, css: str, find_keys: Callable[[], Collection[str]]) -> None:
        self._css, self._find_keys = css, find_keys
        self._changes: tuple[list[int], list[str]] | None = None
        self._n_rules = 0

    @cached_property
    def _keys(self) -> Collection[str]:
        return self._find_keys()

    def find_signs(self) -> list[int]:
        """Return the offset of the opening brace of each rule with a sign of hiding."""
        braces = set[int]()
        for sign in _SIGNS:
            at = self._css.find(sign)
            while at >= 0:
                if (brace := self._css.rfind("{", max(0, at - _LONGEST), at)) >= 0:
                    braces.add(brace)
                at = self._css.find(sign, at + 1)
        return sorted(braces)

    def read_rule(self, brace: int) -> list[Rule]:
        """Return the rule at a brace, once for each simple selector that may match. Return [] if
        the rule hides nothing."""
        selectors = self._find_selectors(brace)
        simple = [found for selector in selectors if (found := self._match(selector)) is not None]
        self._n_rules += bool(simple)
        if not simple or self._n_rules > _MOST_RULES or not MAY_HIDE.search(block := self._read_block(brace)):
            return []
        declared: dict[str, str] = {}
        add_declarations(declared, set(), block)
        if find_way(declared) is None or self._place(brace) != "plain":
            return []
        return [self._weigh(name, marks, brace, block) for name, marks in simple]

    def read_others(self, mark: str) -> Iterator[tuple[Rule | None, bool]]:
        """Find other rules for the class, id or name of a hiding rule. Yield (rule, False) for a
        rule that counts, and (None, True) for any other rule that shows the element again."""
        at = self._css.find(mark)
        while at >= 0 and self._n_rules < _MOST_RULES:
            self._n_rules += 1
            end = at + len(mark)
            brace = self._css.find("{", end, end + _LONGEST)
            if (
                brace >= 0
                and not _GOES_ON.match(self._css, end)
                and (mark[0] in ".#" or _BEGINS.match(self._css, at - 1))
            ):
                yield from self._read_other(mark, at, brace)
            at = self._css.find(mark, end)

    def _read_other(self, mark: str, at: int, brace: int) -> Iterator[tuple[Rule | None, bool]]:
        selectors = self._find_selectors(brace, at)
        last_parts = [selector for selector in selectors if mark in re.split(r"[\s>+~]+", selector)[-1]]
        if not last_parts or (place := self._place(brace)) == "print":
            return
        block = self._read_block(brace)
        declared: dict[str, str] = {}
        add_declarations(declared, set(), block)
        is_shown = shows(declared)
        for selector in last_parts:
            found = self._match(selector)
            if found is not None and place == "plain":
                yield self._weigh(*found, brace, block), False
            elif is_shown and "::" not in selector and ":before" not in selector and ":after" not in selector:
                yield None, True

    def _find_selectors(self, brace: int, at: int | None = None) -> list[str]:
        """Return the selectors before a brace. Return [] if they are too long or begin after offset
        `at`."""
        least = max(0, brace - _LONGEST)
        start = max(self._css.rfind(sign, least, brace) for sign in "{};") + 1
        if (start == 0 and least > 0) or (at is not None and at < start):
            return []
        return [selector.strip() for selector in self._css[start:brace].split(",")]

    def _read_block(self, brace: int) -> str:
        return clean(self._css[brace + 1 : brace + _LONGEST].partition("}")[0].partition("{")[0])

    def _match(self, selector: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the name of a simple selector, and its classes and ids. Return None if the
        selector is not simple, is excluded (`_CLOAK`, `_KEPT_NAMES`), or needs a class, an id or an
        element that the page lacks."""
        simple = _SIMPLE.fullmatch(selector)
        if simple is None or not selector or _CLOAK.search(selector):
            return None
        name, marks = simple[1] or "", tuple(_NAME.findall(simple[2]))
        if name in _KEPT_NAMES or not (name or marks):
            return None
        keys = [mark[1:] for mark in marks] or [f"<{name}"]
        return (name, marks) if all(key in self._keys for key in keys) else None

    def _weigh(self, name: str, marks: tuple[str, ...], brace: int, block: str) -> Rule:
        n_ids = sum(mark[0] == "#" for mark in marks)
        return Rule(name, marks, (n_ids, len(marks) - n_ids, bool(name), brace), block)

    def _place(self, brace: int) -> str:
        """Return the context of the rule at a brace: `plain`, `print`, or `other` if the rule
        counts only in some windows or is nested in another rule."""
        if self._css.count("{", 0, brace) == self._css.count("}", 0, brace):
            return "plain"
        if self._changes is None:
            self._changes = self._find_places()
        places, kinds = self._changes
        before = bisect_left(places, brace)
        return kinds[before - 1] if before else "plain"

    def _find_places(self) -> tuple[list[int], list[str]]:
        """Return the offsets of all braces, and the context after each brace."""
        places, kinds, around = list[int](), list[str](), list[str]()
        for match in _BLOCK.finditer(self._css):
            token, now = match[0], around[-1] if around else "plain"
            if token[0] in "\"'":
                continue
            if token == "}":
                if around:
                    around.pop()
            elif token == "{":
                around.append("other" if now == "plain" else now)
            elif now == "plain" and _PLAIN.fullmatch(token):
                around.append("plain")
            else:
                around.append("print" if now == "print" or _PRINT.match(token) else "other")
            places.append(match.end() - 1)
            kinds.append(around[-1] if around else "plain")
        return places, kinds
