"""Finds a page's images. Detects trackers, icons, avatars and advertisements by an image's own tag,
URL and file name.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from dripper.facts.media.addresses import find_addresses
from dripper.facts.media.captions import IMAGES, read_names
from dripper.tree.elements import words
from dripper.tree.tree import Tree, attribute

_WIDTH, _HEIGHT = 100, 50
"""An image is an icon, avatar or thumbnail if its tag declares at most this width or at most this
height, in pixels."""
_ICON = 32
"""An image is an icon if its tag declares a width and a height, and neither is more than this
number of pixels."""
REPEATED = 3
"""An image that a page shows at least this many times is an ornament."""
AROUND = words(
    "avatar avatars gravatar logo logos icon icons author authors byline bio headshot userpic ad ads advert advertisement "
    "advertising sponsor sponsored related recommended recommendations trending newsletter teaser teasers nav navbar "
    "navigation menu breadcrumb breadcrumbs footer social follow button btn swatch swatches instagram"
)
"""Words in the classes and ids of elements. Images inside such an element are not content."""
_OTHER = AROUND | words(
    "emoji emoticon smiley smilies sprite badge badges share sharing profile banner promo spacer pixel tracking tracker "
    "arrow flag rating stars"
)
"""Words in classes and ids of images that are not content."""
_OTHER_FILES = words(
    "avatar avatars gravatar logo logos icon icons emoji emoticon smiley smilies sprite badge badges spacer pixel tracking "
    "tracker blank placeholder loading loader spinner button btn arrow bullet rating stars headshot advert banner favorite "
    "favourite"
)
"""Words in file names of images that are not content."""
FILE_WORD = re.compile(r"(?<![a-z0-9])[a-z]+(?=[0-9]{0,2}(?![a-z0-9]))")
"""A word in a file name."""
_FILE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp)$")
_HIDDEN = re.compile(r'style="(?:[^"]*;)?\s*display\s*:\s*none', re.IGNORECASE)
_SIZE_OF_FILE = re.compile(r"-\d{2,4}x\d{2,4}(?=\.\w{3,4}$)")
_SIZE_IN_NAME = re.compile(
    r"(?:[-_@.](?:\d{2,4}x\d{0,4}|x\d{2,4}|\d{2,4}w?|[1-4]x|large|medium|small|thumb|scaled|full))+$"
)
_TELLING = 6
"""A file name of at least this many characters is enough to identify a file. A shorter file name
identifies a file only together with its folder."""
_PIXELS = re.compile(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:px)?\s*$")
_TRACKERS = (
    "doubleclick", "scorecardresearch", "quantserve", "omtrdc", "2o7.net", "xiti", "smartadserver", "mathtag",
    "google-analytics", "googlesyndication", "amazon-adsystem", "bat.bing", "pixel", "/count/", "1x1", "transparent.",
    "clear.gif", "feedburner", "feeds.wordpress", "stats.wp.com", "counter",
)  # fmt: skip
"""Substrings of the URLs of invisible images."""
_TRACKER_WORDS = ("facebook.com/tr", "spacer", "blank.", "file:", "/tracking", "/tracker", "/beacon", "/impression")
"""More substrings of such URLs. They count only as whole words; see `_TRACKER_WORD`."""
_TRACKER_WORD = re.compile(
    r"facebook\.com/tr\b|\bspacer\b|\bblank\.|^file:|/(?:tracking|tracker|beacon|impression)s?(?:[/.]|$)"
)


class Image(NamedTuple):
    """An image of a page."""

    element: int
    """The `picture` around the `img` if there is one, otherwise the image element itself."""
    shown: int
    """The `img` in the `picture` if there is one, otherwise the same as `element`."""


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


def find_address(tree: Tree, image: Image) -> str:
    """Return the best URL of an image; "" if it has none."""
    return next(iter(find_addresses(tree, image.element)), "")


def shows(tree: Tree, image: Image, name: str) -> bool:
    """Return whether one of an image's URLs has this file name (see `name_file`)."""
    tags = tree.parts[tree.opens[image.element] : tree.closes[image.element] + 1 : 2]
    is_near = any(name.rpartition("/")[2] in tag.lower() for tag in tags)
    return is_near and name in map(name_file, find_addresses(tree, image.element))


def name_file(address: str) -> str:
    """Return a name that is the same for all sizes of an image: the file name without sizes and
    extension. A short name is preceded by its folder. Return "" if there is no name.

    >>> name_file("https://e.org/u/9/rain-1200x630.jpg?w=80") == name_file("/u/9/rain.webp")
    True
    """
    path = address.partition("?")[0].partition("#")[0].lower()
    folder, _, file = path.rpartition("/")
    stem = _SIZE_IN_NAME.sub("", _FILE.sub("", file))
    return stem if len(stem) >= _TELLING else f"{folder.rpartition('/')[2]}/{stem}" if stem else ""


def name_picture(address: str) -> str:
    """Return an image's URL without the size in its file name. WordPress serves the same image as
    `rain.jpg` and `rain-300x200.jpg`."""
    file = address.partition("?")[0]
    return _SIZE_OF_FILE.sub("", file) if _FILE.search(file) else address


def find_showing(tree: Tree, images: Sequence[Image], picture: str | None) -> list[Image]:
    """Return the images that show the page's declared image, compared by `name_file`.

    If several images match, `name_picture` decides among them, because `name_file` gives images in
    a series, such as `cake-12.jpg` and `cake-14.jpg`, the same name. On 67 of 5,619 training pages,
    several images counted as the page's own.
    """
    name = name_file(picture or "")
    showing = [image for image in images if shows(tree, image, name)] if name else []
    if len(showing) > 1:
        own = name_picture(picture or "").rpartition("/")[2]
        alike = [i for i in showing if any(name_picture(a).endswith(own) for a in find_addresses(tree, i.element))]
        return alike or showing
    return showing


def find_fault(tag: str, address: str) -> str:
    """Return the reason why an image is not content, judged by its own tag and URL; "" if there is
    none."""
    if _is_small(tag):
        return "small"
    if not _OTHER.isdisjoint(read_names(tag)):
        return "named as no content"
    address = address.partition("?")[0].lower()
    if address.endswith(".gif") and _HIDDEN.search(tag):
        return "a sign that something loads, hidden"
    if not address or is_tracker(address):
        return "a tracker" if address else "no address"
    return "its file is named as no content" if _is_other_file(address) else ""


def _is_small(tag: str) -> bool:
    sizes = ((read_pixels(tag, "width"), _WIDTH), (read_pixels(tag, "height"), _HEIGHT))
    return any(size is not None and 0 < size <= least for size, least in sizes)


def is_large(tag: str) -> bool:
    """Return whether a tag declares a width or height that is too large for an icon."""
    return any((read_pixels(tag, name) or 0) > least for name, least in (("width", _WIDTH), ("height", _HEIGHT)))


def is_tiny(tag: str) -> bool:
    """Return whether a tag declares both width and height, and neither exceeds the size of an
    icon."""
    sizes = [read_pixels(tag, name) for name in ("width", "height")]
    return all(size is not None and size <= _ICON for size in sizes)


def is_tracker(address: str) -> bool:
    """Return whether a URL belongs to an image that is not meant to be seen."""
    # Searching for each substring is four times as fast as one regular expression for all.
    if any(part in address for part in _TRACKERS):
        return True
    return any(part in address for part in _TRACKER_WORDS) and _TRACKER_WORD.search(address) is not None


def _is_other_file(address: str) -> bool:
    name = address.rpartition("/")[2]
    return _FILE.search(name) is not None and not _OTHER_FILES.isdisjoint(FILE_WORD.findall(name))


def read_pixels(tag: str, name: str) -> int | None:
    """Return the number of pixels in an attribute of a start tag, or None if the attribute contains
    no such number."""
    value = _PIXELS.match(attribute(tag, name) or "")
    return int(value[1]) if value else None
