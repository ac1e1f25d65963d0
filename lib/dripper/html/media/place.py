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
from functools import cache, partial
from itertools import accumulate
from typing import NamedTuple

from dripper.html.media.addresses import find_addresses
from dripper.html.media.captions import IMAGES, LONGEST_CAPTION, pair_captions, read_names
from dripper.html.media.players import STAND_IN, find_films
from dripper.html.tree.blocks import Block
from dripper.html.tree.elements import CELLS, words
from dripper.html.tree.tree import Tree, attribute, escape_attribute

_TEXT = 30
"""Characters of text that an element has at least that says something."""
_SHARE = 0.5
"""Share of that element's text that must be main for its images to be main."""
_MOST_ABOVE = 5
"""Elements between an image and its figure."""
_WIDTH, _HEIGHT = 100, 50
"""Pixels: an image that states less is an icon, an avatar or a thumbnail."""
_ICON = 32
"""Pixels: an image that states no more, both ways, is an icon."""
_AROUND_ICONS = 4
"""Elements that are looked at around one, itself among them."""
_LONGEST_SMILEY = 4
"""Characters that a smiley stands for."""
_MOST_NOSCRIPTS = 8
"""Depth of `noscript` in `noscript` around an image."""
_REPEATED = 3
"""Times that a page shows an image, from which on it is an ornament."""
_AROUND = words(
    "avatar avatars gravatar logo logos icon icons author authors byline bio headshot userpic ad ads advert advertisement "
    "advertising sponsor sponsored related recommended recommendations trending newsletter teaser teasers nav navbar "
    "navigation menu breadcrumb breadcrumbs footer social follow button btn swatch swatches instagram"
)
"""Words in classes and ids of what holds images that are no content."""
_OTHER = _AROUND | words(
    "emoji emoticon smiley smilies sprite badge badges share sharing profile banner promo spacer pixel tracking tracker "
    "arrow flag rating stars"
)
"""Words in classes and ids of such images."""
_ICONS = words("emoji emoticon smiley smilies sprite spacer pixel tracking tracker icon icons bullet")
"""The same in kept pieces."""
_OTHER_FILES = words(
    "avatar avatars gravatar logo logos icon icons emoji emoticon smiley smilies sprite badge badges spacer pixel tracking "
    "tracker blank placeholder loading loader spinner button btn arrow bullet rating stars headshot advert banner favorite "
    "favourite"
)
"""Words in their file names."""
_FIGURES = words(
    "caption image images img photo photos picture pictures figure media gallery embed slide slideshow hero lead inline "
    "attachment thumb illustration"
)
"""Words in classes of what holds an image and its caption."""
_NOT_MAIN, _MAIN, _AMONG = range(3)
"""Verdicts on the images in an element; the last: main if it stands between main blocks."""
_OUTSIDE = words("nav footer aside button select menu dialog label")
_MEDIA = IMAGES | {"figure", "audio", STAND_IN}
_FILE_WORD = re.compile(r"(?<![a-z0-9])[a-z]+(?=[0-9]{0,2}(?![a-z0-9]))")
_FILE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp)$")
_HIDDEN = re.compile(r'style="(?:[^"]*;)?\s*display\s*:\s*none', re.IGNORECASE)
_SIZE_OF_FILE = re.compile(r"-\d{2,4}x\d{2,4}(?=\.\w{3,4}$)")
_SIZE_IN_NAME = re.compile(
    r"(?:[-_@.](?:\d{2,4}x\d{0,4}|x\d{2,4}|\d{2,4}w?|[1-4]x|large|medium|small|thumb|scaled|full))+$"
)
_TELLING = 6
"""Letters of a file's name that tell it from others."""
_MOST_ABOVE_PICTURE = 12
_NEVER_AROUND_PICTURE = words("nav footer header aside menu dialog")
_PEOPLE = words("avatar avatars gravatar headshot userpic")
_SIGNS = _ICONS | words("logo logos badge badges button btn arrow stars rating")
_FEWEST_IN_GALLERY = 3
_APART = 60
"""Texts and tags between two pictures of a gallery."""
_LONGEST_IN_GALLERY = 60
"""Characters that are said between two of them."""
_PIXELS = re.compile(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:px)?\s*$")
_TRACKERS = (
    "doubleclick", "scorecardresearch", "quantserve", "omtrdc", "2o7.net", "xiti", "smartadserver", "mathtag",
    "google-analytics", "googlesyndication", "amazon-adsystem", "bat.bing", "pixel", "/count/", "1x1", "transparent.",
    "clear.gif", "feedburner", "feeds.wordpress", "stats.wp.com", "counter",
)  # fmt: skip
"""Parts of addresses of what nobody is to see."""
_TRACKER_WORDS = ("facebook.com/tr", "spacer", "blank.", "file:")
"""The same, where they are whole words: see `_TRACKER_WORD`."""
_TRACKER_WORD = re.compile(r"facebook\.com/tr\b|\bspacer\b|\bblank\.|^file:")


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
    kinds = IMAGES.intersection(tree.names.values())
    for element in sorted(element for tag in kinds for element in tree.find(tag)):
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
    figures = tree.find("figure")
    shown = tree.named(IMAGES) if figures else []
    return [element for element in figures if _count_between(shown, element, tree.lasts[element]) == 0]


def _count_between(ascending: Sequence[int], first: int, last: int) -> int:
    return bisect_left(ascending, last + 1) - bisect_left(ascending, first)


def place_media(tree: Tree, blocks: Sequence[Block], main: Set[int], picture: str | None = None) -> list[Span]:
    """Return what belongs to main beside the kept pieces: images, and captions of images that are
    main and of which nothing is kept, in document order, disjoint.

    Linear in the page, and in the depth of its images.

    Args:
        blocks: All of the page, in document order.
        main: The ids of the main ones.
        picture: The address of the picture that the page declares as its own: it is main wherever
            it stands first, outside of menus and footers.
    """
    if not main or _MEDIA.isdisjoint(tree.names.values()):
        return []
    images, figures, films = find_images(tree), _find_bare_figures(tree), find_films(tree)
    if not images and not figures and not films:
        return []
    places = _Places(tree, blocks, main)
    spans = dict[int, Span]()
    chosen = [image for image, fault in places.judge(images) if not fault]
    if (declared := _find_declared(tree, images, chosen, picture)) is not None:
        chosen.append(declared)
    for image in chosen:
        first, last = tree.opens[image.element], tree.closes[image.element]
        if not places.is_touched(first, last):
            spans[first] = Span(_skip_noscript(tree, tree.parents[image.element]), first, last, False)
    for film in filter(places.is_main, films):
        if not places.is_touched(tree.opens[film], tree.closes[film]):
            spans[tree.opens[film]] = Span(tree.parents[film], tree.opens[film], tree.closes[film], False)
    elements = sorted([*(image.element for image in images), *figures])
    shown_in_main = {*(image.element for image in chosen), *filter(places.is_main, figures)}
    for caption, captioned in pair_captions(tree, elements) if shown_in_main else ():
        first, last = tree.opens[caption], tree.closes[caption]
        if not shown_in_main.isdisjoint(captioned) and not places.is_touched(first, last):
            spans[first] = Span(tree.parents[caption], first, last, True)
    return _drop_inner(sorted(spans.values(), key=lambda span: span.first))


def explain_images(tree: Tree, blocks: Sequence[Block], main: Set[int], picture: str | None) -> list[tuple[str, str]]:
    """Return the address of each image of a page, and why it is not main; "": it is. Arguments as
    of `place_media`."""
    images = find_images(tree)
    judged = _Places(tree, blocks, main).judge(images) if main else ((image, "nothing is main") for image in images)
    explained = dict(judged)
    chosen = [image for image, fault in explained.items() if not fault]
    if main and (declared := _find_declared(tree, images, chosen, picture)) is not None:
        explained[declared] = ""
    return [(_find_address(tree, image), fault) for image, fault in explained.items()]


def _find_declared(tree: Tree, images: Sequence[Image], chosen: Sequence[Image], picture: str | None) -> Image | None:
    """Return the first image that shows what the page declares as its picture; None where it is
    kept anyway, or is a logo, a tracker or of a menu."""
    name = _name_file(picture or "")
    if not name or any(_shows(tree, image, name) for image in chosen):
        return None
    for image in images:
        if _shows(tree, image, name) and not _find_fault(tree.start_tag(image.shown), _find_address(tree, image)):
            around = {tree.tags[above] for above in tree.nearest(image.element, _MOST_ABOVE_PICTURE)}
            return None if not around.isdisjoint(_NEVER_AROUND_PICTURE) else image
    return None


def _find_showing(tree: Tree, images: Sequence[Image], picture: str | None) -> list[Image]:
    """Return the images that show the page's picture: those with its file's name, else those whose
    names differ as sizes do.

    The pictures of a series, `cake-12.jpg` and `cake-14.jpg`, differ so, too: on 67 of 5,619
    training pages several were the page's own.
    """
    name = _name_file(picture or "")
    showing = [image for image in images if _shows(tree, image, name)] if name else []
    if len(showing) > 1:
        own = _name_picture(picture or "").rpartition("/")[2]
        alike = [i for i in showing if any(_name_picture(a).endswith(own) for a in find_addresses(tree, i.element))]
        return alike or showing
    return showing


def _shows(tree: Tree, image: Image, name: str) -> bool:
    """Tell whether a file of this name is among those that an image can be shown by."""
    tags = tree.parts[tree.opens[image.element] : tree.closes[image.element] + 1 : 2]
    is_near = any(name.rpartition("/")[2] in tag.lower() for tag in tags)
    return is_near and name in map(_name_file, find_addresses(tree, image.element))


def _name_file(address: str) -> str:
    """Return what tells an image's file from others, whatever size it is served in: its name
    without sizes and ending, with its folder where the name says little; "" of no picture's.

    >>> _name_file("https://e.org/u/9/rain-1200x630.jpg?w=80") == _name_file("/u/9/rain.webp")
    True
    """
    path = address.partition("?")[0].partition("#")[0].lower()
    folder, _, file = path.rpartition("/")
    stem = _SIZE_IN_NAME.sub("", _FILE.sub("", file))
    return stem if len(stem) >= _TELLING else f"{folder.rpartition('/')[2]}/{stem}" if stem else ""


def _drop_inner(spans: list[Span]) -> list[Span]:
    """Return the outermost of some spans."""
    outer: list[Span] = []
    for span in spans:
        if not outer or span.first > outer[-1].last:
            outer.append(span)
    return outer


def _skip_noscript(tree: Tree, owner: int) -> int:
    """Return what an image stands in, but for a `noscript`, which browsers would not show."""
    around = tree.nearest(owner, _MOST_NOSCRIPTS)
    return next((element for element in reversed(around) if tree.tags[element] != "noscript"), owner)


class _Places:
    """The places of blocks and their text in a page, for questions about its images."""

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
        """Characters of text in the first n blocks, without captions."""
        main_sizes = [size if block.item_id in main else 0 for size, block in zip(sizes, blocks, strict=True)]
        self._main = list(accumulate(main_sizes, initial=0))
        """The same of those that are main."""
        self._verdicts: dict[int, int] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._find_address = cache(partial(_find_address, tree))

    def judge(self, images: Sequence[Image]) -> Iterator[tuple[Image, str]]:
        """Yield each image with the reason why it is not main; "": it is, as those in kept pieces
        are."""
        tree, before, pictures = self._tree, Image(-1, -1), set[str]()
        counts = Counter(tree.start_tag(image.shown) for image in images)
        for image in images:
            fault, is_kept = "", self.is_kept(tree.opens[image.element])
            if not is_kept:
                is_repeated = counts[tree.start_tag(image.shown)] >= _REPEATED
                fault = self._find_fault(image, before, is_repeated=is_repeated)
            picture = "" if fault else _name_picture(self._find_address(image))
            if not fault and not is_kept and picture in pictures and not self._is_in_figure(image.element):
                fault = "shown before"
            if not fault:
                before = image
                pictures.add(picture)
            yield image, fault

    def _find_fault(self, image: Image, before: Image, *, is_repeated: bool) -> str:
        """Return why an image outside of kept pieces is not main, "" where it is."""
        if not self.is_main(image.element):
            return "its place is not main"
        if self._is_copy(image, before):
            return "a copy of the one before, for browsers without scripts"
        if fault := _find_fault(self._tree.start_tag(image.shown), self._find_address(image)):
            return fault
        return "an ornament that the page repeats" if is_repeated and not self._is_in_figure(image.element) else ""

    def is_kept(self, part: int) -> bool:
        """Tell whether a part stands in a kept piece."""
        place = bisect_left(self._kept_firsts, part + 1) - 1
        return place >= 0 and self._kept_lasts[place] >= part

    def is_touched(self, first: int, last: int) -> bool:
        """Tell whether some of the parts are kept."""
        return self.is_kept(first) or bisect_left(self._kept_firsts, first) < bisect_left(self._kept_firsts, last + 1)

    def _leave_out_captions(self, sizes: list[int]) -> None:
        """Set the size of blocks in figures to 0, in place."""
        tree, said, end = self._tree, list(accumulate(sizes, initial=0)), -1
        for element in tree.find("figure"):
            first = bisect_left(self._firsts, tree.opens[element])
            last = bisect_left(self._firsts, tree.closes[element])
            if element > end and said[last] - said[first] <= LONGEST_CAPTION:
                sizes[first:last] = [0] * (last - first)
                end = tree.lasts[element]

    def _count(self, element: int) -> tuple[int, int]:
        """Return how many characters an element says, and how many of them are main."""
        first = bisect_left(self._firsts, self._tree.opens[element])
        last = bisect_left(self._firsts, self._tree.closes[element])
        return self._said[last] - self._said[first], self._main[last] - self._main[first]

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
        """Return what the place in an element is by what it says; None where it says nothing, or
        nothing but an image's caption, so that the next one around it is to be asked."""
        (length, main), tag = self._count(element), self._tree.tags[element]
        # Names are read last: they take most of the time.
        if length >= _TEXT and (main or length > LONGEST_CAPTION or _FIGURES.isdisjoint(self._read_names(element))):
            if main < _SHARE * length:
                return _NOT_MAIN
            return _AMONG if tag == "body" else _MAIN
        return _NOT_MAIN if tag in _OUTSIDE or not _AROUND.isdisjoint(self._read_names(element)) else None

    def _is_in_figure(self, element: int) -> bool:
        path = self._tree.nearest(element, _MOST_ABOVE)
        return any(self._tree.tags[above] == "figure" for above in path)

    def _read_names(self, element: int) -> frozenset[str]:
        tag = self._tree.start_tag(element)
        names = self._names.get(tag)
        if names is None:
            names = self._names[tag] = frozenset(read_names(tag))
        return names


def _find_fault(tag: str, address: str) -> str:
    """Return what in an image's own tag or its address says that it is no content, "" where nothing
    does."""
    if _is_small(tag):
        return "small"
    if not _OTHER.isdisjoint(read_names(tag)):
        return "named as no content"
    address = address.partition("?")[0].lower()
    if address.endswith(".gif") and _HIDDEN.search(tag):
        return "a sign that something loads, hidden"
    if not address or _is_tracker(address):
        return "a tracker" if address else "no address"
    return "its file is named as no content" if _is_other_file(address) else ""


def _find_address(tree: Tree, image: Image) -> str:
    """Return the best address of an image, "" where it has none."""
    return next(iter(find_addresses(tree, image.element)), "")


def _name_picture(address: str) -> str:
    """Return an image's address without its size: WordPress has the same picture as `rain.jpg` and
    `rain-300x200.jpg`."""
    file = address.partition("?")[0]
    return _SIZE_OF_FILE.sub("", file) if _FILE.search(file) else address


def find_roles(tree: Tree, images: Sequence[Image], picture: str | None) -> list[str]:
    """Return the role of each image of main HTML: lead, gallery, icon, avatar or content.

    Pictures are side by side where _FEWEST_IN_GALLERY of them follow each other with no more text
    between two than a caption has. What is shown _REPEATED times is an icon, unless a large size is
    stated. On 4,911 training pages 89 show some so, 2,194 times: signs of files and states,
    smileys, what stands in for a picture; five show pictures so.
    """
    showing = set(_find_showing(tree, images, picture))
    counts = Counter(attribute(tree.start_tag(image.shown), "src") for image in images)
    roles, run, before = list[str](), list[int](), -1
    for index, image in enumerate(images):
        tag = tree.start_tag(image.shown)
        source = attribute(tag, "src")
        names = {*read_names(tag), *_FILE_WORD.findall((source or "").lower().rpartition("/")[2])}
        is_repeated = counts[source] >= _REPEATED and not _is_large(tag)
        if image in showing:
            roles.append("lead")
        elif not names.isdisjoint(_PEOPLE):
            roles.append("avatar")
        elif is_repeated or not names.isdisjoint(_SIGNS) or _is_tiny(tag):
            roles.append("icon")
        else:
            roles.append("content")
            first = tree.opens[image.element]
            said = sum(len(text.strip()) for text in tree.parts[before + 1 : first : 2]) if before >= 0 else 0
            run = [*run, index] if before >= 0 and first - before < _APART and said <= _LONGEST_IN_GALLERY else [index]
            before = tree.closes[image.element]
            if len(run) >= _FEWEST_IN_GALLERY:
                for each in run[-1:] if len(run) > _FEWEST_IN_GALLERY else run:
                    roles[each] = "gallery"
    return roles


def replace_icons(tree: Tree) -> None:
    """Leave out of main HTML, in place, the images in kept pieces that are none: trackers, bullets
    and icons; of a smiley, what it stands for. In a cell of a table, an icon is what it says."""
    images = find_images(tree)
    counts = Counter(tree.start_tag(image.shown) for image in images)
    for image in images:
        tag = tree.start_tag(image.shown)
        around = {tree.tags[above] for above in tree.nearest(image.element, _AROUND_ICONS)[:-1]}
        alt = (attribute(tag, "alt") or "").strip()
        is_bullet = counts[tag] >= _REPEATED and not alt and " title=" not in tag and "figure" not in around
        if tree.tags[image.shown] != "img" or not CELLS.isdisjoint(around):
            continue
        if not (is_bullet and not _is_large(tag)) and not _is_other(tag):
            continue
        first = tree.opens[image.element]
        tree.replace(image.element, "")
        for element in range(image.element, tree.lasts[image.element] + 1):
            tree.tags[element] = "span"
        if 0 < len(alt) <= _LONGEST_SMILEY:
            # Without an address: Markdown writes what it says, and the text stays the same.
            tree.parts[first] = f'<img alt="{escape_attribute(alt)}">'
            tree.names[tree.parts[first]] = tree.tags[image.element] = "img"


def _is_other(tag: str) -> bool:
    """Tell whether an image's start tag says that it is no content: its names, its tracker, or both
    its sizes."""
    is_named = not _ICONS.isdisjoint(read_names(tag)) or _is_tracker((attribute(tag, "src") or "").lower())
    return is_named or _is_tiny(tag)


def _is_tiny(tag: str) -> bool:
    """Tell whether a tag states both sizes, and they are those of an icon."""
    sizes = [read_pixels(tag, name) for name in ("width", "height")]
    return all(size is not None and size <= _ICON for size in sizes)


def _is_tracker(address: str) -> bool:
    # Looking for each part takes a quarter of the time of one expression for all.
    if any(part in address for part in _TRACKERS):
        return True
    return any(part in address for part in _TRACKER_WORDS) and _TRACKER_WORD.search(address) is not None


def _is_large(tag: str) -> bool:
    return any((read_pixels(tag, name) or 0) > least for name, least in (("width", _WIDTH), ("height", _HEIGHT)))


def _is_small(tag: str) -> bool:
    sizes = ((read_pixels(tag, "width"), _WIDTH), (read_pixels(tag, "height"), _HEIGHT))
    return any(size is not None and 0 < size <= least for size, least in sizes)


def read_pixels(tag: str, name: str) -> int | None:
    """Return the number of pixels that an attribute of a start tag states; None: it states none."""
    value = _PIXELS.match(attribute(tag, name) or "")
    return int(value[1]) if value else None


def _is_other_file(address: str) -> bool:
    name = address.rpartition("/")[2]
    return _FILE.search(name) is not None and not _OTHER_FILES.isdisjoint(_FILE_WORD.findall(name))
