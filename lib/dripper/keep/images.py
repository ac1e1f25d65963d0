"""Lists the images in main content, for the `images` column."""

from dataclasses import dataclass

from dripper.facts.media.captions import pair_captions, read_text
from dripper.facts.media.pictures import find_images, read_pixels
from dripper.facts.media.roles import find_roles
from dripper.tree.tree import Tree, attribute


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image in the main content."""

    address: str
    """The image's URL in main HTML; for a video, the URL of the poster."""
    alt: str | None = None
    """The image's alternative text; None if it has none."""
    caption: str | None = None
    """The image's caption; None if it has none."""
    place: int | None = None
    """Offset of the image's `![` in the Markdown, in characters; None if the Markdown lacks the
    image."""
    width: int | None = None
    """Width in pixels, if the page states it."""
    height: int | None = None
    """Height in pixels; see `width`."""
    role: str = "content"
    """`lead`: the image that the page declares as its own image. `gallery`: one of several adjacent
    images. `icon` or `avatar`: recognised by names or size. Otherwise `content`."""


def list_images(tree: Tree, picture: str | None = None) -> dict[int, ShownImage]:
    """Return the images in main HTML, keyed by element and in document order. Their `place` is
    None.

    Args:
        picture: The URL of the image that the page declares as its own.
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
