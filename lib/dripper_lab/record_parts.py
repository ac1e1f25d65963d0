"""Finds records, which are similar siblings such as cards, rows, list items and posts, and matches
their parts by position.

    <li class="card n1"><a>Lamp</a><p>12 €</p>   record 0: position 0, 1
    <li class="card n2"><a>Desk</a><p>90 €</p>   record 1: position 0, 1

    inner, outer = find_parts(page.elements, page.blocks)
    inner.features                  # (n_blocks, len(PART_NAMES)), float32, raw; 0 outside records
    inner.mean(values)              # mean of a value of blocks, over the same position
    inner.records, inner.slots      # (n_blocks,), numbers of record and position, -1 outside

A record contains at least two blocks, so a paragraph among paragraphs is not a record. `inner`
describes the nearest record around each block, and `outer` the next record around that one, if any:
for example, a card in a row of cards, or an answer below a question. A record is either an element
with siblings of the same tag and first class, or a run of siblings that begins with a heading, `dt`
or other leader. A position consists of a path of tags and first classes within the record, and an
index among blocks with the same path. Lists on the same path, such as the rows of a shelf, count as
one list.

The time is O(n log n): one pass in pure Python over the elements that contain blocks, and then sums
grouped by number. No labeler uses these features. In `cpu`, they gained 0.000 to 0.003 F1 on 642
held-out pages, which may be chance, and took a tenth of the time per page
(docs/research/labeler_cpu.md).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.blocks.block import Block
from dripper.facts.post_marks import VARYING
from dripper.tree.elements import HEADINGS, words
from dripper.tree.tree import Tree

_FEWEST = 3
"""The minimum number of records in a list. Two siblings may be mere columns."""
_FEWEST_PARTS = 1.5
"""The minimum number of blocks per record, averaged over a list."""
_LEADERS = HEADINGS | {"dt"}
_MOST_ALIKE = 8
"""The maximum number of blocks on the same path in a record that get separate positions."""
_LONGEST_VALUE = 40
"""The maximum number of characters in a number, price or date."""
_PROSE = 80
"""The minimum number of characters in a block of prose. Shorter blocks may be menu items."""

_CLASS = re.compile(r' class="([^"]{1,200})')
_NUMBER = re.compile(r"[\W\d]{0,20}\d[\W\d]{0,20}[kKmM%]?[\W\d]{0,20}")
_SIGNS = r"[$€£¥₹₽₩₺₴₫฿₱]"
_UNITS = "USD|EUR|GBP|CHF|PLN|SEK|NOK|DKK|CZK|kr|zł|руб|грн|Ft|Kč|lei"
_PRICE = re.compile(
    rf"(?:{_SIGNS}|\b(?:{_UNITS}|R\$|Rs))\W{{0,3}}\d|\d\W{{0,3}}(?:{_SIGNS}|(?:{_UNITS})\b|[元円])|^\d{{1,6}}[.,]\d\d$"
)
_MONTH = (
    "jan|f[eé][bv]|m[aäà]r|a[pbv]r|ma[iyjg]|me[ij]|ju[nl]|jui[nl]|giu|lug|a[uog][ogû]|se[pt]|o[ckut]t|nov|d[eéi][czs]"
)
_DATE = re.compile(
    rf"\b(?:19|20)\d\d\b|\b\d{{1,2}}[:/-]\d\d\b|\b\d\d?\.\d\d\.\d|\d\s*[年月日]|\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:de\s)?(?:{_MONTH})"
    rf"|\b(?:{_MONTH})[a-z]*\.?\s\d{{1,2}}\b|\bago$|^(?:vor|hace|il y a)\s",
    re.IGNORECASE,
)
_CONTROLS = words("button input select textarea")
_PICTURES = words("img picture video svg")
_KINDS = ("number", "price", "date", "control", "link", "picture", "prose")
PART_NAMES = (
    "in_record", "records", "record_place", "parts", "part_place", "parts_after", "shared", "distinct", "same_text", "chars",
    "longest_chars", "is_longest", *(f"{kind}_here" for kind in _KINDS), *_KINDS,
)  # fmt: skip
"""Columns of `Parts.features`; (log) means a logarithm.

- in_record, records, record_place: whether the block is in a record, the number of records in the
  list (log), and the index of the record among them (scaled to 0..1).
- parts, part_place, parts_after: the number of blocks in the record, before this block, and after
  this block (log).
- shared, distinct, same_text: the fraction of the list's records that have this position, the
  fraction of distinct strings at this position, and the fraction of records with the same string.
- chars, longest_chars, is_longest: the mean number of characters at this position (log), the same
  for the list's longest position, and whether this position is the longest.
- `…_here`: whether the block is a number, price, date, control or link, contains or follows an
  image, or has at least 80 characters. Without `_here`: the fraction of such blocks at this
  position.
"""

_Ints = npt.NDArray[np.int64]


class Parts(NamedTuple):
    """The records of a page at one depth, described for each block."""

    records: _Ints
    """(n_blocks,), the index of the block's record in document order; -1 outside records."""
    slots: _Ints
    """(n_blocks,), the same number for the same position in records of the same list; -1 outside
    records."""
    features: npt.NDArray[np.float32]
    """(n_blocks, len(PART_NAMES))."""

    def mean(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the mean of `values` over all blocks at the same position, (n_blocks,). Blocks
        outside records keep their value."""
        inside = self.slots >= 0
        means = np.array(values, np.float64)
        if inside.any():
            means[inside] = _mean_by(self.slots[inside], means[inside])
        return means


class _Range(NamedTuple):
    """A record as a range of blocks; `end` is exclusive."""

    first: int
    end: int
    of: tuple[int, int]
    """The list of the record: its path, and the path of its leader or -1."""


def find_parts(tree: Tree, blocks: Sequence[Block]) -> tuple[Parts, Parts]:
    """Return the innermost records around the blocks of a page, and the records around these; see
    the module docstring."""
    holders = _Holders(tree, blocks)
    ranges = sorted([*holders.find_led(), *holders.find_siblings()], key=lambda each: (each.first, -each.end))
    around = np.full((2, len(blocks)), -1, np.int64)
    open_ones, following = list[int](), 0
    for index in range(len(blocks)):
        while open_ones and ranges[open_ones[-1]].end <= index:
            open_ones.pop()
        while following < len(ranges) and ranges[following].first == index:
            open_ones.append(following)
            following += 1
        around[: len(open_ones), index] = open_ones[:-3:-1]
    kinds = _find_kinds(tree, blocks)
    inner, outer = (_describe(holders, ranges, records, kinds) for records in around)
    return inner, outer


class _Holders:
    """The elements that contain blocks, in document order, each with its range of blocks and the
    number of its path."""

    def __init__(self, tree: Tree, blocks: Sequence[Block]) -> None:
        self.blocks, self.tree, parents = blocks, tree, tree.parents
        self.firsts, self.ends = dict[int, int](), dict[int, int]()
        for index, block in enumerate(blocks):
            element = block.element
            self.ends[element] = index + 1
            while element >= 0 and element not in self.firsts:
                self.firsts[element] = index
                element = parents[element]
        elements = sorted(self.firsts)
        for element in reversed(elements):
            end = self.ends[element]
            self.ends[parents[element]] = max(end, self.ends.get(parents[element], 0))
        self.paths, self.children = {-1: 0}, defaultdict[int, list[int]](list)
        tags = {tree.parts[tree.opens[element]] for element in elements}
        classes = ((tag, _CLASS.search(tag)) for tag in tags)
        shapes = {
            tag: (tree.names[tag], *VARYING.sub("", found[1]).split()[:1]) if found else (tree.names[tag],)
            for tag, found in classes
        }
        numbers = defaultdict[object, int](count(1).__next__)
        for element in elements:
            parent = parents[element]
            self.paths[element] = numbers[self.paths[parent], shapes[tree.parts[tree.opens[element]]]]
            self.children[parent].append(element)
        self.led = set[int]()
        """Elements with children that a leader groups into records."""

    def find_led(self) -> Iterator[_Range]:
        """Yield a range for each leader among the children of an element."""
        for parent, children in self.children.items():
            if len(children) < 2 * _FEWEST:
                continue
            paths = [self.paths[child] for child in children]
            leader = self._find_leader(children, paths)
            if leader is None:
                continue
            self.led.add(parent)
            begins = [self.firsts[child] for child, path in zip(children, paths, strict=True) if path == leader]
            for first, end in zip(begins, [*begins[1:], self.ends[parent]], strict=True):
                yield _Range(first, end, (self.paths[parent], leader))

    def _find_leader(self, children: list[int], paths: list[int]) -> int | None:
        """Return the path of the children that begin records: headings and other leaders, otherwise
        the first of several alternating paths."""
        counts = Counter(paths)
        repeated = [path for path, n in counts.items() if n >= _FEWEST]
        if not repeated or len(counts) == 1:
            return None
        tags = {path: self.tree.tags[child] for child, path in zip(children, paths, strict=True)}
        leaders = sorted((tags[path], path) for path in repeated if tags[path] in _LEADERS)
        leader = leaders[0][1] if leaders else repeated[0]
        takes_turns = any(abs(counts[leader] - counts[path]) <= 1 for path in repeated if path != leader)
        follows_itself = any(a == b == leader for a, b in pairwise(paths))
        return leader if leaders or (takes_turns and not follows_itself) else None

    def find_siblings(self) -> Iterator[_Range]:
        """Yield elements with siblings of the same shape, if their list has records with several
        parts."""
        found = defaultdict[int, list[int]](list)
        for parent, children in self.children.items():
            if len(children) < 2 or parent in self.led:
                continue
            counts = Counter(self.paths[child] for child in children)
            for child in children:
                if counts[self.paths[child]] > 1:
                    found[self.paths[child]].append(child)
        for path, elements in found.items():
            n_blocks = sum(self.ends[element] - self.firsts[element] for element in elements)
            if len(elements) >= _FEWEST and n_blocks >= _FEWEST_PARTS * len(elements):
                yield from (_Range(self.firsts[element], self.ends[element], (path, -1)) for element in elements)

    def number_slots(self, ranges: Sequence[_Range], records: Sequence[int]) -> list[int]:
        """Return the number of each block's position; -1 outside records."""
        numbers = defaultdict[object, int](count().__next__)
        before = defaultdict[tuple[int, int, bool], int](int)
        slots = [-1] * len(records)
        for index, (block, record) in enumerate(zip(self.blocks, records, strict=True)):
            if record >= 0:
                path = self.paths[block.element]
                n_alike = before[record, path, block.is_run]
                before[record, path, block.is_run] += 1
                slots[index] = numbers[ranges[record].of, path, block.is_run, min(n_alike, _MOST_ALIKE)]
        return slots


def _find_kinds(tree: Tree, blocks: Sequence[Block]) -> npt.NDArray[np.bool_]:
    """Return whether each block belongs to each of `_KINDS`, (n_blocks, len(_KINDS))."""
    kinds = np.zeros((len(blocks), len(_KINDS)), bool)
    if not blocks:
        return kinds
    texts = [block.text for block in blocks]
    short = [index for index, text in enumerate(texts) if len(text) <= _LONGEST_VALUE]
    for number, matches in enumerate((_NUMBER.fullmatch, _PRICE.search, _DATE.search)):
        kinds[[index for index in short if matches(texts[index])], number] = True
    first, last = (np.array([block[column] for block in blocks], np.int64) for column in (4, 5))
    after = np.concatenate([[0], last[:-1]])
    for number, (names, begin) in enumerate(((_CONTROLS, first), (frozenset("a"), first), (_PICTURES, after)), 3):
        elements = [element for element, name in enumerate(tree.tags) if name in names]
        opens = np.array([tree.opens[element] for element in elements], np.int64)
        closes = np.sort(np.array([tree.closes[element] for element in elements], np.int64))
        # Opened before the block's end, and not closed before its beginning.
        kinds[:, number] = opens.searchsorted(last, side="right") > closes.searchsorted(begin)
    kinds[:, -1] = [len(text) >= _PROSE for text in texts]
    return kinds


def _describe(
    holders: _Holders, ranges: Sequence[_Range], around: npt.NDArray[np.int64], kinds: npt.NDArray[np.bool_]
) -> Parts:
    """Return the `Parts` of the blocks, given the record of each block.

    Args:
        around: The index of each block's record in `ranges`, or -1, (n_blocks,).
    """
    features = np.zeros((len(around), len(PART_NAMES)), np.float32)
    slots = np.array(holders.number_slots(ranges, around.tolist()), np.int64)
    inside = np.flatnonzero(around >= 0)
    if not len(inside):
        return Parts(around, slots, features)
    record, slot, kinds = around[inside], slots[inside], kinds[inside]
    texts = [holders.blocks[index].text for index in inside.tolist()]
    lists = _number([each.of for each in ranges])
    place, n_records = np.zeros(len(ranges), np.int64), np.bincount(lists)
    order = np.argsort(lists, kind="stable")
    place[order] = np.arange(len(ranges)) - (np.cumsum(n_records) - n_records)[lists[order]]
    n_records, own_list = n_records[lists[record]], lists[record]
    first, end = (np.array([each[side] for each in ranges], np.int64)[record] for side in (0, 1))
    says = _number(list(zip(slot.tolist(), texts, strict=True)))
    in_slot, in_record = np.bincount(slot)[slot], np.unique(slot * len(ranges) + record)
    _, one_of_each = np.unique(says, return_index=True)
    chars = _mean_by(slot, np.fromiter(map(len, texts), np.float64, len(texts)))
    longest = np.zeros(own_list.max() + 1)
    np.maximum.at(longest, own_list, chars)
    columns = (
        1, np.log1p(n_records), place[record] / np.maximum(n_records - 1, 1), np.log1p(end - first),
        np.log1p(inside - first), np.log1p(end - 1 - inside), np.bincount(in_record // len(ranges))[slot] / n_records,
        np.bincount(slot[one_of_each])[slot] / in_slot, np.minimum(np.bincount(says)[says] / n_records, 1), np.log1p(chars),
        np.log1p(longest[own_list]), chars == longest[own_list],
    )  # fmt: skip
    for number, column in enumerate(columns):
        features[inside, number] = column
    features[inside, len(columns) :] = np.concatenate(
        [kinds, np.stack([_mean_by(slot, kind) for kind in kinds.T.astype(np.float64)], axis=1)], axis=1
    )
    return Parts(around, slots, features)


def _mean_by(numbers: _Ints, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return (np.bincount(numbers, values) / np.maximum(np.bincount(numbers), 1))[numbers]


def _number(keys: Sequence[object]) -> _Ints:
    numbers = defaultdict[object, int](count().__next__)
    return np.fromiter((numbers[key] for key in keys), np.int64, len(keys))
