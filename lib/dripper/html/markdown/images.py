"""Lists the images of main content: the column `images`."""

from dataclasses import dataclass

from dripper.html.media.captions import pair_captions, read_text
from dripper.html.media.pictures import find_images, read_pixels
from dripper.html.media.roles import find_roles
from dripper.html.tree.tree import Tree, attribute


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image of the main content."""

    address: str
    """The address of the image in main HTML, or of the poster of a video."""
    alt: str | None = None
    """The text in place of the image; None if the page has none."""
    caption: str | None = None
    """The text under it."""
    place: int | None = None
    """Offset of its `![` in the Markdown, in characters; None if it is not there."""
    width: int | None = None
    """Pixels, as stated; None: not stated."""
    height: int | None = None
    """Pixels, see `width`."""
    role: str = "content"
    """lead: the picture that the page declares as its own; gallery: one of several pictures side by
    side; icon, avatar: recognised by its names or its size; otherwise content."""


def list_images(tree: Tree, picture: str | None = None) -> dict[int, ShownImage]:
    """Return the images of a tree of main HTML by element, in document order, without their places.

    Args:
        picture: The address of the picture that the page declares as its own.
    """
    images = find_images(tree)
    roles = find_roles(tree, images, picture)
    captions: dict[int, str] = {}
    elements = [image.element for image in images]
    for caption, captioned in pair_captions(tree, elements):
        captions |= dict.fromkeys(captioned, read_text(tree, caption))
    listed: dict[int, ShownImage] = {}
    for (element, inner), role in zip(images, roles, strict=True):
        tag = tree.start_tag(inner)
        address = (attribute(tag, "poster" if tree.tags[inner] == "video" else "src") or "").strip()
        if address and not address.startswith("data:"):
            alt = " ".join((attribute(tag, "alt") or "").split()) or None
            width, height = read_pixels(tag, "width") or None, read_pixels(tag, "height") or None
            listed[inner] = ShownImage(address, alt, captions.get(element), None, width, height, role)
    return listed
