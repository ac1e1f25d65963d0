"""Turns `video` elements, `audio` elements, and the frames of known players into links. Archives do
not contain the documents of such frames.

The parser drops frames, because they show nothing. The frame of a known player is replaced with a
placeholder (`STAND_IN`): an empty inline element with the player's URL. A placeholder changes no
block and no label. Like an image, a placeholder is main if its position among the blocks is main.
"""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dripper.facts.media.captions import mark_caption
from dripper.tree.inert import clean_inert_address
from dripper.tree.tree import Tree, attribute, escape_attribute

STAND_IN = "bdo"
"""The placeholder's element name. Pages do not use this inline element, and the labelers' features
ignore it."""
_ADDRESS = "data-dripper-player"
_PLAYER = re.compile(
    r"(?:https?:)?//(?:(?:www\.)?(?:youtube(?:-nocookie)?\.com/embed/[\w-]|dailymotion\.com/embed/|ted\.com/talks|"
    r"facebook\.com/plugins/video|rutube\.ru/play/embed/|ok\.ru/videoembed/|vk\.com/video_ext|loom\.com/embed/|"
    r"streamable\.com/|bandcamp\.com/EmbeddedPlayer|mixcloud\.com/widget)|embed\.ted\.com/|player\.vimeo\.com/video/|"
    r"player\.twitch\.tv/|player\.bilibili\.com/|player\.youku\.com/embed/|players?\.brightcove\.net/|"
    r"w\.soundcloud\.com/player|open\.spotify\.com/embed|embed\.podcasts\.apple\.com/|fast\.wistia\.(?:com|net)/embed|"
    r"geo\.dailymotion\.com/player|archive\.org/embed/)[^\s\"'<>\\]*"
)
_LAZY = ("src", "data-src", "data-lazy-src", "data-litespeed-src", "data-cmp-src")
_YOUTUBE = re.compile(r".*youtube(?:-nocookie)?\.com/embed/([\w-]{6,20})(?!.*[?&]list=)")
_VIMEO = re.compile(r".*player\.vimeo\.com/video/(\d+)")
_FILMS = frozenset({"video", "audio"})


def replace_frame(document: LexborHTMLParser, frame: LexborNode) -> bool:
    """Replace a frame of a known player with a placeholder. Return whether the frame was
    replaced."""
    values = frame.attributes
    address = next(
        (value for name in _LAZY if (value := (values.get(name) or "").strip()) and _PLAYER.match(value)), ""
    )
    if not address:
        return False
    stand_in = document.create_node(STAND_IN)
    stand_in.attrs[_ADDRESS] = write_watched(address)
    frame.replace_with(stand_in)
    return True


def write_watched(address: str) -> str:
    """Return the URL that people use to share a player's video.

    >>> write_watched("//www.youtube.com/embed/dQw4w9WgXcQ?rel=0")
    'https://www.youtube.com/watch?v=dQw4w9WgXcQ'
    """
    if match := _YOUTUBE.match(address):
        return f"https://www.youtube.com/watch?v={match[1]}"
    if match := _VIMEO.match(address):
        return f"https://vimeo.com/{match[1]}"
    return f"https:{address}" if address.startswith("//") else address


def find_films(tree: Tree) -> list[int]:
    """Return the videos, audio elements and placeholders that have a URL, in document order."""
    if _FILMS.isdisjoint(tree.tags) and STAND_IN not in tree.tags:
        return []
    films, end = list[int](), -1
    for element, tag in enumerate(tree.tags):
        # Skip elements inside a video: they have the same URL, or are for browsers without video.
        if (tag in _FILMS and element > end) or tag == STAND_IN:
            end = max(end, tree.lasts[element])
            if read_film(tree, element):
                films.append(element)
    return films


def read_film(tree: Tree, element: int) -> str:
    """Return the URL of a video, audio element or placeholder, as written; "" if it has none."""
    if tree.tags[element] == STAND_IN:
        return attribute(tree.start_tag(element), _ADDRESS) or ""
    inside = range(element, tree.lasts[element] + 1)
    sources = (
        attribute(tree.start_tag(each), "src") for each in inside if tree.tags[each] in ("video", "audio", "source")
    )
    address = next((source.strip() for source in sources if source and source.strip()), "")
    return "" if address.startswith(("data:", "blob:")) else address


def link_films(tree: Tree) -> list[int]:
    """Insert a link into each video and audio element in main HTML, and replace each placeholder
    with a link. The links are marked as captions, because they are not text of the page.

    Each link adds four parts. The caller must rebuild the tree from its parts. Return the old
    indexes of the parts before which links were inserted, in ascending order."""
    links = list[tuple[int, list[str]]]()
    for element in find_films(tree):
        address = clean_inert_address(read_film(tree, element)) or ""
        if not address or not tree.parts[tree.opens[element]]:
            continue
        tag = mark_caption(f'<a href="{escape_attribute(address)}">')
        first, last = tree.opens[element], tree.closes[element]
        if tree.tags[element] == STAND_IN:
            tree.replace(element, "")
        else:
            # The text inside is for browsers without video support.
            tree.parts[first + 1 : last : 2] = [""] * ((last - first) // 2)
        links.append((last, [tag, escape_attribute(address), "</a>", ""]))
    links.sort()
    for last, link in reversed(links):
        tree.parts[last:last] = link
    return [last for last, _ in links]
