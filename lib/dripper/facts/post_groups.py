"""Chooses the groups of elements that are posts, by the elements' names and by the persons and
dates inside.

The elements of a group share a tag name and first class, a tag name and the prefix of a numbered
id, or a schema.org type. The elements are posts if most of them contain text, a person's name and a
date. In addition, they must have a post name, or be siblings in date order. Items with titles that
link elsewhere are a list of articles, not posts.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from heapq import nlargest
from itertools import accumulate, pairwise, starmap
from operator import itemgetter

from dripper.facts.post_marks import (
    CLASS,
    FEWEST_IN_ORDER,
    LONGEST_TAG,
    NUMBERED,
    PROFILE,
    Mark,
    Marks,
    are_in_order,
    find_around,
    read_shape,
)
from dripper.tree.elements import HEADINGS, words
from dripper.tree.tree import Tree, attribute

HOLDERS = words("article blockquote dd div dl dt fieldset li ol section table tbody tr ul")
"""Elements that could be posts."""
ROWS = words("tr dt")
"""Elements that could be the head of a post. The rest of the post is in the elements after the
head."""
_MOST_WITH_HEADS = 16
"""Maximum number of row groups to search for heads, the largest groups first. Each search reads all
marks in the rows, and all rows beside them."""
NAMES_WITHIN = 300
"""Number of characters at the beginning of a start tag in which class names and ids are searched
for."""
_FEWEST_CHARACTERS = 20
"""Minimum number of characters outside links in a post."""
_FEWEST_EACH = 60
"""Minimum average number of characters outside links in a group's elements. It applies to groups
without other strong evidence."""
_INNER = 0.6
"""Minimum fraction of the best group's text that another group needs to be chosen instead. That
group must also begin inside the best group, and have at least 1.5 times as many posts."""
_POSTS = re.compile(
    r"[\s\"_-](?:(comment|comtr|message|msg|reply|replies|answer|question|review(?!ed)|responses?\b)|post(?!ed)|topic|bubble)"
    r"(?!s?[-_]?(?:meta|form|head|info|count|card|teaser|link|button|nav|tag|title|type|action))"
)
"""Post names in lower case. A case-insensitive search takes three times as long. A name in the
first regex group is enough even if posts have no known date or no known author."""
_NO_POSTS_NAMED = re.compile(r"(?:^|[\s_-])(?:menu|nav|recom|related|teaser|filter|shar)", re.IGNORECASE)
_OPENING = re.compile(
    r" (?:class|id)=\"[^\"]*?\b(?:(?:question|discussion|topic)(?:[-_]?(?:post|item|body))?"
    r"|(?:original|opening|first)[-_]?(?:post|item|body|message))[\s\"]",
    re.IGNORECASE,
)
_MOST_ABOVE = 5
"""Number of nested elements, from the first post outwards. The opening post is searched for in the
outermost of them."""
_ARTICLE = re.compile(r' itemtype="[^"]*(?:Article|BlogPosting)"')
_TYPE = re.compile(
    r' itemtype="https?://schema\.org/(Comment|Answer|Question|DiscussionForumPosting|UserComments|SocialMediaPosting|Review)"'
)
_OPENING_TYPES = words("Question DiscussionForumPosting SocialMediaPosting")
Key = tuple[object, ...]
"""Identifies a group of elements: how well its name fits a post (0 to 2), the kind of name, and the
name."""


def find_named(tree: Tree) -> tuple[list[int], dict[str, list[Key]]]:
    """Return the outermost elements that have a post name and occur several times. Also return the
    groups that each start tag with a post name belongs to.

    For most pages, the search for posts ends with this function, after reading the distinct start
    tags.
    """
    holders = [tag for tag, name in tree.names.items() if name in HOLDERS and " " in tag]
    named = {tag for tag in holders if _POSTS.search(tag[:NAMES_WITHIN].lower())}
    elements = tree.tagged(named)
    keys = {tag: _read_keys(tag, tree.names[tag]) for tag in named}
    n_alike = Counter(key for element in elements for key in keys[tree.parts[tree.opens[element]]] if key[0])
    groups = {tag for tag in named if any(n_alike[key] > 1 or key[1] == "type" for key in keys[tag])}
    return tree.outermost([element for element in elements if tree.parts[tree.opens[element]] in groups]), keys


class Groups:
    """The element groups in one tree that could be posts.

    Args:
        is_thread: Whether the page is known to be a thread. If so, posts without a known date or
            author are accepted too.
        keys: The groups that are known so far, keyed by start tag.
    """

    def __init__(self, tree: Tree, is_thread: bool, keys: dict[str, list[Key]]) -> None:
        self._tree, self._is_thread = tree, is_thread
        self.marks = Marks(tree)
        self._keys = keys
        self._ends = dict[int, int]()

    def end(self, element: int) -> int:
        """Return the index of the last part of the post that begins with `element`."""
        return self._ends.get(element, self._tree.closes[element])

    def _read_keys(self, element: int) -> list[Key]:
        tag = self._tree.parts[self._tree.opens[element]]
        if tag not in self._keys:
            self._keys[tag] = _read_keys(tag, self._tree.tags[element])
        return self._keys[tag]

    def choose(self, authors: Sequence[Mark], dates: Sequence[Mark]) -> list[int]:
        """Return the elements that are posts, including the post that opens the thread."""
        tree = self._tree
        with_author, with_date = (find_around(tree, marks) for marks in (authors, dates))
        groups = defaultdict[Key, list[int]](list)
        for element in [each for each in sorted(with_author | with_date) if tree.tags[each] in HOLDERS]:
            for key in self._keys.get(tree.parts[tree.opens[element]]) or self._read_keys(element):
                groups[key if key[0] or key[1] != "class" else (*key, tree.parents[element])].append(element)
        if all(len(each) < 2 and key[1] != "type" for key, each in groups.items()):
            return []
        self._count_characters()
        ranked = list[tuple[float, int, int, Key]]()
        marks = sorted((*authors, *dates), key=itemgetter(0))
        of_rows = [key for key, each in groups.items() if self._is_thread and tree.tags[each[0]] in ROWS]
        with_heads = set(nlargest(_MOST_WITH_HEADS, of_rows, key=lambda key: len(groups[key])))
        for key, elements in groups.items():
            if key in with_heads:
                first = bisect_left(marks, elements[0], key=itemgetter(0))
                end = bisect_right(marks, tree.lasts[elements[-1]], key=itemgetter(0))
                elements[:] = self._find_heads(elements, marks[first:end])
            if score := self._score(key, elements, with_author, with_date, dates):
                ranked.append((-score[0], elements[0], score[1], key))
        if not ranked:
            return []
        ranked.sort()
        least, (_, _, n_complete, chosen) = _INNER * -ranked[0][0], ranked[0]
        for negative, first, n, key in ranked[1:]:
            last = tree.lasts[groups[chosen][-1]]
            if -negative >= least and n >= 1.5 * n_complete and groups[chosen][0] < first <= last:
                n_complete, chosen = n, key
        posts = self._drop_containers(groups[chosen])
        opening = self._find_opening(posts[0])
        return posts if opening is None else [opening, *posts]

    def _find_heads(self, rows: list[int], marks: Sequence[Mark]) -> list[int]:
        """Return the rows that are post heads, and record the end of each post (the row before the
        next head). Return all rows if the heads have more text than the rows between them.

        Args:
            marks: The marks in the rows.
        """
        tree, alike = self._tree, defaultdict[object, list[int]](list)
        for mark in marks:
            alike[mark.shape].append(rows[bisect_right(rows, mark.element) - 1])
        heads = set(max(alike.values(), key=lambda each: len(set(each))))
        beside = tree.children(tree.parents[rows[0]])
        places = [place for place, row in enumerate(beside) if row in heads]
        if not 1 < len(heads) == len(places):
            return rows
        gaps = [after - before for before, after in pairwise(places)]
        gaps.append(min(Counter(gaps).most_common(1)[0][0], len(beside) - places[-1]))
        ends = {beside[place]: tree.closes[beside[place + gap - 1]] for place, gap in zip(places, gaps, strict=True)}
        if sum(starmap(self._said, ends.items())) < 2 * sum(map(self._said, heads)):
            return rows
        self._ends |= ends
        return sorted(heads)

    def _drop_containers(self, elements: list[int]) -> list[int]:
        """Return the elements that have text of their own, outside the other given elements."""
        own, open_ones = {element: self._said(element) for element in elements}, list[int]()
        for element in elements:
            while open_ones and self._tree.lasts[open_ones[-1]] < element:
                open_ones.pop()
            if open_ones:
                own[open_ones[-1]] -= self._said(element)
            open_ones.append(element)
        return [element for element in elements if own[element] or own[element] == self._said(element)]

    def _score(
        self, key: Key, elements: list[int], with_author: set[int], with_date: set[int], dates: Sequence[Mark]
    ) -> tuple[float, int] | None:
        """Return the number of characters in a group, and the number of elements that count as
        posts. Return None if the elements cannot be posts."""
        sizes = {element: self._said(element) for element in elements}
        said = [element for element, size in sizes.items() if size >= _FEWEST_CHARACTERS]
        named, kind, *_ = key
        is_typed = kind == "type"
        if len(said) < 2 and not (said and is_typed and self._is_thread):
            return None
        complete = [element for element in said if element in with_author and element in with_date]
        characters = sum(map(sizes.__getitem__, said))
        if not is_typed and self._has_titles(said):
            return None
        if named or (self._is_thread and (kind == "id" or elements[0] in self._ends)):
            if len(complete) >= max(1 if is_typed else 2, len(said) / 2):
                return characters, len(complete)
            stating = max(sum(each in marked for each in said) for marked in (with_author, with_date))
            is_sure = (
                (named == 2 or self._is_thread)
                and stating >= 0.8 * len(said)
                and characters >= _FEWEST_EACH * len(said)
            )
            return (characters / 2, stating) if is_sure else None
        dated = [element for element in said if element in with_date] if self._is_thread else complete
        is_list = len(dated) >= max(FEWEST_IN_ORDER, 0.7 * len(said)) and characters >= _FEWEST_EACH * len(said)
        return (characters, len(dated)) if is_list and self._is_in_order(said, dates) else None

    def _is_in_order(self, elements: list[int], dates: Sequence[Mark]) -> bool:
        """Return whether the elements' first dates are in ascending or descending order."""
        firsts = (bisect_left(dates, each, key=itemgetter(0)) for each in elements)
        return are_in_order([dates[min(first, len(dates) - 1)].text for first in firsts])

    def _count_characters(self) -> None:
        tree, end = self._tree, -1
        counts = list(map(len, map(str.strip, tree.parts[::2])))
        for element in tree.find("a"):
            first, last = tree.opens[element] // 2 + 1, tree.closes[element] // 2 + 1
            if first >= end:
                counts[first:last], end = [0] * (last - first), last
        self._characters = list(accumulate(counts, initial=0))

    def _said(self, element: int, end: int = 0) -> int:
        end = end or self._ends.get(element, self._tree.closes[element])
        first, last = self._tree.opens[element] // 2 + 1, end // 2 + 1
        return self._characters[last] - self._characters[first]

    @cached_property
    def _titles(self) -> tuple[list[int], list[str]]:
        """The headings that link to other pages, and the text of each, in the same order."""
        tree, titles = self._tree, dict[int, str]()
        for element in tree.named(HEADINGS):
            around = (*tree.nearest(element, 3)[:-1], *range(element + 1, min(tree.lasts[element], element + 9) + 1))
            links = [attribute(tree.start_tag(each), "href") or "#" for each in around if tree.tags[each] == "a"]
            if any("#" not in link and not PROFILE.search(link) for link in links):
                titles[element] = self.marks.text(element)
        return list(titles), list(titles.values())

    def _has_titles(self, elements: list[int]) -> bool:
        """Return whether most of these elements contain a title of their own that links to another
        page."""
        (places, texts), found = self._titles, list[str]()
        for element in elements:
            place = bisect_left(places, element)
            if place < len(places) and places[place] <= self._tree.lasts[element]:
                found.append(texts[place])
        return len(found) >= _INNER * len(elements) and len(set(found)) > max(1, _INNER * len(found))

    def _find_opening(self, first: int) -> int | None:
        """Return the first element that comes before the first post and has the name or type of an
        opening post. Return None if there is none."""
        tree, path = self._tree, self._tree.nearest(first, _MOST_ABOVE)
        for element in range(path[0] + 1, first):
            tag = tree.start_tag(element)
            if tree.lasts[element] < first and tree.tags[element] in HOLDERS and self._said(element) >= _FEWEST_EACH:
                typed = [key[2] for key in self._read_keys(element) if key[1] == "type"]
                if not _OPENING_TYPES.isdisjoint(typed) or _OPENING.search(tag, 0, NAMES_WITHIN):
                    return element
        return None


def _read_keys(tag: str, name: str) -> list[Key]:
    """Return the groups that an element with this start tag belongs to."""
    if tag[1] == "/" or len(tag) > LONGEST_TAG:
        return []
    found = CLASS.search(tag)
    classes = found[1] if found else ""
    if _NO_POSTS_NAMED.search(classes) or _ARTICLE.search(tag):
        return []
    keys: list[Key] = [(_rate(classes) if classes else 0, "class", *read_shape(tag, name))]
    if " itemtype=" in tag and (typed := _TYPE.search(tag)):
        keys.insert(0, (2, "type", typed[1]))
    if " id=" in tag and (numbered := NUMBERED.search(tag)):
        keys.append((_rate(numbered[1]), "id", name, numbered[1]))
    return keys


def _rate(names: str) -> int:
    found = _POSTS.search(f" {names.lower()}")
    return 0 if found is None else 2 if found[1] else 1
