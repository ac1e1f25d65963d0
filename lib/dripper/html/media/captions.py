"""Marks captions that are kept for their images' sake, whatever their labels say, so that main HTML
and Markdown have them and the main text, which the labels decide, has not."""

from dripper.html.tree.scan import StartTag

_MARK = ' data-dripper="caption">'


def mark_caption(tag: str) -> str:
    """Return a caption's start tag with the mark."""
    return tag[:-1] + _MARK


def leave_out_captions(tags: list[str]) -> dict[str, StartTag]:
    """Return the start tags of marked captions, to be cut out with their elements."""
    return {tag: StartTag(tag, hidden=True) for tag in tags if tag.endswith(_MARK)}
