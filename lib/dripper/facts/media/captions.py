"""Finds captions and the images that they belong to.

The caption of a main image is kept even if the caption's own label is not main. Such captions get a
mark. Main HTML and Markdown show them. The main text depends only on the labels, so it leaves these
captions out.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from dripper.tree.elements import HEADINGS, words
from dripper.tree.scan import StartTag
from dripper.tree.tree import Tree, unescape

IMAGES = words("img amp-img picture video")
"""Elements that show an image; a `video` shows its poster."""
LONGEST_CAPTION = 400
"""Maximum length of a caption, in characters."""
_CAPTIONS = words("caption captiontext gallerytext imagecaption photocaption thumbcaption")
"""Words in the class names of captions; `gallerytext` and `thumbcaption` are MediaWiki's."""
_MOST_ABOVE = 5
"""Maximum number of levels from a caption up to the element that contains the caption and its
image."""
_MOST_SHARING = 8
"""Maximum number of images that share a caption."""
_CREDIT = 25
"""Maximum number of characters between a caption and its image. Text this short is a credit or a
button."""
_MARK = ' data-dripper="caption">'
_NAMED = re.compile(r' (?:class|id|role|itemprop)="([^"]{1,200})')
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def mark_caption(tag: str) -> str:
    """Return a caption's start tag with the mark."""
    return tag[:-1] + _MARK


def leave_out_captions(tags: list[str]) -> dict[str, StartTag]:
    """Return the start tags of marked captions, set to hidden, so that the captions are removed."""
    return {tag: StartTag(tag, hidden=True) for tag in tags if tag.endswith(_MARK)}


def _find_captions(tree: Tree) -> list[int]:
    """Return the elements with a caption's name or class that contain text but no image."""
    tags = {tag for tag in tree.names if ("caption" in tag or "gallerytext" in tag) and tag[1] != "/"}
    tags = {tag for tag in tags if tree.names[tag] == "figcaption" or not _CAPTIONS.isdisjoint(read_names(tag))}
    if not tags:
        return []
    captions = [element for element, part in enumerate(tree.opens) if tree.parts[part] in tags]
    return [element for element in captions if _is_caption(tree, element)]


def _is_caption(tree: Tree, element: int) -> bool:
    if tree.lasts[element] - element > LONGEST_CAPTION:
        return False
    inside = tree.tags[element : tree.lasts[element] + 1]
    if inside[0] == "table" or not IMAGES.isdisjoint(inside) or ("a" in inside and not HEADINGS.isdisjoint(inside)):
        return False
    return 0 < len(read_text(tree, element)) <= LONGEST_CAPTION


def pair_captions(tree: Tree, images: Sequence[int]) -> list[tuple[int, Sequence[int]]]:
    """Return each caption with its images. The images are searched for in the nearest element
    around the caption that contains images. If this element is a `figure`, all its images belong to
    the caption. Otherwise, only the images next to the caption do: the text between them, apart
    from other captions, must be no longer than a credit (`_CREDIT`). On 88 of 4,911 training pages,
    a caption's class was used for other text: review counts, prices, notes under a form.

    Args:
        images: All images, in document order.
    """
    captions = _find_captions(tree) if images else []
    if not captions:
        return []
    said = _count_said(tree, captions)
    return [(caption, _find_captioned(tree, caption, images, said)) for caption in captions]


def _count_said(tree: Tree, captions: Sequence[int]) -> list[int]:
    """Return the number of characters before each text, not counting captions."""
    sizes = [len(text.strip()) for text in tree.parts[::2]]
    for caption in captions:
        first, last = tree.opens[caption] // 2 + 1, tree.closes[caption] // 2 + 1
        sizes[first:last] = [0] * (last - first)
    return list(accumulate(sizes, initial=0))


def _find_captioned(tree: Tree, caption: int, images: Sequence[int], said: Sequence[int]) -> Sequence[int]:
    above = caption
    for _ in range(_MOST_ABOVE):
        above = tree.parents[above]
        if above < 0:
            break
        first, last = bisect_left(images, above), bisect_left(images, tree.lasts[above] + 1)
        if first < last:
            if tree.tags[above] != "figure":
                at = bisect_left(images, caption, first, last)
                before = images[max(first, at - _MOST_SHARING - 1) : at]
                n_before = _count_beside(tree, caption, before[::-1], said)
                behind = [] if n_before else images[at : min(last, at + _MOST_SHARING + 1)]
                first, last = at - n_before, at + _count_beside(tree, caption, behind, said)
            return images[first:last] if last - first <= _MOST_SHARING else []
    return []


def _count_beside(tree: Tree, caption: int, images: Sequence[int], said: Sequence[int]) -> int:
    """Count the consecutive images on one side of a caption. The count stops at a gap that has more
    text than a credit.

    Args:
        images: The images on that side, the nearest first.
    """
    before = caption
    for number, image in enumerate(images):
        left, right = sorted((before, image))
        if said[tree.opens[right] // 2 + 1] - said[tree.closes[left] // 2 + 1] > _CREDIT:
            return number
        before = image
    return len(images)


def read_text(tree: Tree, element: int) -> str:
    """Return an element's text on one line, with spaces between its parts."""
    return " ".join(unescape(" ".join(tree.parts[tree.opens[element] + 1 : tree.closes[element] : 2])).split())


def read_names(tag: str) -> list[str]:
    """Return the words in a start tag's classes and ids, in lower case."""
    if " class=" not in tag and " id=" not in tag:
        return []
    return [word.lower() for word in _WORD.findall(" ".join(_NAMED.findall(tag)))]
