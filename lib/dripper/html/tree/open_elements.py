"""Follows which elements a parser has open as it goes over a page, without building the page, so
that a limit can be checked before the parser spends the time.

Counted from above. Whoever builds a page to keep a parser busy writes end tags where they close
nothing: in comments, raw text and attributes, in a `template`, a `select` or a drawing, beyond the
edge of a table. So what stands around such an *edge* stays open until the edge is closed, and where
a parser's rules are many, an end tag closes only the element that was opened last.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dripper.html.tree.elements import HEADINGS, HTML_VOID, words

CLOSES_P = words(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp"
)
FORMATTING = words("b big code em font i nobr s small strike strong tt u")
"""What a parser opens again in each block that follows, until it is closed; of `a` there is only
one at a time."""
SAME = 3
"""Equal tags that a parser keeps open at most (HTML standard 13.2.4.3)."""
_SEARCHES = CLOSES_P | words("button image input nobr optgroup option rb rp rt rtc select")
"""Elements whose start tag makes a parser look for another one among all that are open."""
_RAW = words("script style textarea title xmp iframe noembed noframes")
_CELLS = words("td th caption")
_TABLE_PARTS = _CELLS | words("tr tbody thead tfoot col colgroup")
_FOREIGN = words("svg math")
_WITH_HTML = {"svg": words("foreignobject desc title"), "math": words("mi mo mn ms mtext annotation-xml")}
"""Elements of drawings and formulas in which HTML stands."""
_MARKERS = words("object applet marquee template") | _CELLS
"""Formatting elements in them are others than those around."""
_UNSURE = words("select template annotation-xml ?")
"""Where an end tag closes what was opened last, or nothing."""
_EDGES = words("table select object applet marquee template") | _FOREIGN
_BY_NAME = words("table object applet marquee svg math")
"""Edges that their end tags close, whatever else is open in them."""
_SPECIAL = (
    CLOSES_P | _EDGES | _CELLS | words("button frameset noscript summary foreignobject desc title annotation-xml")
)
"""What end tags of other elements do not pass (HTML standard 13.2.4.2)."""
_ENDED_BY_NAME = (CLOSES_P - words("hr plaintext xmp form table li")) | words("button summary")
"""Their end tags close what else is open in them."""
_BREAKS_OUT = words(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p "
    "pre ruby s small span strong strike sub sup table tt u ul var"
)
"""HTML that ends a drawing in which it stands (13.2.6.5); and `font`, with some attributes."""
_FONT = re.compile(r"[\t\n\f\r /](?:color|face|size)[\t\n\f\r /=>]")
_DOUBT = "?"
"""An edge that nothing closes."""
_ENDS_SELECT = words("input textarea keygen select table") | _TABLE_PARTS
_DEEPEST_MISNESTED = 7
"""Blocks in a formatting element, with which its end tag still closes it (13.2.6.4.7)."""
_ALONE = HTML_VOID | words("html head body frame")
_RUBY = words("rb rp rt rtc")
_LISTED = {"li": words("li"), "dd": words("dd dt"), "dt": words("dd dt")}
_PASSED = words("address div p")
"""What the search for an item to close goes on beyond."""
_MOST_PASSED = 30

_ATTRIBUTE = (
    r"(?!>)[\t\n\f\r /]*+=?[^\t\n\f\r />=]*+"
    r"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)?+"""
)
ATTRIBUTE = re.compile(_ATTRIBUTE)
ATTRIBUTES = f"(?:{_ATTRIBUTE})*+"
"""An expression for all attributes of a start tag, as browsers take them apart."""
_TOKEN = re.compile(
    rf"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|(?P<cdata>!\[cdata\[)|[!?][^>]*+|/(?=[^a-z])[^>]*+"
    rf"|(?P<end>/?)(?P<name>[a-z][^\t\n\f\r />]*+)(?P<attributes>{ATTRIBUTES}))",
    re.DOTALL,
)
"""Of a page in small letters, as browsers take it apart (13.2.5)."""
_RAW_ENDS = {name: re.compile(rf"</{name}(?=[\t\n\f\r />])") for name in _RAW}


class Cost(NamedTuple):
    """The work that a parser would do for a page up to a tag.

    steps: elements that it looks at on the way up, for start tags and end tags. repeats: formatting
    elements that it would open again. attributes: of the tag, as written.
    """

    steps: int
    repeats: int
    attributes: str


def count_costs(lowered: str) -> Iterator[Cost]:
    """Yield what a page, in small letters, has cost up to each of its tags. Linear, as far as the
    costs are."""
    page, position, steps, repeats = OpenElements(), 0, 0, 0
    while match := _TOKEN.search(lowered, position):
        position, name = match.end(), match["name"]
        if match["cdata"]:
            position = page.find_end_of_cdata(lowered, position)
        if not name:
            continue
        if match["end"]:
            steps += page.end(name)
        else:
            is_raw = name in _RAW and page.reads_raw()
            steps += 0 if is_raw else page.start(name, match["attributes"])
            if is_raw:
                position = _find_raw_end(lowered, name, position, page)
        repeats += page.count_formatting()
        yield Cost(steps, repeats, match["attributes"])


def _find_raw_end(text: str, name: str, position: int, page: "OpenElements") -> int:
    """Return where a raw text element's content ends; its end tag closes nothing."""
    end = _RAW_ENDS[name].search(text, position)
    until = end.end() if end else len(text)
    comment = text.rfind("<!--", position, until) if name == "script" else -1
    if comment >= 0 and "<script" in text[comment:until]:
        # The state "double escaped": that end tag may be text, and what follows, too.
        page.doubt()
    return until


@dataclass(slots=True)
class _Formatting:
    """A formatting element that is not closed. place: in `_names`; -1: what was around it was
    closed, and it will be opened again."""

    name: str
    attributes: str
    place: int = -1


class OpenElements:
    """The elements that are open, and the formatting elements that would be opened again."""

    def __init__(self) -> None:
        self._names: list[str] = []
        """From the outermost on; "" stands for one that no end tag finds any more."""
        self._places: dict[str, list[int]] = {}
        """Where in `_names` each name stands."""
        self._special: list[int] = []
        self._edges: list[tuple[int, str, int]] = []
        """Place and name of each, and how many formatting elements were open before it."""
        self._n_unsure = 0
        self._formatting: list[_Formatting] = []
        self._markers: list[tuple[int, int]] = []
        """Places, and how many formatting elements were open before."""

    def reads_raw(self) -> bool:
        """Tell whether the content of an element is surely raw text, as its name says."""
        return not (self._n_unsure and self._is_unsure_of_text()) and self._edge()[1] not in _FOREIGN

    def find_end_of_cdata(self, text: str, position: int) -> int:
        """Return where the CDATA ends that was begun: outside of drawings it is a comment."""
        if self._n_unsure and not _FOREIGN.isdisjoint(name for _, name, _ in self._edges):
            self.doubt()
        mark = "]]>" if self._is_foreign() else ">"
        end = text.find(mark, position)
        return len(text) if end < 0 else end + len(mark)

    def count_formatting(self) -> int:
        """Return how many formatting elements a parser may open again."""
        return len(self._formatting) - (0 if self._n_unsure else self._first_formatting())

    def doubt(self) -> None:
        """Let nothing end any more that is open here: nobody can say what is text from here on."""
        if self._edge()[1] != _DOUBT:
            self._push(_DOUBT, is_edge=True)

    def _is_foreign(self) -> bool:
        """Tell whether what comes is of a drawing or a formula, not HTML."""
        return self._edge()[1] in _FOREIGN and not self._n_unsure

    def _is_unsure_of_text(self) -> bool:
        return any(name in _UNSURE and name != "template" for _, name, _ in self._edges)

    def start(self, name: str, attributes: str) -> int:
        """Go on over a start tag; return how many elements the parser may look at for it."""
        cost = len(self._names) if name in _SEARCHES or name in _TABLE_PARTS else 0
        if self._n_unsure:
            if name in FORMATTING:
                self._formatting.append(_Formatting(name, attributes))
            if name in _ENDS_SELECT and self._edge()[1] == "select":
                self.doubt()
            is_replaced = name == self._names[-1] == "option" and self._edge()[1] == "select"
            if name not in _ALONE and not is_replaced:
                self._push(name)
            return cost
        if self._is_foreign():
            if name not in _BREAKS_OUT and not (name == "font" and _FONT.search(f"{attributes}>")):
                if not attributes.endswith("/"):
                    self._push(name, is_edge=name in _WITH_HTML[self._edge()[1]])
                return 0
            self._pop_to(self._edge()[0])
        if name in _TABLE_PARTS:
            self._start_in_table(name)
            return cost
        if name not in _ALONE:
            self._close_before(name)
        if name not in CLOSES_P:
            self._reopen()
        if name not in _ALONE and not (name in _FOREIGN and attributes.endswith("/")):
            if name in FORMATTING:
                self._add_formatting(_Formatting(name, attributes, len(self._names)))
            self._push(name)
        return cost

    def end(self, name: str) -> int:
        """Go on over an end tag; return how many elements the parser may look at for it."""
        depth = len(self._names)
        if depth and self._names[-1] == name and name not in FORMATTING:
            self._pop_to(depth - 1)
            return 0
        if self._n_unsure:
            return self._end_unsure(name)
        if self._is_foreign() and name in ("p", "br"):
            self._pop_to(self._edge()[0])
        if self._ends_beyond(name):
            self.doubt()
            return depth
        if name in FORMATTING or name == "a":
            return self._end_formatting(name)
        place = self._find(name)
        if place is None:
            return depth
        if name == "form":
            self._hide(place)
            return depth
        self._pop_to(place)
        return depth - place

    def _end_unsure(self, name: str) -> int:
        depth, (edge, edge_name, _) = len(self._names), self._edge()
        if name == edge_name == "select" and {"option", "optgroup"}.issuperset(self._names[edge + 1 :]):
            self._pop_to(edge)
            return depth - edge
        if (index := self._find_formatting(name)) is not None:
            del self._formatting[index]
        if self._names[-1] == name:
            self._pop_to(depth - 1)
        return depth

    def _ends_beyond(self, name: str) -> bool:
        """Tell whether an end tag may close an edge, or more, that is not the last one."""
        _, edge_name, _ = self._edge()
        if name in _TABLE_PARTS or name == "table":
            return edge_name not in ("", "table") and bool(self._places.get("table"))
        if edge_name in _FOREIGN:
            return self._last(name) < 0 and name != edge_name and bool(self._places.get(_name_kind(name)))
        return name in _BY_NAME and name != edge_name and bool(self._places.get(name))

    def _edge(self) -> tuple[int, str, int]:
        return self._edges[-1] if self._edges else (-1, "", 0)

    def _first_formatting(self) -> int:
        return self._markers[-1][1] if self._markers else 0

    def _push(self, name: str, *, is_edge: bool = False) -> None:
        place = len(self._names)
        self._names.append(name)
        self._places.setdefault(_name_kind(name), []).append(place)
        if name in _MARKERS and not self._n_unsure:
            self._markers.append((place, len(self._formatting)))
        if name in _SPECIAL or is_edge:
            self._special.append(place)
        if is_edge or (name in _EDGES and not self._is_foreign()):
            self._edges.append((place, name, len(self._formatting)))
            self._n_unsure += name in _UNSURE

    def _pop_to(self, place: int) -> None:
        for gone in self._names[place:]:
            if gone:
                self._places[_name_kind(gone)].pop()
        del self._names[place:]
        while self._special and self._special[-1] >= place:
            self._special.pop()
        while self._edges and self._edges[-1][0] >= place:
            self._n_unsure -= self._edges.pop()[1] in _UNSURE
        while self._markers and self._markers[-1][0] >= place:
            del self._formatting[self._markers.pop()[1] :]
        for element in self._formatting[self._first_formatting() :]:
            if element.place >= place:
                element.place = -1

    def _reopen(self) -> None:
        for element in self._formatting[self._first_formatting() :]:
            if element.place < 0:
                element.place = len(self._names)
                self._push(element.name)

    def _hide(self, place: int) -> None:
        """Let no end tag find an element, which a parser takes from among those in it."""
        places = self._places[_name_kind(self._names[place])]
        places.remove(place)
        self._names[place] = ""

    def _last(self, name: str) -> int:
        """Return the place of the last such element within the last edge, -1 if there is none."""
        places = self._places.get(name)
        return places[-1] if places and places[-1] > self._edge()[0] else -1

    def _find(self, name: str) -> int | None:
        """Return the place of the element that an end tag closes, with all in it."""
        edge, edge_name, _ = self._edge()
        if name == edge_name:
            return edge if name in _BY_NAME else None
        names = ("td", "th") if name == "tr" and edge_name == "table" else (_name_kind(name),)
        place = max(map(self._last, names))
        if place < 0 or (name == "li" and max(self._last("ul"), self._last("ol")) > place):
            return None
        is_free = name in _ENDED_BY_NAME or name in _TABLE_PARTS or name in ("li", "form") or self._is_foreign()
        is_free = is_free or self._special_after(place) is None
        return place if is_free else None

    def _special_after(self, place: int) -> int | None:
        return self._special[-1] if self._special and self._special[-1] > place else None

    def _start_in_table(self, name: str) -> None:
        """Close the cell that is open, with what stands between cells; outside of a table there are
        no cells."""
        edge, edge_name, _ = self._edge()
        if edge_name == "table":
            self._pop_to(edge + 1)
            if name in _CELLS:
                self._push(name)
        elif self._places.get("table"):
            self.doubt()

    def _close_before(self, name: str) -> None:
        """Close what a start tag ends."""
        if name in _LISTED:
            for place in reversed(self._special[-_MOST_PASSED:]):
                if place <= self._edge()[0] or self._names[place] not in _PASSED:
                    if place > self._edge()[0] and self._names[place] in _LISTED[name]:
                        self._pop_to(place)
                    break
        # Where a page has no doctype, a table closes no paragraph.
        if name in CLOSES_P and name != "table" and (place := self._last("p")) > self._last("button"):
            self._pop_to(place)
        top = self._names[-1] if self._names else ""
        if self._replaces(name, top):
            self._pop_to(len(self._names) - 1)
        elif name == "button" and (place := self._last("button")) >= 0:
            self._pop_to(place)
        elif name == "table":
            self._close_table()
        elif name in ("a", "nobr"):
            self._end_formatting(name)

    def _replaces(self, name: str, top: str) -> bool:
        """Tell whether a start tag ends the element that was opened last, by the names of both."""
        if name in _RUBY and top in _RUBY:
            return self._last("ruby") >= 0
        return (name in HEADINGS and top in HEADINGS) or (name in ("option", "optgroup") and top == "option")

    def _close_table(self) -> None:
        """Close a table in which another one begins outside of its cells."""
        if not (tables := self._places.get("table")) or any(self._last_of(name) > tables[-1] for name in _CELLS):
            return
        if self._edge()[1] == "table":
            self._pop_to(tables[-1])
        else:
            self.doubt()

    def _last_of(self, name: str) -> int:
        return (self._places.get(name) or [-1])[-1]

    def _end_formatting(self, name: str) -> int:
        depth, place = len(self._names), self._last(name)
        index = self._find_formatting(name)
        if index is not None:
            place = self._formatting[index].place
            if place >= 0 and len(self._special) - bisect_right(self._special, place) > _DEEPEST_MISNESTED:
                return depth
            del self._formatting[index]
        if place < 0:
            return depth
        if self._special_after(place) is None:
            self._pop_to(place)
            return 0
        if index is not None or name == "a":
            self._hide(place)
        return depth

    def _add_formatting(self, new: _Formatting) -> None:
        same = [
            index
            for index in range(self._first_formatting(), len(self._formatting))
            if self._formatting[index].attributes == new.attributes and self._formatting[index].name == new.name
        ]
        if len(same) >= SAME:
            del self._formatting[same[0]]
        self._formatting.append(new)

    def _find_formatting(self, name: str) -> int | None:
        """Return the last formatting element of a name, but not beyond an edge or a marker."""
        first = max(self._first_formatting(), self._edge()[2])
        places = range(len(self._formatting) - 1, first - 1, -1)
        return next((place for place in places if self._formatting[place].name == name), None)


def _name_kind(name: str) -> str:
    """Return what stands for a name: the end tag of a heading closes any."""
    return "h1" if name in HEADINGS else name
