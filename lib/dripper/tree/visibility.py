"""Decides which elements of a page are visible to a user. Each element is shown, folded (a user can
open it) or hidden. Folded elements count as shown, and hidden elements are cut out.

An element can be hidden because of its name, attributes or style, the page's own style sheets (see
`sheets`), or a class for screen-reader text. An element is folded if a control refers to its id, a
button is right beside it, its name is a word such as `tab` or `accordion`, or a CSS rule shows it
again. Because scripts could show content later, an element with much of the page's text is shown.
So are all elements that are hidden in the same way, if together they have much of the text.

Decisions that depend only on the start tag are made once for each distinct tag.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from dripper.tree.elements import CONSENT, HTML_VOID, LINE_BREAKING, words
from dripper.tree.openers import find_opened, is_opened, is_opened_beside, may_be_opened, opens_later
from dripper.tree.sheets import NOTHING, Rule, join_sheets, read_sheets
from dripper.tree.styles import MAY_HIDE, Way, clean, find_way, join, read_declarations
from dripper.tree.tree import Tree, attribute, unescape

HIDDEN_SHARE = 0.3
"""A hidden element with more than this fraction of the page's text is shown, because scripts will
probably show it. In 2,374 labelled training pages, 35 % (`display:none`) to 80 % (`hidden`) of the
content of such elements is main, but only 15 % of the content of smaller hidden elements."""
_SHORT, _SHORT_SHARE = 200, 0.5
"""For a hidden element with up to `_SHORT` characters, `_SHORT_SHARE` replaces HIDDEN_SHARE."""
_ALL_SHARE = 0.5
"""If all elements that are hidden in the same way have more than this fraction of the page's text,
they are all shown."""
_ALL_SHARES = {Way.DISPLAY: 0.9, Way.NEVER: 1.0}
"""Exceptions to `_ALL_SHARE`, for the ways that also hide menus and notices."""

_ROOTS = ("<html", "<body")
_NEVER = words("datalist desc meter progress")
_CLOSED = words("dialog canvas")
"""Elements with hidden content. A `dialog` is hidden until it is opened. A `canvas` shows only the
drawing of a script."""
_MARKED = words("video audio object title")
"""Media elements, and `title`. Browsers show the content of a media element only if they cannot
play the media."""
_PLAYS_NO_MORE = re.compile(r"flash|shockwave|java|silverlight|classid|\.swf|^<object(?!.* data=)", re.DOTALL)
"""Marks of objects that no browser can play. Browsers show the content of such objects."""
_LAZY = re.compile(r" (?:data-|loading=|srcset)")

_SPOKEN = re.compile(
    r"(?:[\w-]*-)?(?:visually-?hidden|sr-only|screen-?reader(?:-text|-only|s)?|offscreen|assistive-text|element-invisible|"
    r"(?:hide|hidden)-visually)(?:-focusable)?"
)
"""Classes for text that only screen readers use, in lower case."""
_SPOKEN_SIGNS = ("sr-only", "isually", "screen", "assistive-text", "element-invisible")
_CUSTOM = re.compile("<[a-z][a-z0-9]*-")
"""Custom elements, which are invisible until a script defines them."""
_HAS_OWN_LETTERS = re.compile(" class=|font|color|indent")
"""Signs of an element with its own text style. Such an element may be visible inside an element
with `font-size: 0`. Pages use `font-size: 0` to close the gaps in a row of boxes."""
_SAYS_VISIBLE = re.compile(r"visibility\s*:\s*visible")
_NEAR = 6
"""Number of tags before text for screen readers in which to search for a visible short form of this
text."""
_MOST_KEYS = 100
"""Maximum number of classes, ids and names to search for in the page's tags."""
_VOID_TAGS = tuple(f"<{name}{end}" for name in HTML_VOID for end in " >")
_TEXTS = re.compile(' (?:alt|title)="[^"]*"')
_MOST_TAGS = 50_000
"""On pages with this many distinct start tags or more, only elements that are never shown are
hidden."""


class Sight:
    """Decides which elements of one page are visible. Not reusable. `scan` calls `read_tags` first.

    Args:
        sheets: The text of each of the page's own style sheets.
        keeps_hidden: Whether to keep hidden elements, except elements that are never shown.
    """

    def __init__(self, sheets: Sequence[str] = (), *, keeps_hidden: bool = False) -> None:
        self._css, self._keeps_hidden = join_sheets(sheets) if sheets else "", keeps_hidden
        self._ways: dict[str, Way] = {}
        self._visible, self._spoken = set[str](), set[str]()
        self.marked: Collection[str] = ()
        """Start tags of players and titles. `blank_unseen` examines their elements."""
        self._has_formulas = False
        self._blanked = 0
        self.hidden_characters = 0
        """Number of characters that were left out as hidden."""

    def read_tags(self, tags: Sequence[str], tree: Tree) -> Mapping[str, Way]:
        """Return the start tags of hidden elements, each with its way of hiding.

        Args:
            tags: All distinct start tags.
            tree: The page. Only its distinct tags are read.
        """
        names = tree.names
        there = set(names.values())
        self._has_formulas = "math" in there
        never = _NEVER & there
        ways = {tag: Way.NEVER for tag in tags if names[tag] in never} if never else {}
        if _MARKED & there:
            marked = [tag for tag in tags if names[tag] in _MARKED]
            self.marked = [tag for tag in marked if names[tag] == "title" or not _PLAYS_NO_MORE.search(tag.lower())]
        if not self._keeps_hidden and len(tags) < _MOST_TAGS:
            found = read_sheets(self._css, lambda: _find_keys(tree)) if self._css else NOTHING
            of_sheets = _match_rules(found.rules, tags, tree) if found.rules else {}
            self._spoken = _find_spoken(tree.values("class"))
            hidden = dict.fromkeys(self._spoken, Way.NAME)
            hidden |= _find_hidden(tree, of_sheets, found.folded)
            if _CLOSED & there:
                hidden |= {tag: Way.DISPLAY for tag in tags if names[tag] in _CLOSED and ' open="' not in tag}
            _unfold(hidden, tags, self._spoken)
            ways |= {tag: way for tag, way in hidden.items() if names[tag] not in HTML_VOID or _is_gone(tag, way)}
            if Way.VISIBILITY in hidden.values():
                self._visible = {
                    tag for tag, style in tree.values("style").items() if _SAYS_VISIBLE.search(style.lower())
                }
                self._visible |= {tag for tag, rules in of_sheets.items() if any(map(_shows_again, rules))}
        self._ways = ways
        return ways

    def blank_unseen(self, parts: list[str], marked: Sequence[int]) -> Iterator[int]:
        """Blank the fallback content of players. For each title of a drawing (not of the page),
        yield the index of its start tag in `parts`.

        Args:
            marked: Indexes in `parts` of the tags in `self.marked`, in ascending order.
        """
        body = next((place for place in range(1, len(parts), 2) if parts[place].startswith("<body")), 0)
        before, ends, last = list[int](), dict[str, int](), 0
        for first in marked:
            tag = parts[first]
            if tag.startswith("<title"):
                if first >= body:
                    self._ways[tag] = Way.NEVER
                    yield first
                continue
            before = before or list(accumulate(map(len, map(str.strip, parts[::2])), initial=0))
            end = f"</{tag[1:].partition(' ')[0].rstrip('>')}>"
            if ends.get(end, 0) < first:
                ends[end] = _find(parts, end, first)
            size = before[(ends[end] + 1) // 2] - before[(first + 1) // 2]
            # A "player" with much of the page's text is a player without an end tag.
            if first > last and size <= HIDDEN_SHARE * before[-1]:
                last = ends[end]
                self._blanked += size
                parts[first + 1 : last : 2] = [""] * ((last - first) // 2)
        self.hidden_characters = self._blanked

    def choose_shown(self, parts: list[str], cuts: Sequence[tuple[int, int]], text_before: Sequence[int]) -> list[int]:
        """Return the indexes in `parts` of the start tags of hidden elements to show after all. The
        reasons are their fraction of the page's text, their content or their neighbours.

        Args:
            cuts: First and last index of each outermost hidden element. For a single removed tag,
                both are the same.
            text_before: As in `scan.find_elements`.
        """
        total, shown = text_before[-1], list[int]()
        sizes = {
            first: text_before[last // 2 + 1] - text_before[first // 2 + 1] for first, last in cuts if first != last
        }
        sums = Counter[Way]()
        for first, size in sizes.items():
            sums[self._ways[parts[first]]] += size
        too_many = {way for way, size in sums.items() if size > _ALL_SHARES.get(way, _ALL_SHARE) * total}
        self.hidden_characters = self._blanked
        for first, last in cuts:
            if first == last or (way := self._ways[parts[first]]) is Way.NEVER:
                continue
            size = sizes[first]
            is_large = size > total * (_SHORT_SHARE if size <= _SHORT else HIDDEN_SHARE)
            if way in too_many or is_large or self._is_shown(parts, first, last, way, size):
                shown.append(first)
            elif way in (Way.VISIBILITY, Way.TEXT) and self._shows_within(parts, first, last, way):
                self._blanked += (blanked := self._blank(parts, first, last, way))
                self.hidden_characters += blanked
                shown.append(first)
            else:
                self.hidden_characters += size
        return shown

    def _is_shown(self, parts: list[str], first: int, last: int, way: Way, size: int) -> bool:
        """Return whether to show a hidden element because of its content or its neighbours."""
        if parts[first - 2] == "</summary>":
            return True
        if way is not Way.DISPLAY and (
            size == 0 or (self._has_formulas and any(tag.startswith("<math") for tag in parts[first : last + 1 : 2]))
        ):
            return True
        if way is Way.NAME:
            return parts[first] in self._spoken and _has_short_form(parts, first, last)
        if way is Way.TEXT and any(map(_HAS_OWN_LETTERS.search, parts[first + 2 : last : 2])):
            return True
        return is_opened_beside(parts, first, last)

    def _shows_within(self, parts: list[str], first: int, last: int, way: Way) -> bool:
        if way is Way.TEXT:
            return any(tag.startswith("<img") for tag in parts[first + 2 : last : 2])
        return any(tag in self._visible for tag in parts[first + 2 : last : 2])

    def _blank(self, parts: list[str], first: int, last: int, way: Way) -> int:
        """Blank the text of an element, but not the text in its visible descendants. Return the
        number of blanked characters."""
        states, blanked = [False], 0
        for index in range(first + 1, last, 2):
            text = parts[index]
            if not states[-1] and text:
                blanked += len(text.strip())
                parts[index] = " " if text[:1].isspace() else ""
            tag = parts[index + 1]
            if tag[1:2] == "/":
                if len(states) > 1:
                    states.pop()
            elif tag[1:2] not in "!?" and not tag.startswith(_VOID_TAGS):
                states.append((states[-1] or tag in self._visible) and self._ways.get(tag) is not way)
        return blanked


def _find_keys(tree: Tree) -> set[str]:
    """Return a page's classes, ids and element names (as `<p`) in lower case."""
    values = " ".join([*tree.values("class").values(), *tree.values("id").values()])
    return {*values.lower().split(), *(f"<{name}" for name in tree.names.values())}


def _find_spoken(classes: Mapping[str, str]) -> set[str]:
    """Return the tags with a class for screen-reader text.

    Args:
        classes: The class attribute of each tag.
    """
    joined = " ".join(classes.values())
    signs = [sign for sign in _SPOKEN_SIGNS if sign in joined]
    return {
        tag
        for sign in signs
        for tag, names in classes.items()
        if sign in names and any(map(_SPOKEN.fullmatch, unescape(names).lower().split()))
    }


def _find_hidden(tree: Tree, of_sheets: Mapping[str, list[Rule]], folded: Collection[str]) -> Iterator[tuple[str, Way]]:
    """Yield the tags of elements hidden by attributes or by the page's style sheets, each with its
    way of hiding. If a tag is yielded twice, the second way takes precedence."""
    unread = [tag for tag, value in tree.values("aria-hidden").items() if value == "true"]
    yield from ((tag, Way.NAME) for tag in unread if tree.names[tag] in LINE_BREAKING)
    styles = tree.values("style")
    for tag, style in styles.items():
        if tag not in of_sheets and (way := _judge_style(style) if len(style) < _SHORT else _judge(style, (), ())):
            yield tag, way
    for tag, rules in of_sheets.items():
        if way := _judge(styles.get(tag, ""), rules, folded):
            yield tag, way
    yield from ((tag, Way.DISPLAY) for tag in tree.values("hidden") if _is_marked_hidden(tag))
    yield from ((tag, Way.DISPLAY) for tag in tree.values("popover"))


def _unfold(hidden: dict[str, Way], tags: Sequence[str], spoken: Collection[str]) -> None:
    """Delete from `hidden` the tags of elements that a reader or a script opens."""
    opened: set[str] | None = None
    for tag, way in list(hidden.items()):
        lowered = tag.lower()
        if lowered.startswith(_ROOTS):
            del hidden[tag]
        elif way is Way.NAME and tag in spoken:
            continue
        elif ' id="' in tag and attribute(tag, "id") in CONSENT:
            hidden[tag] = Way.NEVER
        elif opens_later(lowered, moves=way not in (Way.DISPLAY, Way.TEXT)) or (
            way is Way.VISIBILITY and _CUSTOM.match(tag)
        ):
            del hidden[tag]
        elif may_be_opened(tag, lowered):
            if opened is None:
                opened = find_opened("\0".join(tags))
            if is_opened(tag, opened):
                del hidden[tag]


def _find(parts: list[str], part: str, start: int) -> int:
    """Return the first index of a part at or after `start`. If there is none, return the index of
    the last tag."""
    try:
        return parts.index(part, start)
    except ValueError:
        return len(parts) - 2


def without_texts(tag: str) -> str:
    """Remove the alternative text and the title from an image's start tag.

    >>> without_texts('<img src="/a.jpg" alt="a boat" hidden="">')
    '<img src="/a.jpg" hidden="">'
    """
    return _TEXTS.sub("", tag)


def _is_marked_hidden(tag: str) -> bool:
    """Return whether an element has the `hidden` attribute, and no style that shows the element
    anyway."""
    value = attribute(tag, "hidden")
    if value is None or value.lower() == "until-found":
        return False
    style = attribute(tag, "style") or ""
    return "display" not in style.lower() or read_declarations(style).get("display", "none") == "none"


def _is_gone(tag: str, way: Way) -> bool:
    """Return whether a hidden void element is an image to cut out. Lazy images are kept."""
    return tag.startswith("<img") and way in (Way.DISPLAY, Way.VISIBILITY) and not _LAZY.search(tag)


@lru_cache(maxsize=4096)
def _judge_style(style: str) -> Way | None:
    """Return the way in which a serialised style hides an element. Cached, because pages share most
    short styles."""
    return _judge(style, (), ())


def _judge(style: str, rules: Sequence[Rule], folded: Collection[str]) -> Way | None:
    """Return the way in which a serialised style and the matching rules hide an element."""
    by_style = None
    if rules or MAY_HIDE.search(style.lower()):
        style = clean(unescape(style))
        by_style = find_way(join((), style)) if style else None
    if not rules:
        return by_style
    way = find_way(join((rule.block for rule in rules), style))
    if by_style is None and any(mark in folded for rule in rules for mark in rule.marks or (rule.name,)):
        return None
    return way


def _match_rules(rules: Sequence[Rule], tags: Sequence[str], tree: Tree) -> dict[str, list[Rule]]:
    """Return the rules that match each start tag, in ascending order of precedence. Tags without
    rules are left out."""
    by_key: dict[str, list[Rule]] = {}
    names, classes_of, ids = tree.names, tree.values("class"), tree.values("id")
    for rule in rules:
        by_key.setdefault(rule.marks[-1][1:] if rule.marks else f"<{rule.name}", []).append(rule)
    matched = dict[str, list[Rule]]()
    some = {tag for key in list(by_key)[:_MOST_KEYS] for tag in tags if key in tag}
    for tag in some:
        classes, name = unescape(classes_of.get(tag, "")).lower().split(), names[tag]
        own_id = unescape(ids.get(tag, "")).lower()
        found = [rule for key in {*classes, own_id, f"<{name}"} if key in by_key for rule in by_key[key]]
        if found:
            marks = {f"#{own_id}", *(f".{name}" for name in classes)}
            matching = {rule.rank: rule for rule in found if rule.name in ("", name) and marks.issuperset(rule.marks)}
            if matching:
                matched[tag] = [matching[rank] for rank in sorted(matching)]
    return matched


def _shows_again(rule: Rule) -> bool:
    return _SAYS_VISIBLE.search(rule.block) is not None


def _has_short_form(parts: Sequence[str], first: int, last: int) -> bool:
    """Return whether text for screen readers is close to its visible short form. If so, Markdown
    contains the screen-reader text (see `write.markdown.repeats`)."""
    if last + 2 < len(parts) and ' aria-hidden="true"' in parts[last + 2]:
        return True
    return any(' aria-hidden="true"' in parts[place] for place in range(first - 2, max(0, first - 2 * _NEAR), -2))
