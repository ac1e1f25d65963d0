"""Reads main HTML, or any HTML, into a tree."""

from dripper.tree.elements import HTML_VOID
from dripper.tree.parser import parse_document
from dripper.tree.scan import ReadTags, UnbalancedMarkupError, scan
from dripper.tree.tree import Tree, escape


def read_main_html(
    html: str, read_tags: ReadTags | None = None, hidden_share: float = 1.0, *, is_pruned: bool = False
) -> Tree:
    """Parse HTML into a tree.

    Args:
        read_tags, hidden_share: See `scan`.
        is_pruned: Whether `keep.cut` wrote the HTML. Such HTML is parsed only if its tags are
            unbalanced.
    """
    if is_pruned:
        try:
            return scan(html, HTML_VOID, read_tags, hidden_share)
        except UnbalancedMarkupError:
            pass
    document = parse_document(html)
    document.strip_tags(["script", "style", "template", "noembed", "noframes", "iframe", "xmp", "plaintext"])
    try:
        return scan(document.html or "<html></html>", HTML_VOID, read_tags, hidden_share, has_blanks=True)
    except UnbalancedMarkupError:
        # The parser is not known to write unbalanced tags.
        return scan(f"<html>{escape(document.text())}</html>", HTML_VOID)
