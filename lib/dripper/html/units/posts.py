"""Finds posts: of a thread, a question with its answers, readers' comments and reviews; with each
its author, its date, its id, and which post it answers.

    <li id="post-7"><a class="username">Ann</a> <time datetime="2024-05-03">…</time><p>Ash, too.

Elements of one shape (a name and first class, a name and numbered id, or a type of schema.org) are
posts where most of them state a person and a date and say something, and they are named as posts
are; without a name where they stand side by side in the order of their dates. A list whose items
have titles that lead elsewhere is one of articles. The author is what stands at the same position
in most posts. Looks at distinct start tags first, then only at what is around marks: linear.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from dripper.html.metadata.dates import parse_date
from dripper.html.tree.elements import HEADINGS, words
from dripper.html.tree.tree import Tree, attribute, unescape

_LONGEST_TAG = 1500
_NAMES_WITHIN = 300
"""Characters of a start tag among which its names stand."""
_LONGEST_NAME = 40
_MOST_WORDS = 5
_LONGEST_DATE = 70
_FEWEST_CHARACTERS = 20
"""The least that a post says outside of links."""
_FEWEST_EACH = 60
"""The same, on the average, of what may be posts by less evidence."""
_FEWEST_UNNAMED = 3
_MOST_INSIDE = 48
"""Texts and tags of an element that states one thing."""
_INNER = 0.6
"""Share of the text of a group that another has, of more elements, which then is the one of
posts."""
_POSTS = re.compile(
    r"(?:^|[\s\"_-])(?:(comment|comtr|message|msg|reply|replies|answer|question|review(?!ed)|responses?\b)|post(?!ed)|topic|bubble)"
    r"(?!s?[-_]?(?:meta|form|head|info|count|card|teaser|link|button|nav|tag|title|type|action))",
    re.IGNORECASE,
)
"""The group: also where posts have no date, or no author, that is known."""
_NO_POSTS_NAMED = re.compile(r"(?:^|[\s_-])(?:menu|nav|recom|related|teaser|filter|shar)", re.IGNORECASE)
_REMARKS = re.compile(r"comment|review|opinion|testimonial|feedback", re.IGNORECASE)
_OPENING = re.compile(
    r" (?:class|id)=\"[^\"]*?(?:question|discussion|topic|original|opening|first)[-_]?(?:post|item|body)?\b",
    re.IGNORECASE,
)
_LONGEST_PATH = 24
_NEAR = 24
"""Elements behind the beginning of one, among which its name stands, or what it quotes."""
_MOST_ABOVE = 5
"""Elements around the first post, in the outermost of which the one that opens is looked for."""
_ARTICLE = re.compile(r' itemtype="[^"]*(?:Article|BlogPosting)"')
_TYPE = re.compile(
    r' itemtype="https?://schema\.org/(Comment|Answer|Question|DiscussionForumPosting|UserComments|SocialMediaPosting|Review)"'
)
_OPENING_TYPES = words("Question DiscussionForumPosting SocialMediaPosting")
_CLASS = re.compile(r' class="([^"]{1,300})')
_NUMBERED = re.compile(r' (?:id|name)="((?:[A-Za-z]+(?:[-_][A-Za-z]+)*)?)[-_]?[0-9]+(?:[-_][A-Za-z]+)*"')
_VARYING = re.compile(r"\b(?:odd|even|first|last|active|alt|clearfix)\b|[0-9]+")
_PERSON = re.compile(
    r"author|user-?_?name|poster|nick|screen-?_?name|\bfn\b|\buser(?:[-_]?(?:link|info|details|id|card|profile))?\b|member"
    r"|byline|\bname\b|profile",
    re.IGNORECASE,
)
_NO_PERSON = re.compile(
    r"avatar|title|rank|signature|photo|image|count|badge|banner|group|posts\b|location|date|time|status|container|wrap|extra"
    r"|stats?\b|role|content|comment-?_?body|action",
    re.IGNORECASE,
)
_PROFILE = re.compile(
    r"(?:^|[/?&;])(?:users?|members?|profiles?|people|author|u|memberlist|account|viewprofile|mode=viewprofile|showuser=|"
    r"action=profile|space-uid|uid=|space\.php|member\.php|profile\.php|user\.php|userid=|memberid|user=)(?:[/?&;=.\d-]|$)|/[@~]\w",
    re.IGNORECASE,
)
_AROUND_NAME = re.compile(
    r"^(?:(?:posted|written|asked|answered)\s)?(?:by|von|par|from)\b[:\s]*|\s(?:says|wrote|said)\W*$|<[^>]*>", re.I
)
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[:/-]\d\d\b|\b\d\d?\.\d\d?\.\d|\d\s*[年月日]|\bago\b|\b(?:yesterday|today)\b"
    r"|^(?:vor|hace|il y a)\s|^\d{1,2}\s?(?:h|d|m|min|mo|yr?|w)\b",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff]")
_NUMBER = re.compile(r"\d+")
_EDITED = re.compile(r"\b(?:edited|modified|updated|bearbeitet|modifié)\W*(?:on\W*)?$", re.IGNORECASE)
_STATING_DATES = ("datetime", "content", "title", "data-time", "data-timestamp", "data-date")
_BEFORE_DATES = (" title=", " data-t", " data-d", ' itemprop="date', ' itemprop="commentTime')
_HOLDERS = words("article blockquote dd div dl dt fieldset li ol section table tbody tr ul")
_ANCHORS = _HOLDERS | words("a h1 h2 h3 h4 span td")
_NO_NAMES = words("article button form img input main ol section svg table tbody tr ul use")
_NO_DATES = words("blockquote option li")
_TYPED, _BY_LINK, _BY_CLASS = 3, 2, 1


class FoundPost(NamedTuple):
    """One post of a page."""

    element: int
    author: str | None
    """None: not stated."""
    published: str | None
    """ISO 8601; None: not stated, or not as a date ("two days ago")."""
    id: str | None
    """The fragment of the page's address that leads to it."""
    reply_to: str | None
    """The id of the post that it answers, where that is on the page."""


class _Mark(NamedTuple):
    element: int
    rank: int
    """Higher: surer."""
    shape: object
    text: str


_Key = tuple[object, ...]


def find_posts(tree: Tree, *, is_thread: bool = False) -> list[FoundPost]:
    """Return the posts of a page in document order; none where fewer than two are found, but for
    one that a thread declares.

    Args:
        is_thread: The page is known to be one: posts are also looked for where nothing is named as
            they are, and may lack a date or an author that is known.
    """
    return _Search(tree, is_thread).read()


def are_remarks(tree: Tree, posts: Sequence[FoundPost]) -> bool:
    """Tell whether posts are named as comments or reviews, which stand below something else."""
    return all(_REMARKS.search(tree.start_tag(post.element), 0, _NAMES_WITHIN) for post in posts[-2:])


def find_paths(tree: Tree, elements: Sequence[tuple[int, int]]) -> list[tuple[object, ...]]:
    """Return the shapes from each element up to the post around it, which stands beside it."""
    shapes, paths = dict[str, tuple[str, ...]](), list[tuple[object, ...]]()
    for inner, post in elements:
        element, path = inner, list[object]()
        while element > post and len(path) < _LONGEST_PATH:
            tag = tree.parts[tree.opens[element]]
            if tag not in shapes:
                shapes[tag] = _read_shape(tag, tree.tags[element])
            path.append(shapes[tag])
            element = tree.parents[element]
        paths.append(tuple(path))
    return paths


class _Search:
    """One search. Most pages end at their distinct start tags; else marks are looked for in what is
    named as posts are, and groups in what has marks."""

    def __init__(self, tree: Tree, is_thread: bool) -> None:
        self.tree = tree
        self._is_thread = is_thread
        self._unnamed = -1
        """The element that opens the thread, by its place alone; -1: none."""
        self._keys = dict[str, list[_Key]]()
        self._shapes = dict[str, tuple[str, ...]]()

    def read(self) -> list[FoundPost]:
        """See `find_posts`."""
        tree = self.tree
        holders = [tag for tag, name in tree.names.items() if name in _HOLDERS and " " in tag]
        named = {tag for tag in holders if tag[1] != "/" and _POSTS.search(tag, 0, _NAMES_WITHIN)}
        elements = tree.tagged(named)
        keys = {tag: _read_keys(tag, tree.names[tag]) for tag in named}
        self._keys |= keys
        n_alike = Counter(key for element in elements for key in keys[tree.parts[tree.opens[element]]] if key[0])
        groups = {tag for tag in named if any(n_alike[key] > 1 or key[1] == "type" for key in keys[tag])}
        spans = tree.outermost([element for element in elements if tree.parts[tree.opens[element]] in groups])
        if spans and (posts := self._search(spans)):
            return posts
        return self._search([0]) if self._is_thread else []

    def _read_keys(self, element: int) -> list[_Key]:
        tag = self.tree.parts[self.tree.opens[element]]
        if tag not in self._keys:
            self._keys[tag] = _read_keys(tag, self.tree.tags[element])
        return self._keys[tag]

    def _search(self, spans: Sequence[int]) -> list[FoundPost]:
        """Return the posts in some elements, which are in document order and apart."""
        inside, authors, dates = self._find_marks(spans)
        elements = self._choose(authors, dates) if authors or dates else []
        if not inside.issuperset(elements):
            _, authors, dates = self._find_marks(self.tree.outermost(elements))
        posts = self._read_posts(elements, authors, dates)
        return posts if any(post.author or post.published for post in posts) else []

    def _find_marks(self, spans: Sequence[int]) -> tuple[set[int], list[_Mark], list[_Mark]]:
        """Return the elements in some, and what states a person and a date there."""
        inside = [element for span in spans for element in range(span, self.tree.lasts[span] + 1)]
        return set(inside), self._find_authors(inside), self._find_dates(inside, spans)

    def _shape(self, element: int) -> tuple[str, ...]:
        tag = self.tree.start_tag(element)
        if tag not in self._shapes:
            self._shapes[tag] = _read_shape(tag, self.tree.tags[element])
        return self._shapes[tag]

    def _find_authors(self, elements: Sequence[int]) -> list[_Mark]:
        """Return what may name a person, in document order."""
        tree, ranks, marks = self.tree, dict[str, int](), list[_Mark]()
        for element in elements:
            tag = tree.parts[tree.opens[element]]
            if tag not in ranks:
                is_named = " " in tag and len(tag) <= _LONGEST_TAG and tree.tags[element] not in _NO_NAMES
                ranks[tag] = _rate_person(tag, tree.tags[element]) if is_named else 0
            if not ranks[tag]:
                continue
            inner = range(element + 1, min(tree.lasts[element], element + _NEAR) + 1) if ranks[tag] == _TYPED else ()
            named = next((each for each in inner if 'itemprop="name"' in tree.start_tag(each)), element)
            text = (attribute(tree.start_tag(named), "content") if named != element else None) or self._text(named)
            text = _AROUND_NAME.sub("", text).strip(" :,-–—@·|") if len(text) <= 2 * _LONGEST_NAME else ""
            is_short = 1 < len(text) <= _LONGEST_NAME and text.count(" ") < _MOST_WORDS
            if is_short and _LETTERS.search(text) and not _DATE.search(text):
                mark = _Mark(element, ranks[tag], self._shape(element), text)
                if marks and element <= tree.lasts[marks[-1].element] and text in marks[-1].text:
                    around = marks.pop()  # It says more than the name.
                    mark = around._replace(element=element, text=text) if around.rank > mark.rank else mark
                marks.append(mark._replace(rank=0) if self._is_editor(element) else mark)
        return marks

    def _is_editor(self, element: int) -> bool:
        """Tell whether the last that is said right before a person is that something was edited."""
        first = self.tree.opens[element]
        said = "".join(self.tree.parts[max(first - 2 * _NEAR - 1, 0) : first : 2])
        return said.rfind("edited ") > max(said.rfind("asked "), said.rfind("answered "))

    def _find_dates(self, elements: Sequence[int], spans: Sequence[int]) -> list[_Mark]:
        """Return what states a date, in document order: attributes, then texts."""
        tree, marks, stated = self.tree, list[_Mark](), dict[str, str | None]()
        for element in elements:
            tag = tree.parts[tree.opens[element]]
            if tag not in stated:
                may_state = tag[:5] == "<time" or any(name in tag for name in _BEFORE_DATES)
                stated[tag] = _read_date(tag) if may_state and len(tag) <= _LONGEST_TAG else None
            if (value := stated[tag]) is not None and not _EDITED.search(tree.parts[tree.opens[element] - 1]):
                rank = 3 if tag[:5] == "<time" else 2
                marks.append(_Mark(element, rank, self._shape(element), value or self._text(element)))
        for span in spans:
            first = tree.opens[span] + 1
            for index, text in enumerate(tree.parts[first : tree.closes[span] : 2]):
                if 3 < len(text) < 2 * _LONGEST_DATE and (_NUMBER.search(text) or "day" in text) and _DATE.search(text):
                    text = " ".join(unescape(text).split())
                    holder = self._find_holder(first + 2 * index) if len(text) <= _LONGEST_DATE else 0
                    if holder and tree.tags[holder] not in _NO_DATES:
                        marks.append(_Mark(holder, int(tree.tags[holder] != "p"), self._shape(holder), text))
        return sorted(marks, key=lambda mark: (mark.element, -mark.rank))

    def _find_holder(self, index: int) -> int:
        """Return the element that a text stands in; 0 where what stands before it is too deep."""
        element = bisect_right(self.tree.opens, index) - 1
        for _ in range(_MOST_INSIDE):
            if element <= 0 or self.tree.closes[element] > index:
                return max(element, 0)
            element = self.tree.parents[element]
        return 0

    def _text(self, element: int) -> str:
        first, last = self.tree.opens[element], self.tree.closes[element]
        if last - first > _MOST_INSIDE:
            return ""
        return " ".join(unescape("".join(self.tree.parts[first + 1 : last : 2])).split())

    def _find_around(self, elements: Iterable[int]) -> set[int]:
        """Return the elements and all around them."""
        around, parents = set[int](), self.tree.parents
        for each in elements:
            element = each
            while element >= 0 and element not in around:
                around.add(element)
                element = parents[element]
        return around

    def _choose(self, authors: Sequence[_Mark], dates: Sequence[_Mark]) -> list[int]:
        """Return the elements that are posts, with what opens the thread."""
        tree = self.tree
        with_author, with_date = (self._find_around(mark.element for mark in marks) for marks in (authors, dates))
        groups = defaultdict[_Key, list[int]](list)
        for element in [each for each in sorted(with_author | with_date) if tree.tags[each] in _HOLDERS]:
            for key in self._keys.get(tree.parts[tree.opens[element]]) or self._read_keys(element):
                groups[key if key[0] or key[1] != "class" else (*key, tree.parents[element])].append(element)
        if all(len(each) < 2 and key[1] != "type" for key, each in groups.items()):
            return []
        self._count_characters()
        ranked = list[tuple[float, int, int, _Key]]()
        for key, elements in groups.items():
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

    def _drop_containers(self, elements: list[int]) -> list[int]:
        """Return the elements that say something beside what others in them say."""
        own, open_ones = {element: self._said(element) for element in elements}, list[int]()
        for element in elements:
            while open_ones and self.tree.lasts[open_ones[-1]] < element:
                open_ones.pop()
            if open_ones:
                own[open_ones[-1]] -= self._said(element)
            open_ones.append(element)
        return [element for element in elements if own[element] or own[element] == self._said(element)]

    def _score(
        self, key: _Key, elements: list[int], with_author: set[int], with_date: set[int], dates: Sequence[_Mark]
    ) -> tuple[float, int] | None:
        """Return how many characters a group of elements says, if these may be posts, and how many
        of them do."""
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
        if named or (kind == "id" and self._is_thread):
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
        is_list = len(dated) >= max(_FEWEST_UNNAMED, 0.7 * len(said)) and characters >= _FEWEST_EACH * len(said)
        return (characters, len(dated)) if is_list and self._is_in_order(said, dates) else None

    def _is_in_order(self, elements: list[int], dates: Sequence[_Mark]) -> bool:
        """Tell whether the first dates of elements rise or fall."""
        places = [mark.element for mark in dates]
        return _are_in_order([dates[min(bisect_left(places, each), len(dates) - 1)].text for each in elements])

    def _count_characters(self) -> None:
        """Count what stands outside of links."""
        tree, end = self.tree, -1
        counts = list(map(len, map(str.strip, tree.parts[::2])))
        for element in [element for element, name in enumerate(tree.tags) if name == "a"]:
            first, last = tree.opens[element] // 2 + 1, tree.closes[element] // 2 + 1
            if first >= end:
                counts[first:last], end = [0] * (last - first), last
        self._characters = list(accumulate(counts, initial=0))

    def _said(self, element: int) -> int:
        first, last = self.tree.opens[element] // 2 + 1, self.tree.closes[element] // 2 + 1
        return self._characters[last] - self._characters[first]

    @cached_property
    def _titles(self) -> tuple[list[int], list[str]]:
        """Headings that lead elsewhere, and their texts."""
        tree, titles = self.tree, dict[int, str]()
        for element in [element for element, name in enumerate(tree.tags) if name in HEADINGS]:
            around = (*tree.nearest(element, 3)[:-1], *range(element + 1, min(tree.lasts[element], element + 9) + 1))
            links = [attribute(tree.start_tag(each), "href") or "#" for each in around if tree.tags[each] == "a"]
            if any("#" not in link and not _PROFILE.search(link) for link in links):
                titles[element] = self._text(element)
        return list(titles), list(titles.values())

    def _has_titles(self, elements: list[int]) -> bool:
        """Tell whether most of these elements have a title of their own that leads elsewhere."""
        (places, texts), found = self._titles, list[str]()
        for element in elements:
            place = bisect_left(places, element)
            if place < len(places) and places[place] <= self.tree.lasts[element]:
                found.append(texts[place])
        return len(found) >= _INNER * len(elements) and len(set(found)) > max(1, _INNER * len(found))

    def _find_opening(self, first: int) -> int | None:
        """Return what stands before the first post and is named for opening a thread, the outermost
        element; on a known thread else what states a person and a date there."""
        tree, path = self.tree, self.tree.nearest(first, _MOST_ABOVE)
        for element in range(path[0] + 1, first):
            tag = tree.start_tag(element)
            if tree.lasts[element] < first and tree.tags[element] in _HOLDERS and self._said(element) >= _FEWEST_EACH:
                typed = [key[2] for key in self._read_keys(element) if key[1] == "type"]
                if not _OPENING_TYPES.isdisjoint(typed) or _OPENING.search(tag, 0, _NAMES_WITHIN):
                    return element
        for around, inner in reversed(list(pairwise(path if self._is_thread else ()))):
            beside = [each for each in tree.children(around) if each < inner and self._said(each) >= _FEWEST_EACH]
            _, authors, dates = self._find_marks(beside)
            stating = self._find_around(mark.element for mark in authors)
            stating &= self._find_around(mark.element for mark in dates)
            if found := stating.intersection(beside):
                self._unnamed = max(found, key=self._said)
                return self._unnamed
        return None

    def _read_posts(self, elements: list[int], authors: Sequence[_Mark], dates: Sequence[_Mark]) -> list[FoundPost]:
        tree = self.tree
        names, days = self._by_position(elements, authors), self._by_position(elements, dates, _are_in_order)
        names = names or self._find_unmarked(elements)
        ids = self._read_ids(elements)
        numbers = {found[0]: each for each in ids.values() if each and (found := _NUMBER.search(each))}
        quotations = [element for element, name in enumerate(tree.tags) if name == "blockquote"] if numbers else []
        posts, open_ones = list[FoundPost](), list[int]()
        for element in elements:
            while open_ones and tree.lasts[open_ones[-1]] < element:
                open_ones.pop()
            around = ids[open_ones[-1]] if open_ones else None
            place = bisect_left(quotations, element)
            is_quoting = place < len(quotations) and quotations[place] <= tree.lasts[element]
            reply_to = around or (self._find_quoted(quotations[place], ids[element], numbers) if is_quoting else None)
            posts.append(
                FoundPost(element, names.get(element), parse_date(days.get(element, "")), ids[element], reply_to)
            )
            open_ones.append(element)
        if elements and elements[0] == self._unnamed and not _opens(*posts[:2]):
            del posts[0]
        return posts

    def _by_position(
        self, elements: list[int], marks: Sequence[_Mark], rate: Callable[[list[str]], bool] = bool
    ) -> dict[int, str]:
        """Return what each element states by the shape of marks that most elements have, the surest
        and first one, and where one lacks it, by the next.

        Args:
            rate: Tells whether texts are the better ones.
        """
        inside = defaultdict[tuple[int, object], dict[int, str]](dict)
        firsts, at = dict[object, int](), 0
        open_ones = list[int]()
        for mark in marks:
            while at < len(elements) and elements[at] <= mark.element:
                open_ones.append(elements[at])
                at += 1
            while open_ones and self.tree.lasts[open_ones[-1]] < mark.element:
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
            # The same words in all posts are a label ("Member"), unless nothing else is there.
            fewest = max(_FEWEST_UNNAMED, 0.8 * len(elements))
            is_label = len(set(inside[key].values())) == 1 and len(inside[key]) >= fewest
            is_unsure = key[0] <= _BY_CLASS and not quality[key][1] and len(inside[key]) > _FEWEST_UNNAMED
            if not is_unsure and (not is_label or (not stated and key[0] > _BY_CLASS)):
                stated = inside[key] | stated
        return stated

    def _find_unmarked(self, elements: list[int]) -> dict[int, str]:
        """Return the short texts at the first position where most elements have one that is no
        date, and not the same in all."""
        inside = defaultdict[_Key, dict[int, str]](dict)
        for element in elements:
            first = self.tree.opens[element] + 1
            for index in range(first, min(self.tree.closes[element], first + _MOST_INSIDE), 2):
                text = self.tree.parts[index].strip()
                is_short = (
                    1 < len(text) <= _LONGEST_NAME and text.count(" ") < 3 and text[-1].isalnum() and "&" not in text
                )
                if is_short and text[0] != "#" and _LETTERS.search(text) and not _DATE.search(text):
                    path = self.tree.nearest(self._find_holder(index), 3)
                    inside[tuple(map(self._shape, path))].setdefault(element, text)
        for values in inside.values():
            said = Counter(values.values())
            if len(values) >= 0.8 * len(elements) and len(said) > max(1, len(elements) / 8):
                return values
        return {}

    def _read_ids(self, elements: list[int]) -> dict[int, str | None]:
        """Return the id of each post: its own, else the first numbered one in it or around it that
        no other has."""
        tree, ids, taken = self.tree, dict[int, str | None](), set[str | None]()
        for element in elements:
            inside = range(element + 1, min(tree.lasts[element], element + 9) + 1)
            above = tree.nearest(tree.parents[element], 2)[::-1]
            near = (tree.parts[tree.opens[each]] for each in (element, *inside, *above) if tree.tags[each] in _ANCHORS)
            numbered = (tag for tag in near if (" id=" in tag or " name=" in tag) and _NUMBERED.search(tag))
            own = attribute(tree.start_tag(element), "id")
            found = own or next(((attribute(tag, "id") or attribute(tag, "name")) for tag in numbered), None)
            ids[element] = found if found not in taken else None
            taken.add(found)
        return ids

    def _find_quoted(self, quotation: int, own: str | None, numbers: dict[str, str]) -> str | None:
        """Return the id of the first post that a quotation links to."""
        tree = self.tree
        inside = range(quotation, min(tree.lasts[quotation], quotation + _NEAR) + 1)
        links = (attribute(tree.start_tag(each), "href") or "" for each in inside if tree.tags[each] == "a")
        linked = (numbers.get(number) for link in links for number in _NUMBER.findall(link[:_LONGEST_TAG]))
        return next((each for each in linked if each and each != own), None)


def _opens(first: FoundPost, second: FoundPost) -> bool:
    """Tell whether a post came before another, and does not only announce it."""
    days = [(post.published or "")[:10] for post in (first, second)]
    return "" < days[0] <= days[1] and (first.author != second.author or days[0] < days[1])


def _read_keys(tag: str, name: str) -> list[_Key]:
    """Return the groups that an element with this start tag is of: each with how surely it is named
    as posts are, from 0 to 2."""
    if tag[1] == "/" or len(tag) > _LONGEST_TAG:
        return []
    found = _CLASS.search(tag)
    classes = found[1] if found else ""
    if _NO_POSTS_NAMED.search(classes) or _ARTICLE.search(tag):
        return []
    keys: list[_Key] = [(_rate(classes) if classes else 0, "class", *_read_shape(tag, name))]
    if " itemtype=" in tag and (typed := _TYPE.search(tag)):
        keys.insert(0, (2, "type", typed[1]))
    if " id=" in tag and (numbered := _NUMBERED.search(tag)):
        keys.append((_rate(numbered[1]), "id", name, numbered[1]))
    return keys


def _read_shape(tag: str, name: str) -> tuple[str, ...]:
    found = _CLASS.search(tag)
    return (name, *_VARYING.sub("", found[1]).split()[:1]) if found else (name,)


def _rate(names: str) -> int:
    found = _POSTS.search(names)
    return 0 if found is None else 2 if found[1] else 1


def _rate_person(tag: str, name: str) -> int:
    """Return how surely an element with this start tag names a person; 0: not."""
    if 'itemprop="author' in tag or 'itemprop="creator' in tag or 'rel="author' in tag:
        return _TYPED
    if name == "a" and _PROFILE.search(attribute(tag, "href") or ""):
        return _BY_LINK
    found = _CLASS.search(tag)
    return _BY_CLASS if found and _PERSON.search(found[1]) and not _NO_PERSON.search(found[1]) else 0


def _read_date(tag: str) -> str | None:
    """Return the date that a start tag states; "" where its element does, None where neither."""
    values = (attribute(tag, name) for name in _STATING_DATES)
    return next(
        (each for each in values if each and len(each) < _LONGEST_DATE and parse_date(each)),
        "" if tag[:5] == "<time" else None,
    )


def _are_in_order(texts: Sequence[str]) -> bool:
    """Tell whether dates rise or fall."""
    known = [date[:16] for text in texts if (date := parse_date(text))]
    n_rises, n_falls = (sum(a <= b for a, b in pairwise(each)) for each in (known, known[::-1]))
    return len(known) >= _FEWEST_UNNAMED and max(n_rises, n_falls) >= 0.85 * (len(known) - 1)
