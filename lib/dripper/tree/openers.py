"""Detects hidden parts of a page that a user can open. The evidence is a tab or accordion name, a
control that refers to the part's id, or a button right beside the part.

Such a part is content. Menus, dialogs and the like are not content, although controls open them
too.
"""

import re
from collections.abc import Collection, Sequence

from dripper.tree.tree import attribute

_OPENS_LATER = re.compile(
    "tab-?_?(?:panel|content|pane)|accordi?on|collaps|faq|toggle|expand|until-found|subscriber|paywall|callout|answer|"
    ' id="s:[0-9a-f]+"|-id="s:[0-9a-f]+"|class="(?:[^"]*[ _-])?(?:slide|carousel-(?:item|cell))[ "_-]'
)
"""Marks of hidden parts that a reader or a script opens. Searching lower-cased tags is five times
as fast as IGNORECASE. React sends parts with ids such as `S:3` after the rest of the page. Slides
are shown one after another."""
_MOVES = re.compile(
    "slick|swip|carousel|slide|gallery|owl-|data-aos|data-stagger|data-w-id|wow|animat|fade|reveal|appear|elementor-invisible|cloak|lazy|"
    "scroll|parallax|js-hid|fouc|katex|mathjax|mjx|tables?[_-]?wrap|tablepress|"
    r'aria-label="[^"]*\b\d+ (?:of|/) \d'
)
"""Lower-case marks of elements that move into view, or that a script lays out before it shows
them."""
_STYLE = re.compile(' style="([^"]*)"')
_MOVING = re.compile(
    r"transition|will-change|animation|transform\s*:(?!\s*(?:scale|rotate|matrix\(0|translate[^;]*-\d{3}))"
)
_OPENS_ELSE = re.compile(
    '^<(?:nav|dialog|menu)|role="(?:dialog|alertdialog|menu|listbox|search|navigation|tooltip)"|aria-modal|'
    '(?:class|id)="[^"]*(?:modal|popup|lightbox|overlay|off-?canvas|drawer|dropdown|cookie|consent|login|sign-?in|'
    "newsletter|(?<![a-z])(?:nav|menu|search|share))"
)
"""Marks of menus, dialogs and the like, in lower case."""
_OPENERS = (' aria-controls="', ' popovertarget="', " data-ta", ' data-toggle="')
"""The ways in which an attribute of a control can begin if its value is the id of the part to open.
Examples are `data-target` and `data-tab`."""
_KEYS = (' id="', ' data-tab-key="', ' data-tab="', ' data-tab-id="')
"""The ways in which an attribute of a part can begin if its value is the name that a control uses
for the part."""
_MORE = re.compile(
    r"\b(?:more|full|expand|open|reveal|continue|answers?|solutions?|hints?|spoilers?|transcript|details?|show|read|view|"
    r"mehr|weiterlesen|weiter|anzeigen|suite|plus|lire|afficher|más|mas|ver|leer|mostrar|mais|leia|continua|leggi|altro|"
    r"mostra|meer|lees|toon|więcej|rozwiń|pokaż|mer|visa|läs|vis|les|devam|daha|göster|xem|selengkapnya|více|zobrazit|"
    r"tovább|περισσότερα)\b|ещ[её]|далее|подробн|показать|читать|更多|展开|展開|显示|阅读|閱讀|全文|もっと|続き|表示|"
    "더보기|펼치기|المزيد",
    re.IGNORECASE,
)
_MOST_MORE = 40
"""Maximum length of the text of a "more" button, in characters."""
_BUTTON = re.compile(r'<(?:a|button|label|summary)[ >]|role="button"| onclick=| aria-expanded=')
_NEAR = 10
"""Number of tags to search for a button on each side of a hidden element."""


def opens_later(tag: str, *, moves: bool) -> bool:
    """Return whether a lower-case start tag looks like the start of a part that can be opened. With
    `moves`, also accept parts that move into view."""
    style = _STYLE.search(tag)
    named = tag.replace(style[0], "") if style else tag
    if _OPENS_LATER.search(named):
        return True
    return moves and (_MOVES.search(named) is not None or (style is not None and _MOVING.search(style[1]) is not None))


def find_opened(joined: str) -> set[str]:
    """Collect the ids that controls open. The id of a tab itself is returned as `tab ID`.

    Args:
        joined: All start tags of the page, joined with NUL.
    """
    # Splitting is ten times as fast as one regular expression for all attributes.
    opened = {piece[: piece.find('"')] for piece in joined.split('="#')[1:]}
    for beginning in _OPENERS:
        if beginning in joined:
            for piece in joined.split(beginning)[1:]:
                start = 0 if beginning[-1] == '"' else piece.find('"') + 1
                opened.update(name.lstrip("#.") for name in piece[start : piece.find('"', start)].split())
    if ' role="tab"' in joined:
        for piece in joined.split("\0"):
            if ' role="tab"' in piece and (tab := attribute(piece, "id")):
                opened.add(f"tab {tab}")
    return opened - {""}


def may_be_opened(tag: str, lowered: str) -> bool:
    """Return whether a control could open the element of this start tag. False for menus, dialogs
    and the like.

    Args:
        lowered: The tag in lower case.
    """
    return (" aria-labelledby=" in tag or any(key in tag for key in _KEYS)) and not _OPENS_ELSE.search(lowered)


def is_opened(tag: str, opened: Collection[str]) -> bool:
    """Return whether a control opens the element of this start tag.

    Args:
        opened: The result of `find_opened`.
    """
    keys = [attribute(tag, beginning[1:-2]) for beginning in _KEYS if beginning in tag]
    is_named = any(key in opened for key in keys if key)
    if not is_named and " aria-labelledby=" in tag:
        is_named = f"tab {attribute(tag, 'aria-labelledby')}" in opened
    return is_named


def is_opened_beside(parts: Sequence[str], first: int, last: int) -> bool:
    """Return whether a button with "more" or a similar word is right before or after an element.

    Args:
        parts: Texts and tags, alternating.
        first, last: The indexes of the element's start and end tag.
    """
    if _is_button(parts, first, -1) or _is_button(parts, last, 1):
        return not _OPENS_ELSE.search(parts[first].lower())
    return False


def _is_button(parts: Sequence[str], tag: int, step: int) -> bool:
    """Return whether the nearest text before (`step` -1) or after (`step` 1) a tag is the text of a
    "more" button."""
    for place in range(tag + step, tag + 2 * _NEAR * step, 2 * step):
        if not 0 < place < len(parts) - 1:
            return False
        if text := parts[place].strip():
            if len(text) > _MOST_MORE or not _MORE.search(text):
                return False
            around = parts[place - 1], parts[place - 3] if place > 2 else ""
            return any(map(_BUTTON.search, around))
    return False
