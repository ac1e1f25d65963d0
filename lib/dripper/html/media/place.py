"""Decides which images of a page belong to its main content, by their places among the main
pieces: labelers read text, and an image has none. Captions go with their images.

An image belongs to main where the nearest element around it that says something (captions apart) is
mostly main, and where nothing tells that it is something else: a tracker, an icon, an avatar, an
advertisement. The constants were chosen on one half of the hosts of the set `readability`, whose
truth has markup; `benchmarks/images.py` scores the other half.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from itertools import accumulate
from typing import NamedTuple

from dripper.html.media.addresses import find_addresses
from dripper.html.tree.elements import words
from dripper.html.tree.tree import Tree, attribute

IMAGES = words("img amp-img picture video")
"""What shows a picture; a `video` by its poster."""
_TEXT = 30
"""Characters of text that an element has at least that says something."""
_SHARE = 0.5
"""Of that element's text that is main, so that its images are."""
_CAPTION = 400
"""Characters that stand beside an image, in its own container, at most."""
_MOST_ABOVE = 5
"""Elements between a caption and what holds it and its image."""
_MOST_SHARING = 8
"""Images that share a caption."""
_WIDTH, _HEIGHT = 100, 50
"""Pixels: an image that states less is an icon, an avatar or a thumbnail."""
_REPEATED = 3
"""So many times on a page, an image is an ornament."""
_AROUND = words(
    "avatar avatars gravatar logo logos icon icons author authors byline bio headshot userpic ad ads advert advertisement "
    "advertising sponsor sponsored related recommended recommendations trending newsletter teaser teasers nav navbar "
    "navigation menu breadcrumb breadcrumbs footer social follow button btn"
)
"""Words in classes and ids of what holds images that are no content."""
_OTHER = _AROUND | words(
    "emoji emoticon smiley smilies sprite badge badges share sharing profile banner promo spacer pixel tracking tracker "
    "arrow flag rating stars"
)
"""Words in classes and ids of such images."""
_OTHER_FILES = words(
    "avatar avatars gravatar logo logos icon icons emoji emoticon smiley smilies sprite badge badges spacer pixel tracking "
    "tracker blank placeholder loading loader spinner button btn arrow bullet rating stars headshot advert banner"
)
"""Words in their file names."""
_FIGURES = words(
    "caption image images img photo photos picture pictures figure media gallery embed slide slideshow hero lead inline "
    "attachment thumb illustration"
)
"""Words in classes of what holds an image and its caption."""
_OUTSIDE = words("nav footer aside button select menu dialog label")
_NAMED = re.compile(r' (?:class|id|role|itemprop)="([^"]{1,200})')
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_FILE_WORD = re.compile(r"(?<![a-z0-9])[a-z]+(?![a-z0-9])")
_FILE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp)$")
_NUMBER = re.compile(r"\s*(\d{1,5})(?:\.\d+)?\s*(?:px)?\s*$")
_TRACKER = re.compile(
    r"doubleclick|scorecardresearch|facebook\.com/tr\b|quantserve|omtrdc|2o7\.net|xiti|smartadserver|mathtag|"
    r"google-analytics|googlesyndication|amazon-adsystem|bat\.bing|pixel|/count/|\bspacer\b|\bblank\.|1x1|"
    r"transparent\.|clear\.gif|feedburner|feeds\.wordpress|stats\.wp\.com|counter|^file:"
)
"""Addresses of what nobody is to see."""


class Span(NamedTuple):
    """A piece of the page: `parts[first : last + 1]`, which stands inside the element `owner`."""

    owner: int
    first: int
    last: int
    is_caption: bool


class Image(NamedTuple):
    """An image of a page."""

    element: int
    """The picture, where there is one around the `img`."""
    shown: int
    """The `img` itself."""


def find_images(tree: Tree) -> list[Image]:
    """Return the page's images in document order."""
    images: list[Image] = []
    last = -1
    for element in sorted(element for tag in IMAGES for element in _find_all(tree, tag)):
        if element <= last:
            continue
        shown = element
        last = tree.lasts[element]
        if tree.tags[element] == "picture":
            shown = next((inner for inner in range(element + 1, last + 1) if tree.tags[inner] == "img"), -1)
        if shown >= 0:
            images.append(Image(element, shown))
    return images


def _find_bare_figures(tree: Tree) -> list[int]:
    """Return the figures without an image: a script will show it, and the caption is there."""
    figures = _find_all(tree, "figure")
    return [element for element in figures if IMAGES.isdisjoint(tree.tags[element : tree.lasts[element] + 1])]


def _find_all(tree: Tree, tag: str) -> Iterator[int]:
    """Yield the elements of a name. Most pages have few, which `index` finds at the speed of C."""
    element = -1
    with suppress(ValueError):
        while True:
            element = tree.tags.index(tag, element + 1)
            yield element


def place_media(tree: Tree, kept: Sequence[tuple[int, int]]) -> list[Span]:
    """Return what belongs to main beside the kept pieces: images, and captions of images that are
    main and of which nothing is kept, in document order, disjoint.

    kept: first and last part of each main piece, in document order, disjoint. Linear in the page,
    and in the depth of its images.

    >>> from dripper.html.tree.scan import scan
    >>> tree = scan("<div><p>Much that is said of it here.</p><b><img src='a'></b></div>", {"img"})
    >>> place_media(tree, [(3, 5)])
    [Span(owner=2, first=9, last=9, is_caption=False)]
    """
    images = find_images(tree) if kept else []
    figures = _find_bare_figures(tree) if kept else []
    if not images and not figures:
        return []
    places = _Places(tree, kept)
    spans = dict[int, Span]()
    main = list(places.choose(images))
    for image in main:
        first, last = tree.opens[image.element], tree.closes[image.element]
        if not places.is_touched(first, last):
            spans[first] = Span(_skip_noscript(tree, tree.parents[image.element]), first, last, False)
    shown = sorted([*(image.element for image in images), *figures])
    for caption in places.find_captions(shown, {*(image.element for image in main), *filter(places.is_main, figures)}):
        first, last = tree.opens[caption], tree.closes[caption]
        if not places.is_touched(first, last):
            spans[first] = Span(tree.parents[caption], first, last, True)
    return _drop_inner(sorted(spans.values(), key=lambda span: span.first))


def _drop_inner(spans: list[Span]) -> list[Span]:
    """Return the outermost of some spans."""
    outer: list[Span] = []
    for span in spans:
        if not outer or span.first > outer[-1].last:
            outer.append(span)
    return outer


def _skip_noscript(tree: Tree, owner: int) -> int:
    """Return what an image stands in, but for a `noscript`, which browsers would not show."""
    while tree.tags[owner] == "noscript":
        owner = tree.parents[owner]
    return owner


class _Places:
    """What stands where in a page, for questions about its images."""

    def __init__(self, tree: Tree, kept: Sequence[tuple[int, int]]) -> None:
        self._tree = tree
        self._firsts = [first for first, _ in kept]
        self._lasts = [last for _, last in kept]
        sizes = list(map(len, map(str.strip, tree.parts[::2])))
        self._all = list(accumulate(sizes, initial=0))
        """Characters of text before each text."""
        self._said = self._all
        """The same, without captions."""
        if "figure" in tree.tags:
            self._leave_out_captions(sizes)
        self._main = [0]
        """Characters of text in the first n kept pieces."""
        for first, last in kept:
            self._main.append(self._main[-1] + self._said[last // 2 + 1] - self._said[(first + 1) // 2])

    def choose(self, images: Sequence[Image]) -> Iterator[Image]:
        """Yield the images that are main, among them those in kept pieces."""
        tree, before = self._tree, Image(-1, -1)
        counts = Counter(tree.start_tag(image.shown) for image in images)
        for image in images:
            is_main = self.is_kept(tree.opens[image.element])
            if not is_main and self.is_main(image.element) and not self._is_copy(image, before):
                is_repeated = counts[tree.start_tag(image.shown)] >= _REPEATED
                is_main = _is_content(tree, image) and (not is_repeated or self._is_in_figure(image.element))
            if is_main:
                yield image
                before = image

    def is_kept(self, part: int) -> bool:
        """Tell whether a part stands in a kept piece."""
        place = bisect_left(self._firsts, part + 1) - 1
        return place >= 0 and self._lasts[place] >= part

    def is_touched(self, first: int, last: int) -> bool:
        """Tell whether some of the parts are kept."""
        return self.is_kept(first) or bisect_left(self._firsts, first) < bisect_left(self._firsts, last + 1)

    def find_captions(self, shown: Sequence[int], main: Set[int]) -> Iterator[int]:
        """Yield the captions of images that are main: of a caption the nearest element around it
        with an image in it is asked.

        shown: all images, and figures without one, in document order. main: those that are main.
        """
        tree = self._tree
        for caption in self._find_all_captions():
            above = caption
            for _ in range(_MOST_ABOVE):
                above = tree.parents[above]
                first, last = bisect_left(shown, above), bisect_left(shown, tree.lasts[above] + 1)
                if first < last:
                    if not main.isdisjoint(shown[first:last]) and last - first <= _MOST_SHARING:
                        yield caption
                    break
                if above <= 0:
                    break

    def _find_all_captions(self) -> list[int]:
        """Return the elements that say to be captions, with a text and no image in them."""
        tree = self._tree
        named = {tag for tag in tree.names if "caption" in tag and tag[1] != "/"}
        named = {tag for tag in named if tree.names[tag] == "figcaption" or "caption" in _read_names(tag)}
        if not named:
            return []
        captions = [element for element, part in enumerate(tree.opens) if tree.parts[part] in named]
        return [element for element in captions if self._is_caption(element)]

    def _is_caption(self, element: int) -> bool:
        inside = self._tree.tags[element : self._tree.lasts[element] + 1]
        return 0 < self._count(self._all, element) <= _CAPTION and IMAGES.isdisjoint(inside) and inside[0] != "table"

    def _leave_out_captions(self, sizes: list[int]) -> None:
        tree = self._tree
        for element in _find_all(tree, "figure"):
            first, last = tree.opens[element] // 2 + 1, tree.closes[element] // 2 + 1
            if self._all[last] - self._all[first] <= _CAPTION:
                sizes[first:last] = [0] * (last - first)
        self._said = list(accumulate(sizes, initial=0))

    def _count(self, before: list[int], element: int) -> int:
        return before[self._tree.closes[element] // 2 + 1] - before[self._tree.opens[element] // 2 + 1]

    def _count_main(self, element: int) -> int:
        first, last = self._tree.opens[element], self._tree.closes[element]
        return self._main[bisect_left(self._firsts, last)] - self._main[bisect_left(self._firsts, first)]

    def _is_copy(self, image: Image, before: Image) -> bool:
        """Tell whether an image is what `noscript` has of the one before it, or the other way
        round."""
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
        """Tell whether the place of an image or a figure is main."""
        tree, home = self._tree, self._find_home(element)
        if home < 0 or self._count_main(home) < _SHARE * self._count(self._said, home):
            return False
        return self._firsts[0] < tree.opens[element] < self._lasts[-1] or tree.tags[home] not in ("body", "html")

    def _is_in_figure(self, element: int) -> bool:
        path = self._tree.path(element)[-_MOST_ABOVE:]
        return any(self._tree.tags[above] == "figure" for above in path)

    def _find_home(self, element: int) -> int:
        """Return the nearest element around an image that says something; -1 where one between
        them tells that the image is something else."""
        tree = self._tree
        home = tree.parents[element]
        while home > 0:
            if self._count(self._said, home) >= _TEXT and not self._is_frame(home):
                return home
            if tree.tags[home] in _OUTSIDE or not _AROUND.isdisjoint(_read_names(tree.start_tag(home))):
                return -1
            home = tree.parents[home]
        return home

    def _is_frame(self, element: int) -> bool:
        """Tell whether all that an element says is an image's caption."""
        if self._count(self._said, element) > _CAPTION or self._count_main(element):
            return False
        return not _FIGURES.isdisjoint(_read_names(self._tree.start_tag(element)))


def _is_content(tree: Tree, image: Image) -> bool:
    """Tell whether nothing in an image's own tag says that it is something else."""
    tag = tree.start_tag(image.shown)
    if _is_small(tag) or not _OTHER.isdisjoint(_read_names(tag)):
        return False
    address = next(iter(find_addresses(tree, image.element)), "").partition("?")[0].lower()
    return address != "" and not _TRACKER.search(address) and not _is_other_file(address)


def _is_small(tag: str) -> bool:
    for name, least in (("width", _WIDTH), ("height", _HEIGHT)):
        value = _NUMBER.match(attribute(tag, name) or "")
        if value and 0 < int(value[1]) <= least:
            return True
    return False


def _is_other_file(address: str) -> bool:
    name = address.rpartition("/")[2]
    return _FILE.search(name) is not None and not _OTHER_FILES.isdisjoint(_FILE_WORD.findall(name))


def _read_names(tag: str) -> list[str]:
    """Return the words in the classes and ids of a start tag, lower case."""
    if " class=" not in tag and " id=" not in tag:
        return []
    return [word.lower() for word in _WORD.findall(" ".join(_NAMED.findall(tag)))]
