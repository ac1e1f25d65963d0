"""Finds the roles of images in main HTML, and removes images that are not content."""

from collections import Counter
from collections.abc import Sequence

from dripper.facts.media.captions import read_names
from dripper.facts.media.pictures import (
    FILE_WORD,
    REPEATED,
    Image,
    find_images,
    find_showing,
    is_large,
    is_tiny,
    is_tracker,
)
from dripper.tree.elements import CELLS, words
from dripper.tree.tree import Tree, attribute, escape_attribute

_ICONS = words("emoji emoticon smiley smilies sprite spacer pixel tracking tracker icon icons bullet")
"""Words in classes and ids of images that are not content, even in the middle of main text."""
_AROUND_ICONS = 4
"""Number of nested elements to examine, from an image outwards."""
_LONGEST_SMILEY = 4
"""Maximum length of a smiley's alternative text, in characters."""
_PEOPLE = words("avatar avatars gravatar headshot userpic")
_SIGNS = _ICONS | words("logo logos badge badges button btn arrow stars rating")
_FEWEST_IN_GALLERY = 3
_APART = 60
"""Two consecutive images in a gallery have fewer than this many parts (strings and tags) between
them."""
_LONGEST_IN_GALLERY = 60
"""Maximum number of characters of text between two consecutive images in a gallery."""


def find_roles(tree: Tree, images: Sequence[Image], picture: str | None) -> list[str]:
    """Return the role of each image of main HTML: lead, gallery, icon, avatar or content.

    At least _FEWEST_IN_GALLERY consecutive images form a gallery if no two neighbours have more
    text between them than a short caption. An image that is shown at least REPEATED times is an
    icon, unless its tag declares a large size. 89 of 4,911 training pages show such images, with
    2,194 occurrences in all: file and status icons, smileys, image placeholders. On five of these
    pages, the images are content.
    """
    showing = set(find_showing(tree, images, picture))
    counts = Counter(attribute(tree.start_tag(image.shown), "src") for image in images)
    roles, run, before = list[str](), list[int](), -1
    for index, image in enumerate(images):
        tag = tree.start_tag(image.shown)
        source = attribute(tag, "src")
        names = {*read_names(tag), *FILE_WORD.findall((source or "").lower().rpartition("/")[2])}
        is_repeated = counts[source] >= REPEATED and not is_large(tag)
        if image in showing:
            roles.append("lead")
        elif not names.isdisjoint(_PEOPLE):
            roles.append("avatar")
        elif is_repeated or not names.isdisjoint(_SIGNS) or is_tiny(tag):
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
    """Change the tree of main HTML: remove the images that are not content (trackers, bullets and
    icons). A smiley is replaced with its alternative text. Icons in table cells are content, and
    are kept."""
    images = find_images(tree)
    counts = Counter(tree.start_tag(image.shown) for image in images)
    for image in images:
        tag = tree.start_tag(image.shown)
        around = {tree.tags[above] for above in tree.nearest(image.element, _AROUND_ICONS)[:-1]}
        alt = (attribute(tag, "alt") or "").strip()
        is_bullet = counts[tag] >= REPEATED and not alt and " title=" not in tag and "figure" not in around
        if tree.tags[image.shown] != "img" or not CELLS.isdisjoint(around):
            continue
        if not (is_bullet and not is_large(tag)) and not _is_other(tag):
            continue
        first = tree.opens[image.element]
        tree.replace(image.element, "")
        for element in range(image.element, tree.lasts[image.element] + 1):
            tree.tags[element] = "span"
        if 0 < len(alt) <= _LONGEST_SMILEY:
            # The new `img` has no URL, so Markdown writes its alternative text. The main text does
            # not change.
            tree.parts[first] = f'<img alt="{escape_attribute(alt)}">'
            tree.names[tree.parts[first]] = tree.tags[image.element] = "img"


def _is_other(tag: str) -> bool:
    """Return whether the names, URL or size in a start tag show that the image is not content."""
    is_named = not _ICONS.isdisjoint(read_names(tag)) or is_tracker((attribute(tag, "src") or "").lower())
    return is_named or is_tiny(tag)
