"""Cuts main HTML from a page: the main blocks, their ancestors, and empty table cells that keep
columns aligned.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from dripper.blocks.block import Slice
from dripper.blocks.page import Page
from dripper.blocks.profiles.registry import find_profile
from dripper.blocks.simplify import WRAPPER
from dripper.facts.media.captions import mark_caption
from dripper.keep.place_media import place_media
from dripper.tree.elements import CELLS, HTML_VOID, INLINE, LINE_BREAKING
from dripper.tree.scan import scan
from dripper.tree.tree import Tree, attribute

_ITEM_ID = re.compile(r' _item_id="(\d+)">$')
_NUMBER = re.compile(r"-?[0-9]{1,9}")


class UnknownItemError(ValueError):
    """Raised if a main id is not an id of the page."""


class Cut(NamedTuple):
    """The parts of a page's main HTML."""

    parts: list[str]
    """Alternating strings and tags, as in `Tree.parts`."""
    posts: dict[int, int]
    """Maps the id of each post's first block to the index in `parts` of the `<hr>` before the post.
    These `<hr>` are not part of main HTML."""


def prune(mapping_html: str, main_ids: Collection[int], profile: str = "dripper") -> str:
    """Write the main HTML of a page: only its main blocks and their ancestors, without `_item_id`
    (Dripper paper 3.2, mapping).

    The result equals the result of `prune_page`. Takes time linear in len(mapping_html). With the
    profiles `mineru-…`, the result is MinerU-HTML's output byte for byte. Therefore unknown ids are
    ignored, helper attributes are kept, and the result without ids is "<html></html>".

    Args:
        mapping_html: `Page.mapping_html`, of the same profile.
        main_ids: Any of the ids in `mapping_html`, in any order. Without ids, the result is "".

    Raises:
        UnknownItemError: If an id is not in `mapping_html`.
        ValueError: If `mapping_html` is not mapping HTML.

    >>> prune('<div><p _item_id="1">menu</p><p _item_id="2">story</p></div>', {2})
    '<div><p>story</p></div>'
    """
    if (own := find_profile(profile).prune) is not None:
        return own(mapping_html, main_ids)
    tree = scan(mapping_html, HTML_VOID)
    marked = [tag for tag in tree.names if " _item_id=" in tag]
    ids = {tag: int(match.group(1)) for tag in marked if (match := _ITEM_ID.search(tag))}
    slices: dict[int, Slice] = {}
    for element in [element for element, index in enumerate(tree.opens) if tree.parts[index] in ids]:
        parent, first, last = tree.parents[element], tree.opens[element], tree.closes[element]
        tag = tree.parts[first]
        if tree.tags[element] == WRAPPER:
            slices[ids[tag]] = Slice(parent, first + 1, last - 1, True)
        else:
            slices[ids[tag]] = Slice(parent, first, last, False)
            bare = _ITEM_ID.sub(">", tag)
            tree.parts[first], tree.names[bare] = bare, tree.tags[element]
    return "".join(_cut(tree, _choose(slices, main_ids, len(slices))).parts)


def prune_page(page: Page, main_ids: Collection[int], with_media: bool = False) -> str:
    """Write the page's main HTML. Without media, the result equals
    `prune(page.mapping_html, main_ids, page.profile)`.

    Args:
        with_media: Whether to keep images among main blocks, the captions of these images, and the
            page's own image according to its metadata (see `keep.place_media`). Has no effect in
            the profiles `mineru-…`.
    """
    if (own := find_profile(page.profile).prune) is not None:
        return own(page.mapping_html, main_ids)
    return "".join(cut_page(page, main_ids, with_media).parts)


def cut_page(page: Page, main_ids: Collection[int], with_media: bool = False, posts: Collection[int] = ()) -> Cut:
    """Return the parts of the main HTML that `prune_page` returns, cut from the tree in memory.

    Args:
        posts: The ids of the first blocks of posts.
    """
    tree, blocks, ids = page.elements, page.blocks, {int(item_id) for item_id in main_ids}
    slices = {
        block.item_id: Slice(
            block.element if block.is_run else tree.parents[block.element],
            block.first,
            block.last,
            block.is_run,
            post=block.item_id if block.item_id in posts else None,
        )
        for block in blocks
        if block.item_id in ids
    }
    chosen = _choose(slices, ids, len(blocks))
    picture = page.metadata.image if page.metadata is not None else None
    if with_media and (added := place_media(tree, blocks, ids, picture)):
        chosen = sorted([*chosen, *added], key=lambda part: part.first)
    return _cut(tree, chosen)


def _choose(slices: Mapping[int, Slice], main_ids: Iterable[int], n_blocks: int) -> list[Slice]:
    """Return the slices of the main ids in document order. Raises UnknownItemError."""
    ids = {int(item_id) for item_id in main_ids}
    if foreign := sorted(ids - slices.keys()):
        raise UnknownItemError(f"main ids {foreign[:5]} are not among the page's ids 1..{n_blocks}")
    return sorted((slices[item_id] for item_id in ids), key=lambda part: part.first)


def _cut(tree: Tree, slices: list[Slice]) -> Cut:
    """Write the slices with their ancestors. Each ancestor opens once, so the time is linear in the
    output's size."""
    cutter = _Cutter(tree, _find_kept_cells(tree, slices))
    for part in slices:
        cutter.go_to(part.owner, part)
        if part.post is not None:
            cutter.posts[part.post] = len(cutter.out)
            cutter.add_tag("<hr>")
        cutter.add(part)
    cutter.go_to(-1, None)
    return Cut(cutter.out, cutter.posts)


def _find_kept_cells(tree: Tree, slices: list[Slice]) -> dict[int, set[int]]:
    """Return a dict from each table row to the row's cells with kept content. Each cell is given as
    the index of its start tag."""
    rows: dict[int, set[int]] = {}
    ancestors: set[int] = set()
    for part in slices:
        element = part.owner
        if not part.is_run and tree.names[tree.parts[part.first]] in CELLS:
            rows.setdefault(element, set()).add(part.first)
        while element > 0 and element not in ancestors:
            ancestors.add(element)
            if tree.tags[element] in CELLS:
                rows.setdefault(tree.parents[element], set()).add(tree.opens[element])
            element = tree.parents[element]
    return rows


def count_items(tree: Tree, element: int) -> dict[int, int]:
    """Number the items of an `ol` as a browser does. Return {} if the list counts backwards."""
    if " reversed" in tree.start_tag(element):
        return {}
    number = _parse_number(attribute(tree.start_tag(element), "start"), 1) - 1
    numbers: dict[int, int] = {}
    for item in (child for child in tree.children(element) if tree.tags[child] == "li"):
        number = numbers[item] = _parse_number(attribute(tree.start_tag(item), "value"), number + 1)
    return numbers


def _parse_number(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and _NUMBER.fullmatch(text) else otherwise


class _Cutter:
    """Writes slices and the tags of their ancestors, in document order."""

    def __init__(self, tree: Tree, rows: dict[int, set[int]]) -> None:
        self.tree = tree
        self.rows = {row: cells for row, cells in rows.items() if len(cells) > 1}
        self.next_child = {row: row + 1 for row in self.rows}
        self.numbers: dict[int, dict[int, int]] = {}
        self.last_number: dict[int, int] = {}
        self.out: list[str] = [""]
        """Alternating strings and tags. The last part is always a string."""
        self.posts: dict[int, int] = {}
        self.open: list[int] = []
        self.line: int | None = None
        """The last part that was written, if more text can continue the same line."""
        self.is_broken = False
        """Whether a line break must replace content left out since the last text."""
        self.has_blank = False
        """Whether text or white space was left out since the last text."""
        self.n_left_out = 0
        """Number of `br` that were left out since the last text."""
        self.ends_in_break = False
        """Whether a `br` follows the last text."""
        self.in_line: int | None = None
        """The last part of the previous slice, if this part is shown inside a line."""

    def go_to(self, owner: int, part: Slice | None) -> None:
        """Close and open elements until `owner` is the innermost open element. If `owner` is -1,
        close all."""
        tree, open_elements = self.tree, self.open
        while open_elements and not open_elements[-1] <= owner <= tree.lasts[open_elements[-1]]:
            element = open_elements.pop()
            if element in self.rows:
                self.fill_row(element, tree.closes[element])
            self.add_tag(tree.parts[tree.closes[element]])
            self.pass_tag(element, tree.closes[element])
        path, innermost = [], open_elements[-1] if open_elements else -1
        while owner != innermost:
            path.append(owner)
            owner = tree.parents[owner]
        if part is not None and self.in_line is not None:
            self.part_from(self.in_line, part, {tree.tags[element] for element in path})
        for element in reversed(path):
            if tree.parents[element] in self.rows:
                self.fill_row(tree.parents[element], tree.opens[element])
            self.add_tag(self.start_item(element) if tree.tags[element] == "li" else tree.parts[tree.opens[element]])
            open_elements.append(element)
            self.pass_tag(element, tree.opens[element])
        if part is not None and open_elements and open_elements[-1] in self.rows:
            self.fill_row(open_elements[-1], part.first)

    def add_tag(self, tag: str) -> None:
        """Write a tag."""
        self.out += tag, ""

    def fill_row(self, row: int, before: int) -> None:
        """In a row with several kept cells, write an empty cell in place of each cell that begins
        before part `before` and has no main content."""
        tree, child = self.tree, self.next_child[row]
        while child <= tree.lasts[row] and tree.opens[child] < before:
            if tree.tags[child] in CELLS and tree.opens[child] not in self.rows[row]:
                self.add_tag(tree.start_tag(child))
                self.add_tag(f"</{tree.tags[child]}>")
            child = tree.lasts[child] + 1
        self.next_child[row] = child

    def pass_tag(self, element: int, part: int) -> None:
        """Record that an element's tag was written. An inline element continues the line."""
        if self.line is not None and self.tree.tags[element] in INLINE:
            self.pass_gap(self.line, part)
            self.line = part
        else:
            self.line = None
            if self.tree.tags[element] in LINE_BREAKING:
                self.in_line = None

    def add(self, part: Slice) -> None:
        """Write a slice. If content is left out between a run and the text before the run, write a
        line break in place of that content. If that content has several line breaks, write two,
        because they begin a paragraph."""
        if part.is_run and self.line is not None:
            self.pass_gap(self.line, part.first)
            n_written = int(self.ends_in_break)
            n_missing = 2 - n_written if n_written + self.n_left_out > 1 else 0
            self.out += ["<br>", ""] * max(n_missing, int(self.is_broken))
            if self.has_blank and not (self.is_broken or n_missing or self.ends_in_break):
                self.out[-1] += " "
        parts, first, at = self.tree.parts, part.first, len(self.out)
        if first % 2 == 0:
            self.out[-1] += parts[first]
            first += 1
        self.out += parts[first : part.last + 1]
        if part.is_caption:
            self.out[at] = mark_caption(parts[first])
        if not part.is_run and self.tree.names[parts[first]] == "li":
            self.out[at] = self.start_item(bisect_left(self.tree.opens, first))
        if len(self.out) % 2 == 0:
            self.out.append("")
        self.line = part.last if part.is_run else None
        self.is_broken, self.has_blank, self.n_left_out = False, False, 0
        self.ends_in_break = self.is_break(part.last)
        self.in_line = part.last if self.is_in_line(part, part.last) and not self.ends_in_break else None

    def is_in_line(self, part: Slice, edge: int) -> bool:
        """Return whether a browser starts no new line at this edge of a slice."""
        return part.is_run or self.tree.names.get(self.tree.parts[edge]) not in LINE_BREAKING

    def part_from(self, before: int, part: Slice, opened: set[str]) -> None:
        """Separate a slice from the previous slice on the same line if content between them was
        left out. Write a line break if that content has one, or else a space if it has text. For
        runs that continue a line, `pass_gap` does this.

        Args:
            opened: Names of the elements to open before the slice.
        """
        goes_on = part.is_run and self.line is not None and opened <= INLINE
        if goes_on or not self.is_in_line(part, part.first) or not opened.isdisjoint(LINE_BREAKING):
            return
        gap = self.tree.parts[before + 1 : part.first]
        if any(self.tree.names.get(tag) in LINE_BREAKING for tag in gap[before % 2 :: 2]):
            self.add_tag("<br>")
        elif any(gap[1 - before % 2 :: 2]):
            self.out[-1] += " "

    def start_item(self, element: int) -> str:
        """Return the start tag of an `li`. If previous items of an `ol` are left out, add a `value`
        to keep the item's number."""
        tree, tag = self.tree, self.tree.start_tag(element)
        owner = tree.parents[element]
        if owner < 0 or tree.tags[owner] != "ol":
            return tag
        if owner not in self.numbers:
            self.numbers[owner] = count_items(tree, owner)
            self.last_number[owner] = next(iter(self.numbers[owner].values()), 1) - 1
        number = self.numbers[owner].get(element)
        if number is None:
            return tag
        follows = number == self.last_number[owner] + 1
        self.last_number[owner] = number
        return tag if follows or " value" in tag else f'{tag[:-1]} value="{number}">'

    def pass_gap(self, before: int, after: int) -> None:
        """Record the content left out between two parts. Set `has_blank` if it has text or white
        space and `is_broken` if a line break must replace it. Count its `br` if it has no text."""
        parts = self.tree.parts
        # Mapping HTML has WRAPPERs around other runs.
        names = [
            name for tag in parts[before + 1 + before % 2 : after : 2] if (name := self.tree.names[tag]) != WRAPPER
        ]
        texts = parts[before + 2 - before % 2 : after : 2]
        has_text = any(map(str.strip, texts))
        self.has_blank |= any(texts)
        if names:
            self.is_broken |= not self.is_break(before) and (has_text or not LINE_BREAKING.isdisjoint(names))
            self.n_left_out = 0 if has_text else self.n_left_out + names.count("br")

    def is_break(self, part: int) -> bool:
        """Return whether a part is a `br`. For an empty text, check the tag before the text."""
        parts = self.tree.parts
        return self.tree.names.get(parts[part] or parts[part - 1]) == "br"
