"""Finds posts: the posts of a thread, a question with its answers, readers' comments and reviews.
Each post has an author, a date, an id, and the id of the post that it answers, if known.

    <li id="post-7"><a class="username">Ann</a> <time datetime="2024-05-03">…</time><p>Ash, too.

Marks of persons and dates are found first (`post_marks`), then the element groups that contain the
marks (`post_groups`). The author is the name at the same position in most posts. The search takes
linear time, because it examines the distinct start tags first, and then only elements around marks.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dripper.facts.metadata.dates import parse_dates
from dripper.facts.post_groups import HOLDERS, NAMES_WITHIN, ROWS, Groups, find_named
from dripper.facts.post_marks import (
    BY_CLASS,
    FEWEST_IN_ORDER,
    LONGEST_TAG,
    NEAR,
    NUMBERED,
    Mark,
    are_in_order,
    read_shape,
)
from dripper.tree.elements import words
from dripper.tree.tree import Tree, attribute

_REMARKS = re.compile(r"comment|review|opinion|testimonial|feedback", re.IGNORECASE)
_LONGEST_PATH = 24
_NUMBER = re.compile(r"\d+")
_ANCHORS = HOLDERS | words("a h1 h2 h3 h4 span td")


class FoundPost(NamedTuple):
    """One post of a page."""

    element: int
    author: str | None
    """None if the page does not state the author."""
    published: str | None
    """ISO 8601; None if the page does not state a date, or states it only in words ("two days
    ago")."""
    id: str | None
    """The URL fragment that points to the post."""
    reply_to: str | None
    """The id of the post that this post answers, if the answered post is on the page."""
    end: int
    """Index of the post's last part in the tree."""


def find_posts(tree: Tree, *, is_thread: bool = False) -> list[FoundPost]:
    """Return the posts of a page in document order. A single post is returned only if the page is a
    thread and the post has a schema.org type.

    Args:
        is_thread: Whether the page is known to be a thread. If so, posts are searched for even if
            no element has a post name, and posts without a known date or author are accepted.
    """
    spans, keys = find_named(tree)
    if not spans and not is_thread:
        return []
    reader = _Reader(tree, Groups(tree, is_thread, keys))
    if is_thread:  # The head of a post may be in the row above the named row.
        around = {tree.parents[each] if tree.tags[each] in ROWS else each for each in spans}
        spans = tree.outermost(sorted(around))
    return (spans and reader.search(spans)) or (reader.search([0]) if is_thread else [])


def are_remarks(tree: Tree, posts: Sequence[FoundPost]) -> bool:
    """Return whether the start tags of the last posts name comments or reviews. Such posts come
    below other content."""
    return all(_REMARKS.search(tree.start_tag(post.element), 0, NAMES_WITHIN) for post in posts[-2:])


def find_paths(tree: Tree, elements: Sequence[tuple[int, int]]) -> list[tuple[object, ...]]:
    """Return the path of each element up to its post, as the shapes (see `read_shape`) of the
    elements on the path.

    Args:
        elements: Pairs of an element and its post."""
    shapes, paths = dict[str, tuple[str, ...]](), list[tuple[object, ...]]()
    for inner, post in elements:
        element, path = inner, list[object]()
        while element > post and len(path) < _LONGEST_PATH:
            tag = tree.parts[tree.opens[element]]
            if tag not in shapes:
                shapes[tag] = read_shape(tag, tree.tags[element])
            path.append(shapes[tag])
            element = tree.parents[element]
        paths.append(tuple(path))
    return paths


class _Reader:
    """Reads the posts of one tree."""

    def __init__(self, tree: Tree, groups: Groups) -> None:
        self._tree = tree
        self._groups = groups
        self._marks = groups.marks

    def search(self, spans: Sequence[int]) -> list[FoundPost]:
        """Return the posts in the elements `spans`, which must be in document order and not
        overlap."""
        inside, authors, dates = self._marks.find(spans)
        elements = self._groups.choose(authors, dates) if authors or dates else []
        if not inside.issuperset(elements):
            _, authors, dates = self._marks.find(self._tree.outermost(elements))
        posts = self._read_posts(elements, authors, dates)
        return posts if any(post.author or post.published for post in posts) else []

    def _read_posts(self, elements: list[int], authors: Sequence[Mark], dates: Sequence[Mark]) -> list[FoundPost]:
        tree = self._tree
        # Words that are the same in all posts are a label ("Member"), not a name.
        names = self._by_position(
            elements, authors, lambda texts: len(set(texts)) > 1 or len(texts) < 0.8 * len(elements)
        )
        days = self._by_position(elements, dates, are_in_order)
        names = names or self._marks.find_unmarked(elements)
        ids = self._read_ids(elements)
        numbers = {found[0]: each for each in ids.values() if each and (found := _NUMBER.search(each))}
        quotations = tree.find("blockquote") if numbers else []
        posts, open_ones = list[FoundPost](), list[int]()
        published = parse_dates([days.get(element, "") for element in elements])
        for element, day in zip(elements, published, strict=True):
            while open_ones and tree.lasts[open_ones[-1]] < element:
                open_ones.pop()
            around = ids[open_ones[-1]] if open_ones else None
            place = bisect_left(quotations, element)
            end = self._groups.end(element)
            is_quoting = place < len(quotations) and tree.opens[quotations[place]] < end
            reply_to = around or (self._find_quoted(quotations[place], ids[element], numbers) if is_quoting else None)
            posts.append(FoundPost(element, names.get(element), day, ids[element], reply_to, end))
            open_ones.append(element)
        return posts

    def _by_position(
        self, elements: list[int], marks: Sequence[Mark], rate: Callable[[list[str]], bool]
    ) -> dict[int, str]:
        """Return the text of each element's mark with the best shape. The criteria for the best
        shape are, the most important first: most elements have it, its strings are plausible, its
        rank is high, its strings vary, and it comes early. If an element lacks a shape, the next
        best shape counts.

        Args:
            rate: Returns whether the strings of a shape are plausible.
        """
        inside = defaultdict[tuple[int, object], dict[int, str]](dict)
        firsts, at = dict[object, int](), 0
        open_ones = list[int]()
        for mark in marks:
            while at < len(elements) and elements[at] <= mark.element:
                open_ones.append(elements[at])
                at += 1
            while open_ones and self._tree.lasts[open_ones[-1]] < mark.element:
                open_ones.pop()
            if open_ones:
                key = mark.rank, mark.shape
                inside[key].setdefault(open_ones[-1], mark.text)
                firsts.setdefault(key, mark.element - open_ones[-1])
        quality = {
            key: (
                len(values) >= len(elements) / 2, rate(list(values.values())), key[0], len(set(values.values())), -firsts[key]
            )
            for key, values in inside.items()
        }  # fmt: skip
        stated = dict[int, str]()
        for key in sorted(inside, key=quality.__getitem__, reverse=True):
            if key[0] > BY_CLASS or quality[key][1] or len(inside[key]) <= FEWEST_IN_ORDER:
                stated = inside[key] | stated
        return stated

    def _read_ids(self, elements: list[int]) -> dict[int, str | None]:
        """Return the id of each post: the element's own id, else the first numbered id inside or
        around the element. The id is None if an earlier post has the same id."""
        tree, ids, taken = self._tree, dict[int, str | None](), set[str | None]()
        for element in elements:
            inside = range(element + 1, min(tree.lasts[element], element + 9) + 1)
            above = tree.nearest(tree.parents[element], 2)[::-1]
            near = (tree.parts[tree.opens[each]] for each in (element, *inside, *above) if tree.tags[each] in _ANCHORS)
            numbered = (tag for tag in near if (" id=" in tag or " name=" in tag) and NUMBERED.search(tag))
            own = attribute(tree.start_tag(element), "id")
            found = own or next(((attribute(tag, "id") or attribute(tag, "name")) for tag in numbered), None)
            ids[element] = found if found not in taken else None
            taken.add(found)
        return ids

    def _find_quoted(self, quotation: int, own: str | None, numbers: dict[str, str]) -> str | None:
        """Return the id of the first post that a quotation links to."""
        tree = self._tree
        inside = range(quotation, min(tree.lasts[quotation], quotation + NEAR) + 1)
        links = (attribute(tree.start_tag(each), "href") or "" for each in inside if tree.tags[each] == "a")
        linked = (numbers.get(number) for link in links for number in _NUMBER.findall(link[:LONGEST_TAG]))
        return next((each for each in linked if each and each != own), None)
