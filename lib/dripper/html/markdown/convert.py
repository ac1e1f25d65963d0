"""Converts main HTML to Markdown for readers; `convert_with_html2text` writes the form that the
Dripper paper scored (4.2.2, "Html+MD"; GPL-3.0, installed apart).

The module `writer` describes the method.
"""

import sys
from typing import Any

from dripper.extras import import_extra
from dripper.html.markdown.output import NO_HEADS, Heads, Markdown, Output
from dripper.html.markdown.text import read_main_html
from dripper.html.markdown.writer import Writer
from dripper.html.tree.tree import Tree
from dripper.settings import MarkdownSettings


def load_html2text() -> Any:
    """Return the package html2text. Raises MachineError if it is not installed."""
    return import_extra("html2text", "markdown.converter=html2text needs", "pip install html2text (GPL-3.0-or-later)")


def convert_with_html2text(html: str, settings: MarkdownSettings) -> str:
    """Return HTML as html2text's Markdown, not wrapped. Only the settings `links` and `images`
    apply. Raises MachineError."""
    if not html.strip():
        return ""
    converter = load_html2text().HTML2Text(bodywidth=0)
    converter.ignore_links = settings.links == "text"
    converter.ignore_images = settings.images == "drop"
    return str(converter.handle(html))


DEFAULT_MARKDOWN = MarkdownSettings()


def to_markdown(main_html: str, *, is_pruned: bool = False, settings: MarkdownSettings = DEFAULT_MARKDOWN) -> str:
    """Return HTML as Markdown: headings, lists and their numbers, tables, code, formulas, links,
    image texts; not wrapped.

    main_html: any HTML; "" gives "". is_pruned: `prune` wrote the HTML for the profile `dripper` or
    `paper`; then nothing has to be parsed, which saves a fifth of the time. The Markdown ends with
    one newline. The page's text stays text, even if it looks like Markdown (see `inert`), and no
    address leads to a script. Raises only PageError(OUTPUT_TOO_LARGE), if the Markdown is longer
    than `html.tree.parser.output_limit(len(main_html))`.

    >>> to_markdown("<p>See <a href='/x'>the\\nmap</a>.", settings=MarkdownSettings(links="text"))
    'See the map.\\n'
    """
    if not main_html.strip():
        return ""
    return write_markdown(read_main_html(main_html, is_pruned=is_pruned), settings).text


def write_markdown(tree: Tree, settings: MarkdownSettings = DEFAULT_MARKDOWN, heads: Heads = NO_HEADS) -> Markdown:
    """Return the Markdown of a tree of main HTML.

    Args:
        heads: The lines above the content and above posts.
    """
    if settings.converter != "html2text":
        return Writer(tree, settings, heads).write()
    output = Output(sys.maxsize, heads)
    output.write(convert_with_html2text("".join(tree.parts), settings).strip().split("\n"))
    return output.finish()
