"""From main HTML to text for readers: Markdown, or plain text as the published scores use it."""

import html2text


def to_markdown(main_html: str) -> str:
    """Return the HTML as Markdown: headings, lists, tables, code, links and image texts kept, nothing wrapped or
    escaped.
    """
    return _converter(links=True).handle(main_html).strip() + "\n" if main_html.strip() else ""


def to_text(main_html: str) -> str:
    """Return the HTML as the text that scores are computed on: html2text without links and images (Dripper paper
    4.1).
    """
    return _converter(links=False).handle(main_html) if main_html.strip() else ""


def _converter(*, links: bool) -> html2text.HTML2Text:
    converter = html2text.HTML2Text(bodywidth=0)
    converter.ignore_links = converter.ignore_images = not links
    converter.escape_snob = False
    converter.unicode_snob = True
    return converter
