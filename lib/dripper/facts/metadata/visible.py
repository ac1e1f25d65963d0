"""Reads the metadata in visible elements of a page: microdata, `rel`, `time`, and class names such
as "byline" or "published".

Checks the tree's distinct start tags first. Few of them belong to elements with metadata, so most
elements cost nothing.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice

from dripper.facts.metadata.dates import cut_dates, label_dates, parse_date, says_change
from dripper.facts.metadata.words import REMARKS, compile_words
from dripper.tree.elements import LINE_BREAKING, words
from dripper.tree.permalinks import is_permalink
from dripper.tree.tree import Tree, attribute, unescape

_LONGEST_TAG = 2000
"""Maximum length, in characters, of a start tag to read. Longer start tags hold images and data."""
_BYLINE = re.compile(
    r"(?:^|[\s_-])(?:author|byline|submitted)(?:[\s_-]*name)?(?:$|[\s_-](?!(?:bio|box|details|info)\b))", re.IGNORECASE
)
_USER_NAME = re.compile(
    r"(?:^|[\s_-])(?:big|qa)?user[_-]?name(?:$|\s)|(?:^|\s)poster(?:[_-]?name)?(?:$|\s)", re.IGNORECASE
)
_POST = re.compile(
    r"[\s\"'](?:forum|message|post|thread|topic|qa)(?:[_-]?(?:bit|body|container|head|info|list|wrap)|user)?[\w-]*[\s\"']",
    re.IGNORECASE,
)
_CARD = re.compile(r"(?:^|[\s_-])(?:card|teaser)__\w", re.IGNORECASE)
"""Matches the class of an element inside a card, a box that links to another page."""
_NO_BYLINE = re.compile(
    rf"{_CARD.pattern}|(?:^|\s)(?:hentry|type-post|post-\d+)(?:$|\s)|submitted-(?!by)", re.IGNORECASE
)
"""Classes that look like bylines but belong to a card, to a whole WordPress post (`author-ann`), or
to the answer to a form."""
_OF_EVENT = re.compile(r"\b(?:event|start|end|expir\w*|valid\w*|due)[_-]?(?:date|time|on|until|from)", re.IGNORECASE)
"""Words in the start tags of dates that belong to an event or an offer, not to the page."""
_PUBLISHED = re.compile("publish", re.IGNORECASE)
_DATE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:dates?|published|updated|modified|pubdate|datetime|timestamp|submitted)(?:[\s_-]|$)", re.IGNORECASE
)
_OF_OTHERS = re.compile(
    r"[\s\"'](?:comments?|comment[-_]?(?:list|author|body|content|form|item|meta|respond|wrap)[\w-]*|comments[-_](?:area|list|section)"
    r"|reviews|reviews?[-_]?(?:author|date|item|list|section)|(?:customer|product|user)[-_]?reviews?|quotes?(?:[-_][\w-]+)?|testimonials?(?:[-_][\w-]+)?)[\s\"']"
    r"|itemtype=.https?://schema\.org/(?:review|comment|answer|rating|usercomments)\b",
    re.IGNORECASE,
)
"""Words in the class or id of elements that hold readers' comments or the comment form."""
_LOWER_HEADINGS = words("h2 h3 h4 h5 h6 legend")
_OF_OTHER_PAGES = re.compile(
    r"\A<aside\b|[\s\"'](?:widget|widget[-_][\w-]+|sidebar|(?:related|recent|latest|popular)[-_](?:posts?|articles|news))[\s\"']",
    re.IGNORECASE,
)
"""Words in the start tags of elements that hold links to other pages."""
HOME = re.compile(r"(?:https?://[^/?#]+/?|\./|/)|(?:https?://[^/?#]+/|\./|/)?(?:index|default)\.\w+", re.IGNORECASE)
"""The URL of a site's home page."""
_GOES_ON = re.compile(r"(?:\b(?:by|and|von|und|par|et|por|y)|[,&:(])$", re.IGNORECASE)
_FOLLOWS = re.compile(r"[,&:.)]|(?:and|und|et|y|on)\b", re.IGNORECASE)
_MACHINE_DATES = {"time": "datetime", "abbr": "title"}
"""Attributes with the machine-readable date of an element."""
_OF_PEOPLE = frozenset({"author", "datePublished", "dateModified"})
"""Properties that readers' reviews also have."""
_HOLDERS = words("a span div p strong address cite b li h2 h3 h4 h5 h6 small em i dd td")
_OF_PERSON = re.compile("/(?:author|profile/|people/|staff/|contributor|writers/|journalist)")
"""Part of the URL of a page about one person."""
_BEFORE_NAMES = frozenset({"by", "by:", "written by", "von", "par", "por", "av", "door", "di"})
_MOST_ITEMS = 100
_MOST_BETWEEN = 10
"""Maximum number of parts between a word of `_BEFORE_NAMES` and a name."""
_OF_PAGES = frozenset({"html", "body", "main", "article"})
"""Elements on which a class name describes the whole page, not only the element."""
_MOST_WORDS = 3
"""Maximum number of words in a user name."""
_NEAREST = 3
"""Number of elements to search for words about a date: the element with the date, and the nearest
elements around it."""
_MOST_ABOVE = 8
"""Maximum number of ancestors to search."""
_MOST_TITLES = 8
"""Maximum number of first-level headings that are examined."""
_MOST_LOWER = 40
"""Maximum number of second- and third-level headings that are examined."""
_NEAREST_TITLE = 24
_NEAR_TITLE = 64
"""Number of parts (strings and tags) before and after a title to search for the page's own date.
The second value is for articles."""
_FEW_WORDS = 5
"""A line beside a title counts as a line of dates if it has at most this many words per date."""
_FEWEST_ROWS = 3
"""If at least this many rows each have a date or a name, the dates or names belong to other pages
or to readers."""
_ROWS = frozenset({"tr", "li", "article"})
_MORE = 12
"""Rows with at most this many characters beside their name or date do not count. Such a row
contains only the name or date and words such as "Published on"."""
_LONGEST_BEFORE = 200
_LONGEST_LABEL = 30
"""Number of characters before a date to search for a label: `_LONGEST_BEFORE` in the source, and
`_LONGEST_LABEL` after white space is collapsed."""
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 200
_LONGEST_SOURCE = 20_000
"""Maximum length of an element's text in the source, including all white space. The limit saves
time, because the text is read again for each element around it."""


class Visible:
    """Finds the elements of a page that contain metadata: authors, dates, headings and so on."""

    def __init__(self, tree: Tree, is_article: bool = False) -> None:
        """is_article: Whether the page declares that it is an article. If so, dates further from
        the title also count as the page's own."""
        self._tree = tree
        self._near_title = _NEAR_TITLE if is_article else _NEAREST_TITLE
        # Every page needs these. The cached properties below are needed only for some pages.
        self._described = self._of_tags(tree.values("itemprop"))
        self._is_of_others: dict[re.Pattern[str], dict[int, bool]] = {_OF_OTHERS: {}, _OF_OTHER_PAGES: {}}
        self._dated_rows = set[int]()
        self._says: dict[tuple[re.Pattern[str], str], bool] = {}

    @cached_property
    def _stating(self) -> list[tuple[int, str]]:
        """`time` elements and elements with a class that could mark metadata, each with its start
        tag."""
        tree, named = self._tree, self._tree.values("class")
        stating = [
            tag for tag, low in zip(named, "\0".join(named.values()).lower().split("\0"), strict=True)
            if "date" in low or "time" in low or "author" in low or "byline" in low or "publish" in low
            or "submit" in low or "user" in low or "poster" in low or "modified" in low
        ] if named else []  # fmt: skip
        return self._of_tags([*stating, *(tag for tag, name in tree.names.items() if name == "time")])

    def items(self, name: str) -> Iterator[str]:
        """Yield the values of a microdata property (`itemprop`)."""
        for element, tag in self._described:
            if name in (attribute(tag, "itemprop") or "").split() and not (
                name in _OF_PEOPLE and (self._of_others(element) or element in self._in_rows)
            ):
                yield attribute(tag, "content") or attribute(tag, "datetime") or self._text(self._name_in(element))

    def own_items(self, name: str, most: int) -> Iterator[str]:
        """Yield the values of a microdata property. If it has more than `most` values, yield none,
        because such values belong to a list of other pages."""
        values = dict.fromkeys(filter(None, islice(self.items(name), _MOST_ITEMS)))
        return iter(values if len(values) <= most else ())

    def related(self, kind: str) -> Iterator[str]:
        """Yield the text of each link with `kind` in its `rel`."""
        linked = [tag for tag, kinds in self._tree.values("rel").items() if kind in kinds.lower().split()]
        found = [element for element, _ in self._of_tags(linked)]
        rows = self._find_rows(found) if kind == "author" else ()
        yield from (self._text(element) for element in found if element not in rows)

    def bylines(self) -> Iterator[str]:
        """Yield the text of each element with an author or byline class, except in readers'
        comments and boxes about the author."""
        for element, classes in self._held:
            if element not in self._in_rows and _is_byline(classes) and not self._of_others(element):
                yield self._line(element)

    @cached_property
    def _in_rows(self) -> set[int]:
        """Elements that name a person and are in rows, such as comments. Empty if all of them name
        the same person."""
        described = [each for each, tag in self._described if "author" in (attribute(tag, "itemprop") or "").split()]
        held = [element for element, classes in self._held if _is_byline(classes)]
        rows = self._find_rows({*described, *held})
        return rows if len(set(map(self._text, rows))) > 1 else set()

    def posters(self) -> Iterator[str]:
        """Yield the user names in a thread's posts: the short text of elements with a user-name or
        author class."""
        for element, classes in self._held:
            if (_USER_NAME.search(classes) or element in self._in_rows) and not self._of_others(element):
                name = self._text(element)
                if name.count(" ") < _MOST_WORDS and self._is_within(element, _MOST_ABOVE, _POST):
                    yield name

    @cached_property
    def _held(self) -> list[tuple[int, str]]:
        """Elements that could hold a name, with their classes."""
        holders = ((element, tag) for element, tag in self._stating if self._tree.names[tag] in _HOLDERS)
        return [(element, attribute(tag, "class") or "") for element, tag in holders]

    def signed(self) -> Iterator[str]:
        """Yield the text of each link to a person's page right after a word such as "By"."""
        links = [tag for tag in self._tree.names if tag[:3] == "<a " and _OF_PERSON.search(tag)]
        for element, _ in self._of_tags(links):
            before = range(self._tree.opens[element] - 1, max(self._tree.opens[element] - _MOST_BETWEEN, 0), -2)
            word = next((text for index in before if (text := self._tree.parts[index].strip())), "")
            if word.lower() in _BEFORE_NAMES and not self._of_others(element):
                yield self._text(element)

    def dates(self, is_change: bool = False) -> Iterator[str]:
        """Yield the dates of `time` elements and of elements with a date class. Dates after the
        first heading come first, because dates before it belong to menus. Dates in readers'
        comments, in sidebars and in rows that each have a date are left out. No dates are yielded
        for a page that states when something starts or ends.

        Args:
            is_change: If True, yield the dates of changes; otherwise, yield all other dates.
        """
        first = next(iter(self._titles), 0)
        for is_after in (True, False):
            for element, text, of_change in self._dated:
                if of_change == is_change and (element > first) == is_after and element != first:
                    yield text

    @cached_property
    def _dated(self) -> list[tuple[int, str, bool]]:
        """A tuple (element, text, is_change) for each element that contains a date of the page."""
        dated = [(element, tag) for element, tag in self._stating if self._is_date(element, tag)]
        if any(self._is_within(element, _NEAREST, _OF_EVENT) for element, _ in dated):
            return []
        self._dated_rows = rows = self._find_rows([element for element, _ in dated])
        found = list[tuple[int, str, bool]]()
        for element, tag in dated:
            if element not in rows:
                name = _MACHINE_DATES.get(self._tree.names[tag])
                stated = (attribute(tag, name) if name else None) or self._text(element)
                found.append((element, stated, self._is_change(element, tag, stated)))
        return found

    def _is_change(self, element: int, tag: str, stated: str) -> bool:
        """Return whether a date is the date of a change. The element's class, the line around the
        element, or the words right before it decide."""
        classes = attribute(tag, "class") or ""
        if _PUBLISHED.search(classes) or says_change(classes):
            return _PUBLISHED.search(classes) is None
        first, around = self._tree.opens[element], self._tree.nearest(element, _NEAREST)
        before = unescape(" ".join(self._tree.parts[max(first - _MOST_BETWEEN - 1, 0) : first : 2])[-_LONGEST_BEFORE:])
        before = " ".join(before.split())[-_LONGEST_LABEL:]
        widest = next(filter(None, map(self._text, around)), "")
        if not says_change(f"{before} {widest}"):
            return False
        day, own = (parse_date(stated) or "")[:10], self._text(element)
        for line in filter(None, map(self._text, reversed(around))):
            dates = label_dates(line)
            found = next((is_change for iso, is_change in dates if iso[:10] == day), None)
            if found is not None and _LETTER.search(cut_dates(line)):
                return found
            if line != own and not dates and _LETTER.search(line):
                return says_change(line)
        return says_change(before)

    def _find_rows(self, elements: Collection[int]) -> set[int]:
        """Return the given elements that are in rows. Rows are siblings of the same kind, such as
        teasers or comments, that each contain given elements. A row that is not a `tr`, `li` or
        `article` must also contain other text."""
        tree, inside = self._tree, defaultdict[int, list[int]](list)
        for element in elements if len(elements) >= _FEWEST_ROWS else ():
            for around in tree.nearest(element, _MOST_ABOVE)[:-1]:
                inside[around].append(element)
        alike = Counter((tree.parents[around], tree.tags[around]) for around in inside)
        rows = defaultdict[tuple[int, str], list[int]](list)
        for around, within in inside.items():
            if alike[tree.parents[around], tree.tags[around]] >= _FEWEST_ROWS:
                text = self._text(around) if tree.tags[around] not in _ROWS else ""
                if not text or len(text) > _MORE + len(self._text(within[0])):
                    rows[tree.parents[around], self._shape(around)].append(around)
        return {each for row in rows.values() if len(row) >= _FEWEST_ROWS for around in row for each in inside[around]}

    def _shape(self, element: int) -> str:
        """Return a string that is the same for siblings of the same kind: the tag's name and,
        unless the name is in `_ROWS`, the first class."""
        name, tag = self._tree.tags[element], self._tree.start_tag(element)
        classes = attribute(tag, "class") if name not in _ROWS and len(tag) <= _LONGEST_TAG else None
        return f"{name} {_NUMBER.sub('', classes).partition(' ')[0]}" if classes else name

    def _is_date(self, element: int, tag: str) -> bool:
        classes = attribute(tag, "class") or ""
        is_named = self._tree.names[tag] == "time" or _DATE_CLASS.search(classes) is not None
        is_own = is_named and not _CARD.search(classes)
        return is_own and not self._is_of_other_page(element)

    def _is_of_other_page(self, element: int) -> bool:
        """Return whether an element belongs to comments, to a sidebar, or to a teaser. A teaser is
        a link that says more than the element."""
        if self._of_others(element) or self._of_others(element, _OF_OTHER_PAGES):
            return True
        above = reversed(self._tree.nearest(element, _MOST_ABOVE))
        link = next((each for each in above if self._tree.tags[each] == "a"), element)
        return link != element and _says_more(self._text(link), self._text(element))

    @cached_property
    def dates_beside_title(self) -> list[tuple[str, bool]]:
        """Pairs (date, is_change) from the text right above and below the first heading. Only
        strings with dates and little else count."""
        tree, found = self._tree, list[tuple[int, str, list[tuple[str, bool]]]]()
        if not self._titles:
            return []
        first, last = tree.opens[self._titles[0]], tree.closes[self._titles[0]]
        below = range(last + 1, min(last + _NEAR_TITLE, len(tree.parts)), 2)
        above = range(first - 1, max(first - self._near_title, 0), -2)
        for index in (*below, *above):
            text = tree.parts[index]
            if len(text) > _LONGEST or _DIGIT.search(text) is None:
                continue
            text = " ".join(unescape(text).split())
            # The words before a date are often in a separate element.
            before = " ".join(tree.parts[index - 2].split())[-_LONGEST_LABEL:]
            dates = label_dates(text if _DIGIT.search(before) else f"{before} {text}")
            if dates and len(_WORD.findall(cut_dates(text))) <= _FEW_WORDS * len(dates):
                holder = bisect_right(tree.opens, index) - 1
                while tree.closes[holder] < index:
                    holder = tree.parents[holder]
                if holder not in self._dated_rows and not self._is_of_other_page(holder):
                    found.append((index, tree.start_tag(holder), dates))
        # If several elements have the same start tag, they are the rows of a list.
        alike = Counter(tag for _, tag, dates in found if not dates[0][1])
        near = range(first - self._near_title, last + self._near_title)
        own = (dates for index, tag, dates in found if index in near and alike[tag] < _FEWEST_ROWS)
        return list(chain.from_iterable(own))

    def _is_within(self, element: int, most: int, marks: re.Pattern[str]) -> bool:
        """Return whether `marks` match the start tag of an element or of one of the nearest
        elements around it."""
        for around in self._tree.nearest(element, most):
            key = marks, self._tree.start_tag(around)
            # Search each tag only once, because a long tag can be around many elements.
            if key not in self._says:
                self._says[key] = marks.search(key[1][:_LONGEST_TAG]) is not None
            if self._says[key]:
                return True
        return False

    def shows(self, name: str) -> bool:
        """Return whether a word is in the page's text, unchanged or in capitals."""
        return not self._words.isdisjoint((name, name.upper()))

    @cached_property
    def _words(self) -> set[str]:
        return set(unescape(" ".join(self._tree.parts[::2])).split())

    def headings(self) -> Iterator[str]:
        """Yield the text of each first-level heading, without permalinks."""
        return map(self._heading, self._titles)

    def lower_headings(self) -> Iterator[str]:
        """Yield the text of each second-level and then each third-level heading, up to
        `_MOST_LOWER` in all."""
        return map(self._heading, islice(chain(self._tree.find("h2"), self._tree.find("h3")), _MOST_LOWER))

    def _heading(self, element: int) -> str:
        tree, text = self._tree, self._text(element)
        for inner in range(element + 1, tree.lasts[element] + 1) if text else ():
            if tree.tags[inner] == "a":
                link = self._text(inner)
                mark = link if is_permalink(tree, inner) or link[:1] + link[-1:] == "[]" else f"[{link}]"
                text = text.removesuffix(mark).rstrip()
        return text

    @cached_property
    def _titles(self) -> list[int]:
        """Up to `_MOST_TITLES` first-level headings. Headings in a `noscript` are left out, because
        browsers do not show them."""
        tree, end, found = self._tree, -1, list[int]()
        noscripts = iter(tree.find("noscript"))
        following = next(noscripts, len(tree))
        for element in tree.find("h1"):
            while following < element:
                end = max(end, tree.lasts[following])
                following = next(noscripts, len(tree))
            if element > end and len(tree.start_tag(element)) <= _LONGEST_TAG and not self._is_no_heading(element):
                found.append(element)
            if len(found) == _MOST_TITLES:
                break
        return found

    def _is_no_heading(self, element: int) -> bool:
        """Return whether an `h1` is not a heading of the page. Such an `h1` is a translation bar, a
        link to the home page (the site's name), or a box around links to a thread's other pages."""
        tree, last = self._tree, self._tree.lasts[element]
        inside = tree.tags[element + 1 : last + 1]
        around = tree.nearest(element, _MOST_ABOVE)
        # Saved pages may have the Google Translate bar.
        if "nav" in inside or any("goog-gt" in tree.parts[tree.opens[above]] for above in around):
            return True
        links = [above for above in reversed(around) if tree.tags[above] == "a"]
        links += [inner for inner in range(element + 1, last + 1) if tree.tags[inner] == "a"]
        return any(
            HOME.fullmatch((attribute(tree.start_tag(link), "href") or "").strip())
            and (link < element or self._text(link) == self._text(element))
            for link in links
        )

    def _of_tags(self, tags: Iterable[str]) -> list[tuple[int, str]]:
        """Return pairs (element, tag) for these start tags. Tags that are too long are left out."""
        parts, opens = self._tree.parts, self._tree.opens
        elements = self._tree.tagged({tag for tag in tags if len(tag) <= _LONGEST_TAG})
        return [(element, parts[opens[element]]) for element in elements]

    def _name_in(self, element: int) -> int:
        """Return the element with `itemprop="name"` inside `element`, or `element` if there is
        none."""
        place = bisect_right(self._names, element)
        inside = place < len(self._names) and self._names[place] <= self._tree.lasts[element]
        return self._names[place] if inside else element

    @cached_property
    def _names(self) -> list[int]:
        return [element for element, tag in self._described if attribute(tag, "itemprop") == "name"]

    @cached_property
    def _below_remarks(self) -> list[tuple[int, int]]:
        """Ranges of elements, each from a heading such as "Responses" to the end of the heading's
        parent."""
        tree = self._tree
        headings, remarks = tree.named(_LOWER_HEADINGS), compile_words(REMARKS)
        above = [(element, tree.parents[element]) for element in headings if remarks.fullmatch(self._text(element))]
        return [(element, tree.lasts[around]) for element, around in above if tree.tags[around] != "html"]

    def _of_others(self, element: int, marks: re.Pattern[str] = _OF_OTHERS) -> bool:
        """Return whether an element belongs to readers' comments or reviews. With other `marks`,
        return whether they match the start tag of the element or of an element around it."""
        # Check each element only once, even if it is around several elements.
        tree, answers, path = self._tree, self._is_of_others[marks], list[int]()
        while element >= 0 and element not in answers:
            path.append(element)
            element = tree.parents[element]
        remarks = self._below_remarks if path and marks is _OF_OTHERS else ()
        answer = answers.get(element, False) or any(first < path[0] <= last for first, last in remarks)
        for around in reversed(path):
            tag = tree.parts[tree.opens[around]]
            is_looked_at = not answer and tree.tags[around] not in _OF_PAGES and len(tag) <= _LONGEST_TAG
            answer = answers[around] = answer or (is_looked_at and marks.search(tag) is not None)
        return answer

    def _line(self, element: int) -> str:
        """Return the element's text, with a bar between two parts unless the second continues the
        first. "By", a name and the author's position are often in separate elements."""
        if not self._text(element):
            return ""
        texts = self._tree.parts[self._tree.opens[element] + 1 : self._tree.closes[element] : 2]
        line = ""
        for part in filter(None, (" ".join(unescape(text).split()) for text in texts)):
            goes_on = _GOES_ON.search(line) or _FOLLOWS.match(part) or (" " not in line and " " not in part)
            line += f" {part}" if line and goes_on else f" | {part}" if line else part
        return line

    def _text(self, element: int) -> str:
        """Return the element's text on one line, or "" if the text is too long to be only the
        wanted value."""
        first, last = self._tree.opens[element], self._tree.closes[element]
        if last - first >= _LONGEST:
            return ""
        parts = self._tree.parts[first + 1 : last]
        if sum(map(len, parts[::2])) > _LONGEST_SOURCE:
            return ""
        parts[1::2] = [" " if self._tree.names[tag] in LINE_BREAKING else "" for tag in parts[1::2]]
        text = " ".join("".join(parts).split())
        return unescape(text) if len(text) <= _LONGEST else ""


def _says_more(text: str, date: str) -> bool:
    """Return whether a link says more than its date. A link that is too long to be read has the
    text "" and also says more."""
    return text != date and (not text or _LETTER.search(cut_dates(text)) is not None)


def _is_byline(classes: str) -> bool:
    return _BYLINE.search(classes) is not None and _NO_BYLINE.search(classes) is None


def find_first_date(texts: Iterator[str], parse: Callable[[str], str | None] = parse_date) -> str | None:
    """Return the first date in `texts`."""
    return next((iso for text in texts if (iso := parse(text))), None)
