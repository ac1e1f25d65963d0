"""Rewrites pages into the markup of 2008, with the same text.

Most training pages are from the 2020s: they use `article`, `main`, `nav` and `aside`, descriptive
class names, deep nesting, and metadata. Pages from 2004 to 2012, which every web archive contains,
have none of this. They use `div` and layout tables, `<br><br>` between paragraphs, bold lines for
headings, and links separated by bars. Each page gets a random selection of these changes; its text
stays the same word for word.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dripper.blocks.page import Page
from dripper.labels.words import words_of
from dripper.tree.elements import INLINE, words
from dripper.tree.tree import Tree
from dripper_lab.train.edits import is_marked, split_parts
from dripper_lab.train.examples import Example, example_from

# Old names for regions that have their own elements in HTML5; "" means no name.
_OLD_NAMES: Mapping[str, Sequence[str]] = {
    "main": ("content", "main", "maincontent", "center", "wrapper", "leftcolumn", ""),
    "article": ("post", "entry", "story", "article", "node", "box", ""),
    "section": ("section", "box", "module", "block", "", ""),
    "nav": ("nav", "menu", "navbar", "navigation", "links", ""),
    "aside": ("sidebar", "right", "rightcolumn", "side", "widget", ""),
    "header": ("header", "top", "masthead", "banner", "", ""),
    "footer": ("footer", "bottom", "foot", "", ""),
}
_TO_DIV = _OLD_NAMES.keys() | words("figure figcaption picture details summary dialog hgroup search address template")
_TO_NOTHING = words("time mark svg bdi wbr data output")
_RENAMED = {**dict.fromkeys(_TO_DIV, "div"), "strong": "b", "em": "i", "button": "span"}
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NAMES = re.compile(r' (?:class|id)="[^"]*"')
_LEAST_COLUMNS, _MOST_COLUMNS = 2, 4


@dataclass(slots=True)
class Antiquary:
    """Creates antique variants of examples."""

    draw: np.random.Generator
    """The source of randomness for every choice."""

    def __call__(self, page: Page, example: Example, truth: str) -> Example:
        """Return the example of the antique page. `truth` is the page's ground-truth text."""
        old = antique(page, self.draw)
        return example_from(old, words_of(truth), example.key, example.host, example.page_type)


@dataclass(frozen=True, slots=True)
class _Style:
    """The style of one page."""

    names: str
    """`keep`, `drop`, or `neutral`, which replaces class and id names by meaningless ones."""
    paragraphs: str
    """`keep`, `breaks` (`<br><br>` between paragraphs) or `div`."""
    bold_from: int
    """The first heading level that becomes a bold line; 7 means none."""
    lists: str
    """`keep`, `bars` (between the items) or `breaks` (a line break after each item)."""
    tables: float
    flat: float
    """The probability that a container becomes a table (`tables`), and that a `div` around a single
    element is removed (`flat`)."""
    old_names: bool
    """Whether regions get names that were common in 2008."""

    @classmethod
    def drawn(cls, draw: np.random.Generator) -> "_Style":
        """Draw a style. Each property is drawn independently. The probabilities are guesses and
        were not tuned."""
        return cls(
            str(draw.choice(["keep", "drop", "neutral"], p=[0.45, 0.25, 0.3])),
            str(draw.choice(["keep", "breaks", "div"], p=[0.5, 0.35, 0.15])),
            int(draw.choice([7, 2, 1, 3], p=[0.45, 0.25, 0.15, 0.15])),
            str(draw.choice(["keep", "bars", "breaks"], p=[0.5, 0.25, 0.25])),
            float(draw.choice([0.0, 0.3, 0.8], p=[0.5, 0.25, 0.25])),
            float(draw.choice([0.0, 0.5, 1.0], p=[0.3, 0.3, 0.4])),
            bool(draw.random() < 0.6),
        )


def antique(page: Page, draw: np.random.Generator) -> Page:
    """Return the page in the markup of 2008, without metadata. Elements that were added for another
    variant are left unchanged."""
    style, tree = _Style.drawn(draw), page.elements
    parts = list(tree.parts)
    numbers: dict[str, str] = {}
    for element in range(1, len(tree)):
        tag, start = tree.tags[element], tree.start_tag(element)
        if tag in ("body", "head") or is_marked(start) or tree.opens[element] == tree.closes[element]:
            continue
        attributes = _rename_attributes(tag, start, style, numbers, draw)
        renamed = _RENAMED.get(tag, tag)
        parts[tree.opens[element]] = f"<{renamed}{attributes}>" if tag not in _TO_NOTHING else ""
        parts[tree.closes[element]] = f"</{renamed}>" if tag not in _TO_NOTHING else ""
    _rewrite(tree, parts, style, draw)
    return split_parts(parts, page.title)


def _rename_attributes(tag: str, start: str, style: _Style, numbers: dict[str, str], draw: np.random.Generator) -> str:
    """Return the attributes of an element in the given style. Links, images and cells keep all
    their attributes; other elements keep at most class and id."""
    if tag in ("a", "img", "td", "th"):
        return start[1 + len(tag) : -1].rstrip("/")
    if style.old_names and tag in _OLD_NAMES:
        name = str(draw.choice(_OLD_NAMES[tag]))
        return f' id="{name}"' if name else ""
    if style.names == "drop":
        return ""
    own = "".join(_NAMES.findall(start))
    if style.names == "neutral" and own:
        return f' class="{numbers.setdefault(own, f"c{len(numbers)}")}"'
    return own


def _rewrite(tree: Tree, parts: list[str], style: _Style, draw: np.random.Generator) -> None:
    """Rewrite paragraphs, headings, lists and containers in the given style."""
    for element in range(1, len(tree)):
        tag, (first, last) = tree.tags[element], (tree.opens[element], tree.closes[element])
        if first == last or is_marked(tree.start_tag(element)):
            continue
        if tag == "p" and style.paragraphs == "breaks":
            parts[first], parts[last] = "", "<br><br>"
        elif tag == "p" and style.paragraphs == "div":
            parts[first], parts[last] = "<div>", "</div>"
        elif tag in _HEADINGS and int(tag[1]) >= style.bold_from:
            parts[first], parts[last] = (
                ("<p><b>", "</b></p>") if style.paragraphs == "keep" else ("<br><b>", "</b><br>")
            )
        elif tag in ("ul", "ol") and style.lists != "keep" and _is_menu(tree, element):
            _unlist(tree, parts, element, " | " if style.lists == "bars" else "<br>")
        elif tag == "div" or tag in _TO_DIV:
            _contain(tree, parts, element, style, draw)


def _is_menu(tree: Tree, element: int) -> bool:
    """Return whether a list contains only items, and the items contain only links or other inline
    elements."""
    inside = range(element + 1, tree.lasts[element] + 1)
    items = [inner for inner in inside if tree.tags[inner] == "li"]
    links = sum(tree.tags[inner] == "a" for inner in inside)
    plain = all(tree.tags[inner] in INLINE or tree.tags[inner] == "li" for inner in inside)
    return plain and all(tree.parents[item] == element for item in items) and 2 * links > len(items)


def _unlist(tree: Tree, parts: list[str], element: int, between: str) -> None:
    parts[tree.opens[element]], parts[tree.closes[element]] = "<div>", "</div>"
    for item in tree.children(element):
        if tree.tags[item] == "li":
            parts[tree.opens[item]], parts[tree.closes[item]] = "", between


def _contain(tree: Tree, parts: list[str], element: int, style: _Style, draw: np.random.Generator) -> None:
    """Remove an element around a single child, or put its children into the cells of a table."""
    children, (first, last) = tree.children(element), (tree.opens[element], tree.closes[element])
    alone = not "".join(parts[index] for index in _own_texts(tree, element, children)).strip()
    if not alone or not all(tree.tags[child] == "div" or tree.tags[child] in _TO_DIV for child in children):
        return
    if len(children) == 1:
        if draw.random() < style.flat:
            parts[first] = parts[last] = ""
    elif len(children) >= _LEAST_COLUMNS and draw.random() < style.tables:
        in_row = len(children) <= _MOST_COLUMNS and draw.random() < 0.6
        before, after = ("<td>", "</td>") if in_row else ("<tr><td>", "</td></tr>")
        parts[first] += "<table><tr>" if in_row else "<table>"
        parts[last] = ("</tr></table>" if in_row else "</table>") + parts[last]
        # The cell tags are written into the blank text around each child, because the child's own
        # tags may still change.
        for child in children:
            parts[tree.opens[child] - 1] += before
            parts[tree.closes[child] + 1] = after + parts[tree.closes[child] + 1]


def _own_texts(tree: Tree, element: int, children: Sequence[int]) -> list[int]:
    return [tree.opens[element] + 1, *(tree.closes[child] + 1 for child in children)]
