"""Converts main HTML to Markdown. The `writer` module describes the method.

`convert_with_html2text` writes the Markdown that the Dripper paper scores (4.2.2, "Html+MD"). It
needs html2text, a GPL-3.0 package that is installed separately.
"""

import sys
from typing import Any

from dripper.extras import import_extra
from dripper.settings import MarkdownSettings
from dripper.tree.read import read_main_html
from dripper.tree.tree import Tree
from dripper.write.markdown.output import NO_HEADS, Heads, Markdown, Output
from dripper.write.markdown.writer import Writer


def load_html2text() -> Any:
    """Return the html2text package. Raises MachineError if it is not installed."""
    return import_extra("html2text", "markdown.converter=html2text needs", "pip install html2text (GPL-3.0-or-later)")


def convert_with_html2text(html: str, settings: MarkdownSettings) -> str:
    """Convert HTML to Markdown with html2text, without wrapping lines. Only the settings `links`
    and `images` apply. Raises MachineError if html2text is not installed."""
    if not html.strip():
        return ""
    converter = load_html2text().HTML2Text(bodywidth=0)
    converter.ignore_links = settings.links == "text"
    converter.ignore_images = settings.images == "drop"
    return str(converter.handle(html))


DEFAULT_MARKDOWN = MarkdownSettings()


def to_markdown(main_html: str, *, is_pruned: bool = False, settings: MarkdownSettings = DEFAULT_MARKDOWN) -> str:
    """Return HTML as Markdown, with headings, numbered lists, tables, code, formulas, links and
    images. Lines are not wrapped.

    The Markdown ends with one newline. Page text that looks like Markdown is escaped (see
    `write.markdown.inert`). No link points to a script.

    Args:
        main_html: Any HTML. Blank HTML gives "".
        is_pruned: Whether `prune` wrote the HTML for the `dripper` or `paper` profile. Such HTML
            needs no parsing, which saves a fifth of the time.

    Raises:
        PageError: OUTPUT_TOO_LARGE, if the Markdown is longer than
            `tree.parser.output_limit(len(main_html))`.
        MachineError: The `converter` setting is html2text, and html2text is not installed.

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
