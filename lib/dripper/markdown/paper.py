"""Markdown as the Dripper paper scored it (4.2.2, "Html+MD"): written by html2text, which is
GPL-3.0 and installed apart."""

from typing import Any

from dripper.optional import import_extra
from dripper.settings import MarkdownSettings


def html2text() -> Any:
    """Return the package html2text. Raises MachineError where it is not installed."""
    return import_extra("html2text", "markdown.converter=html2text needs", "pip install html2text (GPL-3.0-or-later)")


def by_html2text(html: str, settings: MarkdownSettings) -> str:
    """Return HTML as html2text's Markdown, not wrapped; of the settings `links` and `images` apply.
    Raises MachineError."""
    if not html.strip():
        return ""
    converter = html2text().HTML2Text(bodywidth=0)
    converter.ignore_links = settings.links == "text"
    converter.ignore_images = settings.images == "drop"
    return str(converter.handle(html))
