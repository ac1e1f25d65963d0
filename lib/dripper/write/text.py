"""Converts main HTML to plain text, with the layout of the html-text library (MIT). Scores are
computed on text with this layout. The only difference is that this module writes an empty line for
consecutive line breaks.

Headings, lists and tables get no marks.
"""

from dripper.facts.media.captions import leave_out_captions
from dripper.tree.elements import words
from dripper.tree.lines import IN_WORDS, collapse_lines, find_kept_lines, join_lines, write_annotations
from dripper.tree.read import read_main_html
from dripper.tree.tree import Tree, unescape

_LINE = words(
    "article aside br dd details div dt fieldset figcaption footer form header hr legend li main nav table tr"
)
_PARAGRAPH = words("blockquote dl figure h1 h2 h3 h4 h5 h6 ol p pre title ul")
_CLOSING = ',:;.!?")'
"""Characters that get no space before them at the boundary between two elements."""


def to_text(main_html: str, *, is_pruned: bool = False, with_captions: bool = True) -> str:
    """Return HTML as text, with each paragraph, item and row on its own line. White space is
    collapsed.

    Args:
        main_html: Any HTML. Blank HTML gives "".
        is_pruned: Whether `prune` wrote the HTML for the `dripper` or `paper` profile. Such HTML
            needs no parsing.
        with_captions: Whether to include the captions that were kept only because of their images.

    >>> to_text("<h1>A</h1><p>b <b>c</b>, d<br>e<br><br>f</p>")
    'A\\n\\nb c, d\\ne\\n\\nf'
    """
    if not main_html.strip():
        return ""
    # With 1.0, captions are removed even if they are most of the page's text.
    read_tags = None if with_captions else leave_out_captions
    tree = read_main_html(main_html, read_tags, 1.0, is_pruned=is_pruned)
    tree.parts = write_annotations(tree)
    return write_text(tree)


def write_text(tree: Tree) -> str:
    """Return the text of a tree of main HTML."""
    breaks = {tag: 2 if name in _PARAGRAPH else 1 if name in _LINE else 0 for tag, name in tree.names.items()}
    forced = {tag for tag, name in tree.names.items() if name == "br"}
    chunks: list[str] = []
    in_word = {tag for tag, name in tree.names.items() if name in IN_WORDS}
    kept = find_kept_lines(tree)
    before, lines, was_forced, is_apart = "", 2, False, True
    for index, part in enumerate(tree.parts):
        if index % 2:
            n_breaks = breaks.get(part, 0)
            is_apart = is_apart or part not in in_word
            if part in forced:
                n_breaks, was_forced = 1 + was_forced, True
            if n_breaks > lines:
                chunks.append("\n" * (n_breaks - lines))
                lines = n_breaks
        elif part and (text := " ".join(join_lines(unescape(part)).split())):
            is_gap = before[-1:].isspace() or (is_apart and text[0] not in _CLOSING and before[-1:] != "(")
            if kept and index in kept:
                text = collapse_lines(join_lines(unescape(part))).strip(" ")
            if not lines and is_gap and text[0] != "\n":
                chunks.append(" ")
            chunks.append(text)
            before, lines, was_forced, is_apart = part, len(text) - len(text.rstrip("\n")), False, False
    return "".join(chunks).strip()
