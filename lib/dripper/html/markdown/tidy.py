"""Leaves out of Markdown what a person would take out: controls, boxes to tick, empty items, second
marks; and writes lists of terms as lists. What comes out is in tests/html/markdown/pairs.txt.

All of it rewrites tags of the tree in place, before the converter sees it. What is shown as text on
the page stays, but for marks of an item that stand beside the list's own, and for what works only
in a browser.
"""

import re
from itertools import pairwise

from dripper.html.blocks.page import count_items
from dripper.html.markdown.inert import EMPHASIS
from dripper.html.tree.elements import HEADINGS, ITEMS, LINE_BREAKING, LIST_ITEMS, LISTS, words
from dripper.html.tree.plain import set_apart
from dripper.html.tree.tree import Tree, attribute, unescape

CONTROLS = words("select datalist input")
"""Elements that are to be filled in: what they offer is no content."""
_EDIT_LINK = re.compile(r'class="(?:[^"]*\s)?mw-editsection[\s"]')
_BACK_LINK = re.compile(r"[\s\u21a9\u2191\ufe0e\ufe0f^]+")
_BULLET = re.compile(r"[\s\u200b]*(?:[-*•·●▪◦‣∙■►➢❖▢☐□◻❏❑](?=\s)|[▢☐□◻❏❑•●▪◦‣])[\s\u200b]*")
_NUMBER = re.compile(r"\s*([0-9]{1,4})[.)]\s+")
_BLANK = re.compile(r"[\s\u200b\ufeff]*")
SHOWS = words("img picture video audio svg iframe math object embed canvas hr table")
"""Elements that show something without a text."""
_LINES = frozenset({"p", "div"})
_LONGEST_HEADING = 500
"""Texts and tags: each bold element of a heading asks for all that is in it."""
_MAX_TERM = 200
"""Characters: what is longer is no term."""
_NOT_TERMS = LINE_BREAKING | SHOWS
_NOT_MEANINGS = HEADINGS | {"table", "form", "article", "section"}
_LIST_OR_ITEM = words("ul ol li")
_NUMBERED = re.compile('list-style(?:-type)?\\s*:[^;"]*\\bdecimal\\b', re.IGNORECASE)
_MOST_CONTAINERS = 6
"""Between an item and the list that is all there is in it."""
_AROUND_LIST = 6
"""Elements from a list to a figure that it is in."""
_KEPT_IN_LISTS = LISTS | ITEMS | words("table blockquote pre figure details select svg math object")
"""What stands between a list and its items, and is none of these, is only in the way."""
_IN_ITEMS = words("a b strong i em del s strike")
_KEPT_IN_TERMS = _KEPT_IN_LISTS | {"div"}
Numbers = dict[int, dict[int, int]]
"""Of the items of each numbered list, by element."""


def part_words(tree: Tree) -> None:
    """Put a space where a browser sets neighbours apart (see `dripper.html.tree.plain`)."""
    breaks = {tag: "\n" if name in LINE_BREAKING else "" for tag, name in tree.names.items()}
    marks = [breaks.get(tag, "") for tag in tree.parts[1::2]]
    for index, text in set_apart(tree, tree.parts, marks).items():
        tree.parts[index] = text


def find_unwanted(tree: Tree) -> set[str]:
    """Return the start tags of what goes with all that is in it: links that edit a section."""
    return {tag for tag in tree.names if "mw-editsection" in tag and _EDIT_LINK.search(tag)}


def is_back_link(tree: Tree, link: int) -> bool:
    """Tell whether a link leads from a note back to its place: it shows an arrow alone."""
    inside = range(tree.opens[link] + 1, tree.closes[link], 2)
    return (
        "#" in (attribute(tree.start_tag(link), "href") or "")
        and SHOWS.isdisjoint(tree.tags[link + 1 : tree.lasts[link] + 1])
        and _BACK_LINK.fullmatch("".join(tree.parts[index] for index in inside)) is not None
    )


def fills_heading(tree: Tree, weight: int) -> bool:
    """Tell whether bold is all that there is in a heading, which is bold by itself."""
    heading = tree.parents[weight]
    if tree.tags[heading] not in HEADINGS or tree.closes[heading] - tree.opens[heading] > _LONGEST_HEADING:
        return False
    around = (tree.opens[heading] + 1, tree.opens[weight]), (tree.closes[weight] + 1, tree.closes[heading])
    return not any(part.strip() for first, last in around for part in tree.parts[first:last:2])


def is_wanted(tree: Tree, control: int) -> bool:
    """Tell whether a control says something: the box of an item of a list of tasks, as such."""
    parent = tree.parents[control]
    while parent > 0 and tree.tags[parent] in ("label", "p", "span"):
        parent = tree.parents[parent]
    return tree.tags[control] == "input" and "task-list-item" in (attribute(tree.start_tag(parent), "class") or "")


def order_list(tree: Tree, element: int) -> None:
    """Rewrite a list: what stands between it and its items goes, one of terms becomes one of items,
    one of cards with headings is taken apart, one between the items of another goes into the item
    before."""
    _free_items(tree, element)
    for figure in tree.nearest(element, _AROUND_LIST):
        if tree.tags[figure] == "figure":
            # In figures html-to-markdown writes no blank between an item's mark and its image.
            tree.retag(figure, "<div>", "</div>")
    if tree.tags[element] == "dl":
        _order_terms(tree, element)
        return
    before = tree.opens[element] - 2
    is_between = tree.tags[tree.parents[element]] in LISTS and not tree.parts[before + 1].strip()
    if is_between and tree.parts[before] == "</li>":
        tree.parts[before] = ""
        tree.parts[tree.closes[element]] += "</li>"
    items = [item for item in tree.children(element) if tree.tags[item] == "li"]
    if tree.tags[element] == "ul" and items and _is_numbered(tree, element, items[0]):
        # As recipe cards of WordPress do it.
        tree.tags[element] = "ol"
        tree.retag(element, "<ol>", tree.parts[tree.closes[element]].replace("</ul>", "</ol>"))
    if tree.tags[element] == "ul" and items and all(_find_first_heading(tree, item) for item in items):
        for each in (element, *items):
            tree.retag(each, "<div>", "</div>")


def _is_numbered(tree: Tree, owner: int, item: int) -> bool:
    tags = tree.start_tag(owner), tree.start_tag(item)
    return any("decimal" in tag and _NUMBERED.search(attribute(tag, "style") or "") for tag in tags)


def _free_items(tree: Tree, owner: int) -> None:
    """Make the items of a list its children, in place, where others stand between: the `font` of
    `<ol><font><li>…` goes. A link or a weight around a single item goes into it.

    Linear: walks over what is between the list and its items.
    """
    items, kept = LIST_ITEMS[tree.tags[owner]], _KEPT_IN_TERMS if tree.tags[owner] == "dl" else _KEPT_IN_LISTS
    wrappers = set[int]()
    element = owner + 1
    while element <= tree.lasts[owner]:
        if tree.tags[element] in items:
            parent = tree.parents[element]
            while parent != owner and parent not in wrappers:
                wrappers.add(parent)
                parent = tree.parents[parent]
        element = tree.lasts[element] + 1 if tree.tags[element] in kept else element + 1
    if wrappers:
        swapped = {wrapper for wrapper in sorted(wrappers, reverse=True) if _swap_with_item(tree, wrapper)}
        for wrapper in sorted(wrappers - swapped):
            _dissolve(tree, wrapper)


def _swap_with_item(tree: Tree, wrapper: int) -> bool:
    """Let a link or a weight that holds nothing but an item without lists stand in that; tell
    whether it does."""
    item = wrapper + 1
    if tree.tags[wrapper] not in _IN_ITEMS or tree.tags[item] not in ITEMS or tree.lasts[item] != tree.lasts[wrapper]:
        return False
    if not LISTS.isdisjoint(tree.tags[item + 1 : tree.lasts[item] + 1]):
        return False
    if (tree.parts[tree.opens[wrapper] + 1] + tree.parts[tree.closes[item] + 1]).strip():
        return False
    for places in (tree.opens, tree.closes):
        outer, inner = places[wrapper], places[item]
        tree.parts[outer], tree.parts[inner] = tree.parts[inner], tree.parts[outer]
    tree.tags[wrapper], tree.tags[item] = tree.tags[item], tree.tags[wrapper]
    return True


def _dissolve(tree: Tree, wrapper: int) -> None:
    """Take an element from around its children; what is left of it has no tag and nothing in it."""
    for child in tree.children(wrapper):
        tree.parents[child] = tree.parents[wrapper]
    tree.retag(wrapper, "", "")
    tree.tags[wrapper] = ""
    tree.lasts[wrapper], tree.closes[wrapper] = wrapper, tree.opens[wrapper]


def order_item(tree: Tree, item: int, numbers: Numbers) -> None:
    """Rewrite an item of a list: an empty one goes, one that holds nothing but a list becomes that
    list's items; a bullet, or its number, that the page wrote too is left out.

    Args:
        numbers: Of the items of each list, filled as needed.
    """
    owner = tree.parents[item]
    inner = _find_only_list(tree, item)
    if (
        inner is not None
        and tree.tags[owner] == tree.tags[inner]
        and tree.start_tag(owner)[:3] == f"<{tree.tags[owner]}"
    ):
        _free_items(tree, inner)
        for around in range(item, inner + 1):
            tree.retag(around, "", "")
        return
    index = _find_first_text(tree, item)
    if index is None:
        if _is_empty(tree, item):
            _drop_item(tree, item, numbers)
        return
    text = tree.parts[index]
    if bullet := _BULLET.match(text):
        if bullet.end() < len(text) or _has_more_text(tree, item, index):
            tree.parts[index] = text[bullet.end() :]
    elif tree.tags[owner] == "ol" and (number := _NUMBER.match(text)) and _is_number(tree, item, number[1], numbers):
        tree.parts[index] = text[number.end() :]
    if tree.tags[owner] == "ol" and (heading := _find_first_heading(tree, item)):
        tree.retag(heading, f"<div>{EMPHASIS['strong'][0]}", f"{EMPHASIS['strong'][1]}</div>")


def _drop_item(tree: Tree, item: int, numbers: Numbers) -> None:
    """Leave out an item; the next one of a numbered list keeps its number."""
    owner, following = tree.parents[item], tree.lasts[item] + 1
    tree.retag(item, "", "")
    if tree.tags[owner] == "ol" and following <= tree.lasts[owner] and tree.tags[following] == "li":
        tag = tree.start_tag(following)
        number = _find_number(tree, following, numbers)
        if " value" not in tag and number is not None:
            tree.parts[tree.opens[following]] = f'{tag[:-1]} value="{number}">'


def order_headings(tree: Tree) -> None:
    """Let the first `h1` be the only one: other headings behind it go down a level where there are
    more."""
    tops = [element for element, name in enumerate(tree.tags) if name == "h1"]
    if len(tops) < 2:
        return
    for element in range(tops[0] + 1, len(tree)):
        name = tree.tags[element]
        if name in HEADINGS and name != "h6" and tree.start_tag(element).startswith(f"<{name}"):
            lower = f"h{int(name[1]) + 1}"
            tree.retag(element, f"<{lower}>", f"</{lower}>")


def _find_number(tree: Tree, item: int, numbers: Numbers) -> int | None:
    """Return the number that a browser shows before an item."""
    owner = tree.parents[item]
    if owner not in numbers:
        numbers[owner] = count_items(tree, owner)
    return numbers[owner].get(item)


def _is_number(tree: Tree, item: int, written: str, numbers: Numbers) -> bool:
    return int(written) == _find_number(tree, item, numbers)


def _find_first_text(tree: Tree, element: int) -> int | None:
    """Return where the first text in an element stands that is not blank."""
    for index in range(tree.opens[element] + 1, tree.closes[element], 2):
        text = tree.parts[index]
        if text and not _BLANK.fullmatch(unescape(text)):
            return index
    return None


def _has_more_text(tree: Tree, element: int, index: int) -> bool:
    return any(part and not part.isspace() for part in tree.parts[index + 2 : tree.closes[element] : 2])


def _is_empty(tree: Tree, element: int) -> bool:
    return SHOWS.isdisjoint(tree.tags[element + 1 : tree.lasts[element] + 1])


def _find_first_heading(tree: Tree, item: int) -> int:
    """Return the heading with which an item begins, 0 if with something else."""
    index = _find_first_text(tree, item)
    if index is None:
        return 0
    for element in range(item + 1, tree.lasts[item] + 1):
        if tree.opens[element] > index:
            return 0
        if tree.tags[element] in HEADINGS and tree.closes[element] > index:
            return element
        if tree.tags[element] in _LIST_OR_ITEM:
            return 0
    return 0


def _find_only_list(tree: Tree, item: int) -> int | None:
    """Return the list that is all there is in an item, but for containers around it."""
    inner, last = item + 1, tree.lasts[item]
    while inner <= min(last, item + _MOST_CONTAINERS) and tree.tags[inner] == "div" and tree.lasts[inner] == last:
        inner += 1
    if inner > last or tree.tags[inner] not in ("ul", "ol") or tree.lasts[inner] != last:
        return None
    before, behind = (tree.opens[item] + 1, tree.opens[inner]), (tree.closes[inner] + 1, tree.closes[item])
    # So many tags as there are containers: none of an element that was left out stands between.
    if before[1] - before[0] != 2 * (inner - item) - 1:
        return None
    return None if any(part.strip() for first, end in (before, behind) for part in tree.parts[first:end:2]) else inner


def _order_terms(tree: Tree, element: int) -> None:
    """Write a list of terms and meanings as a list whose items begin with the term; one that lays
    out the page stays as it is."""
    rows = _list_terms(tree, element)
    if not rows:
        return
    start, end = EMPHASIS["strong"]
    tree.retag(element, "<ul>", "</ul>")
    for place, (term, name) in enumerate(rows):
        last = place + 1 == len(rows) or rows[place + 1][1] == "dt"
        if name == "dt":
            tree.retag(term, f"<li>{start}", end + ("</li>" if last else " "))
        elif rows[place - 1][1] == "dt" and last and not _has_lines(tree, term):
            tree.retag(term, "", "</li>")
            for line in range(term + 1, tree.lasts[term] + 1):
                if tree.tags[line] in _LINES:
                    tree.retag(line, "", "")
        else:
            first = rows[place - 1][1] == "dt"
            tree.retag(term, "<ul><li>" if first else "<li>", "</li>" + ("</ul></li>" if last else ""))


def _list_terms(tree: Tree, element: int) -> list[tuple[int, str]]:
    """Return the terms and meanings of a list, nothing where it holds something else."""
    rows = list[tuple[int, str]]()
    children = tree.children(element)
    wrappers = [child for child in children if tree.tags[child] == "div"]
    for child in children:
        inside = tree.children(child) if tree.tags[child] == "div" else [child]
        rows += [(each, tree.tags[each]) for each in inside]
    if any(name not in ("dt", "dd") for _, name in rows) or not rows or rows[0][1] != "dt":
        return []
    if len({name for _, name in rows}) < 2 or not all(_is_fit(tree, *row) for row in rows):
        return []
    for wrapper in wrappers:
        tree.retag(wrapper, "", "")
    return rows


def _is_fit(tree: Tree, element: int, name: str) -> bool:
    inside = tree.tags[element + 1 : tree.lasts[element] + 1]
    if name == "dd":
        return _NOT_MEANINGS.isdisjoint(inside)
    size = sum(map(len, tree.parts[tree.opens[element] + 1 : tree.closes[element] : 2]))
    return _NOT_TERMS.isdisjoint(inside) and 0 < size <= _MAX_TERM


def _has_lines(tree: Tree, element: int) -> bool:
    """Tell whether there is more than one line in an element: lines that are all there is in it, or
    in each other, are one."""
    inside = range(element + 1, tree.lasts[element] + 1)
    lines = [inner for inner in inside if tree.tags[inner] in LINE_BREAKING]
    if any(tree.tags[line] not in _LINES for line in lines):
        return True
    around = (element, *lines)
    return any(not _fills(tree, outer, inner) for outer, inner in pairwise(around))


def _fills(tree: Tree, outer: int, inner: int) -> bool:
    """Tell whether an element is all that another shows."""
    gaps = (tree.opens[outer] + 1, tree.opens[inner]), (tree.closes[inner] + 1, tree.closes[outer])
    is_inside = inner <= tree.lasts[outer]
    return is_inside and not any("".join(tree.parts[first:last:2]).strip() for first, last in gaps)
