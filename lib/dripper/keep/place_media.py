"""Decides which images on a page belong to its main content. Labelers read only text, so an image
is judged by its position among the main blocks. Captions are kept with their images.

An image is main if the nearest element around it that has enough text is mostly main. Captions do
not count as text. Trackers, icons, avatars and advertisements are not main. The constants were
chosen on half of the hosts in the `readability` set, which has ground truth with markup.
`benchmarks/images.py` scores the other half.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import cache, partial
from itertools import accumulate

from dripper.blocks.block import Block, Slice
from dripper.facts.media.captions import IMAGES, LONGEST_CAPTION, pair_captions, read_names
from dripper.facts.media.pictures import (
    AROUND,
    REPEATED,
    Image,
    find_address,
    find_fault,
    find_images,
    name_file,
    name_picture,
    shows,
)
from dripper.facts.media.players import STAND_IN, find_films
from dripper.tree.elements import words
from dripper.tree.tree import Tree

_TEXT = 30
"""An element decides about the images inside it only if it has at least this many characters."""
_SHARE = 0.5
"""The images in a deciding element are main if at least this fraction of the element's text is
main."""
_MOST_ABOVE = 5
"""Number of elements to search for a figure, from an image upwards."""
_MOST_NOSCRIPTS = 8
"""Maximum depth of nested `noscript` elements around an image."""
_FIGURES = words(
    "caption image images img photo photos picture pictures figure media gallery embed slide slideshow hero lead inline "
    "attachment thumb illustration"
)
"""Words in the class names of elements that contain an image and its caption."""
_NOT_MAIN, _MAIN, _AMONG = range(3)
"""Verdicts on the images in an element. `_AMONG`: an image is main if it is between main blocks."""
_OUTSIDE = words("nav footer aside button select menu dialog label")
_MEDIA = IMAGES | {"figure", "audio", STAND_IN}
_MOST_ABOVE_PICTURE = 12
_NEVER_AROUND_PICTURE = words("nav footer header aside menu dialog")


def place_media(tree: Tree, blocks: Sequence[Block], main: Set[int], picture: str | None = None) -> list[Slice]:
    """Return the spans to keep in addition to the main blocks: images, videos, audio, and captions
    of main images. Spans that overlap a main block are left out. The spans are disjoint and in
    document order.

    Takes time linear in the page's length and in the nesting depth of its images.

    Args:
        blocks: All blocks of the page, in document order.
        main: The ids of the main blocks.
        picture: The URL of the image that the page declares as its own. The first occurrence of
            that image is main unless it is in a menu, a header or a footer.
    """
    if not main or _MEDIA.isdisjoint(tree.names.values()):
        return []
    images, figures, films = find_images(tree), _find_bare_figures(tree), find_films(tree)
    if not images and not figures and not films:
        return []
    places = _Places(tree, blocks, main)
    spans = dict[int, Slice]()
    chosen = [image for image, fault in places.judge(images) if not fault]
    if (declared := _find_declared(tree, images, chosen, picture)) is not None:
        chosen.append(declared)
    for image in chosen:
        first, last = tree.opens[image.element], tree.closes[image.element]
        if not places.is_touched(first, last):
            spans[first] = Slice(_skip_noscript(tree, tree.parents[image.element]), first, last, False)
    for film in filter(places.is_main, films):
        if not places.is_touched(tree.opens[film], tree.closes[film]):
            spans[tree.opens[film]] = Slice(tree.parents[film], tree.opens[film], tree.closes[film], False)
    elements = sorted([*(image.element for image in images), *figures])
    shown_in_main = {*(image.element for image in chosen), *filter(places.is_main, figures)}
    for caption, captioned in pair_captions(tree, elements) if shown_in_main else ():
        first, last = tree.opens[caption], tree.closes[caption]
        if not shown_in_main.isdisjoint(captioned) and not places.is_touched(first, last):
            spans[first] = Slice(tree.parents[caption], first, last, False, is_caption=True)
    return _drop_inner(sorted(spans.values(), key=lambda span: span.first))


def _find_bare_figures(tree: Tree) -> list[int]:
    """Return the figures without an image. A script would add the image, but the caption is already
    in the page."""
    figures = tree.find("figure")
    shown = tree.named(IMAGES) if figures else []
    return [
        element for element in figures if bisect_left(shown, element) == bisect_left(shown, tree.lasts[element] + 1)
    ]


def _drop_inner(spans: list[Slice]) -> list[Slice]:
    outer: list[Slice] = []
    for span in spans:
        if not outer or span.first > outer[-1].last:
            outer.append(span)
    return outer


def _skip_noscript(tree: Tree, owner: int) -> int:
    """Return the nearest element, from `owner` upwards, that is not a `noscript`. Browsers do not
    show images inside a `noscript`."""
    around = tree.nearest(owner, _MOST_NOSCRIPTS)
    return next((element for element in reversed(around) if tree.tags[element] != "noscript"), owner)


def explain_images(tree: Tree, blocks: Sequence[Block], main: Set[int], picture: str | None) -> list[tuple[str, str]]:
    """Return each image's URL and the reason why the image is not main, or "" if it is main. The
    arguments are the same as for `place_media`."""
    images = find_images(tree)
    judged = _Places(tree, blocks, main).judge(images) if main else ((image, "nothing is main") for image in images)
    explained = dict(judged)
    chosen = [image for image, fault in explained.items() if not fault]
    if main and (declared := _find_declared(tree, images, chosen, picture)) is not None:
        explained[declared] = ""
    return [(find_address(tree, image), fault) for image, fault in explained.items()]


def _find_declared(tree: Tree, images: Sequence[Image], chosen: Sequence[Image], picture: str | None) -> Image | None:
    """Return the first image that shows the page's declared image and has no fault. Return None if
    such an image is already kept, or if that first image is in a menu, a header or a footer."""
    name = name_file(picture or "")
    if not name or any(shows(tree, image, name) for image in chosen):
        return None
    for image in images:
        if shows(tree, image, name) and not find_fault(tree.start_tag(image.shown), find_address(tree, image)):
            around = {tree.tags[above] for above in tree.nearest(image.element, _MOST_ABOVE_PICTURE)}
            return None if not around.isdisjoint(_NEVER_AROUND_PICTURE) else image
    return None


class _Places:
    """Judges a page's images by the positions and text sizes of the page's blocks."""

    def __init__(self, tree: Tree, blocks: Sequence[Block], main: Set[int]) -> None:
        self._tree = tree
        main_blocks = [block for block in blocks if block.item_id in main]
        self._kept_firsts = [block.first for block in main_blocks]
        self._kept_lasts = [block.last for block in main_blocks]
        self._firsts = [block.first for block in blocks]
        sizes = [len(block.text) for block in blocks]
        if "figure" in tree.tags:
            self._leave_out_captions(sizes)
        self._said = list(accumulate(sizes, initial=0))
        """Cumulative number of characters in the blocks, without captions."""
        main_sizes = [size if block.item_id in main else 0 for size, block in zip(sizes, blocks, strict=True)]
        self._main = list(accumulate(main_sizes, initial=0))
        """Cumulative number of characters in the main blocks, without captions."""
        self._verdicts: dict[int, int] = {}
        self._read_names = cache(lambda tag: frozenset(read_names(tag)))
        self._find_address = cache(partial(find_address, tree))

    def judge(self, images: Sequence[Image]) -> Iterator[tuple[Image, str]]:
        """Yield each image with the reason why it is not main, or "" if it is main. Images inside
        main blocks are always main."""
        tree, before, pictures = self._tree, Image(-1, -1), set[str]()
        counts = Counter(tree.start_tag(image.shown) for image in images)
        for image in images:
            fault, is_kept = "", self.is_kept(tree.opens[image.element])
            if not is_kept:
                is_repeated = counts[tree.start_tag(image.shown)] >= REPEATED
                fault = self._find_fault(image, before, is_repeated=is_repeated)
            picture = "" if fault else name_picture(self._find_address(image))
            if not fault and not is_kept and picture in pictures and not self._is_in_figure(image.element):
                fault = "shown before"
            if not fault:
                before = image
                pictures.add(picture)
            yield image, fault

    def _find_fault(self, image: Image, before: Image, *, is_repeated: bool) -> str:
        """Return the reason why an image outside the main blocks is not main, or "" if it is
        main."""
        if not self.is_main(image.element):
            return "its place is not main"
        if self._is_copy(image, before):
            return "a copy of the one before, for browsers without scripts"
        if fault := find_fault(self._tree.start_tag(image.shown), self._find_address(image)):
            return fault
        return "an ornament that the page repeats" if is_repeated and not self._is_in_figure(image.element) else ""

    def is_kept(self, part: int) -> bool:
        """Return whether a part is in a main block."""
        place = bisect_left(self._kept_firsts, part + 1) - 1
        return place >= 0 and self._kept_lasts[place] >= part

    def is_touched(self, first: int, last: int) -> bool:
        """Return whether any part from `first` to `last` is in a main block."""
        return self.is_kept(first) or bisect_left(self._kept_firsts, first) < bisect_left(self._kept_firsts, last + 1)

    def _leave_out_captions(self, sizes: list[int]) -> None:
        """Set the entries in `sizes` for blocks in figures to 0. If a figure has more text than a
        caption, its blocks keep their sizes."""
        tree, said, end = self._tree, list(accumulate(sizes, initial=0)), -1
        for element in tree.find("figure"):
            first = bisect_left(self._firsts, tree.opens[element])
            last = bisect_left(self._firsts, tree.closes[element])
            if element > end and said[last] - said[first] <= LONGEST_CAPTION:
                sizes[first:last] = [0] * (last - first)
                end = tree.lasts[element]

    def _count(self, element: int) -> tuple[int, int]:
        """Return the number of characters in an element, and the number of main characters."""
        first = bisect_left(self._firsts, self._tree.opens[element])
        last = bisect_left(self._firsts, self._tree.closes[element])
        return self._said[last] - self._said[first], self._main[last] - self._main[first]

    def _is_copy(self, image: Image, before: Image) -> bool:
        """Return whether one of two consecutive images is the `noscript` copy of the other."""
        tree = self._tree
        if before.element < 0:
            return False
        for one, other in ((image.element, before.element), (before.element, image.element)):
            inner = tree.parents[one]
            while tree.tags[inner] in ("a", "picture", "amp-img"):
                inner = tree.parents[inner]
            if tree.tags[inner] == "noscript":
                owner = tree.parents[inner]
                return owner < other <= tree.lasts[owner]
        return False

    def is_main(self, element: int) -> bool:
        """Return whether the position of an image, figure, video or audio element is main."""
        tree, verdicts, path = self._tree, self._verdicts, list[int]()
        home = tree.parents[element]
        while home > 0 and home not in verdicts:
            verdict = self._judge(home)
            if verdict is None:
                path.append(home)
                home = tree.parents[home]
            else:
                verdicts[home] = verdict
        verdict = verdicts.get(home, _AMONG)
        if path:
            verdicts.update(dict.fromkeys(path, verdict))
        if verdict == _AMONG:
            return self._kept_firsts[0] < tree.opens[element] < self._kept_lasts[-1]
        return verdict == _MAIN

    def _judge(self, element: int) -> int | None:
        """Return the verdict on the images in an element, based on the element's text. Return None
        if the element has too little text, or only an image caption. In that case, the element's
        parent decides."""
        (length, main), name = self._count(element), self._tree.tags[element]
        tag = self._tree.start_tag(element)
        # Read the names last, because reading them takes most of the time.
        if length >= _TEXT and (main or length > LONGEST_CAPTION or _FIGURES.isdisjoint(self._read_names(tag))):
            if main < _SHARE * length:
                return _NOT_MAIN
            return _AMONG if name == "body" else _MAIN
        return _NOT_MAIN if name in _OUTSIDE or not AROUND.isdisjoint(self._read_names(tag)) else None

    def _is_in_figure(self, element: int) -> bool:
        path = self._tree.nearest(element, _MOST_ABOVE)
        return any(self._tree.tags[above] == "figure" for above in path)
