"""Reads pages with other Python extractors and converters: `python read_pages.py READER PAGES`
prints a JSON list of {markdown, title, author}, with an entry for each page in the file PAGES.

A value that a reader does not return is null.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ADDRESS = "https://example.org/notes/mill.html"
Answer = dict[str, Any]


def by_trafilatura(page: str) -> Answer:
    """Trafilatura with all options for Markdown enabled."""
    import trafilatura

    shown = {"include_links": True, "include_images": True, "include_formatting": True, "include_tables": True}
    about = trafilatura.extract_metadata(page, default_url=ADDRESS)
    text = trafilatura.extract(page, url=ADDRESS, output_format="markdown", **shown)
    return {"markdown": text or "", "title": about.title or "", "author": about.author or ""}


def by_rs_trafilatura(page: str) -> Answer:
    """rs-trafilatura's Markdown."""
    import rs_trafilatura

    read = rs_trafilatura.extract(page, url=ADDRESS, include_links=True, include_images=True, output_markdown=True)
    return {"markdown": read.content_markdown or "", "title": read.title or "", "author": read.author or ""}


def by_resiliparse(page: str) -> Answer:
    """Resiliparse, which returns plain text."""
    from resiliparse.extract.html2text import extract_plain_text

    return {"text": extract_plain_text(page, main_content=True, alt_texts=True)}


def by_html_to_markdown(page: str) -> Answer:
    """html-to-markdown, which converts the whole page."""
    from html_to_markdown import convert

    return {"markdown": convert(page).content}


def by_html2text(page: str) -> Answer:
    """html2text, which converts the whole page."""
    import html2text

    converter = html2text.HTML2Text(baseurl=ADDRESS, bodywidth=0)
    return {"markdown": converter.handle(page)}


READERS: dict[str, Callable[[str], Answer]] = {
    "Trafilatura": by_trafilatura,
    "rs-trafilatura": by_rs_trafilatura,
    "Resiliparse": by_resiliparse,
    "html-to-markdown": by_html_to_markdown,
    "html2text": by_html2text,
}


def main(reader: str, pages: str) -> None:
    """Print the answers."""
    print(json.dumps([READERS[reader](page) for page in json.loads(Path(pages).read_text())]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
