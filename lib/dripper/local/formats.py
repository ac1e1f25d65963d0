"""Writes one page's extraction as text, in the formats of `dripper extract`."""

import json
from collections.abc import Callable
from typing import NamedTuple

import yaml

from dripper.doors import Doors
from dripper.facts.metadata import Metadata
from dripper.page.extraction import Extraction


class Format(NamedTuple):
    """An output format."""

    write: Callable[[Extraction, str | None], str]
    """Formats an extraction as text. The second argument is the page's URL, or None."""
    ending: str
    """The extension of a file in this format."""
    media_type: str
    holds_errors: bool = False
    """Whether the format can represent an error code."""


def _write_json(extraction: Extraction, url: str | None, indent: int | None = 2) -> str:
    row = extraction.to_dict() | {"url": extraction.url or url}
    return json.dumps(row, ensure_ascii=False, indent=indent)


def _write_tei(extraction: Extraction, url: str | None) -> str:
    from dripper.write.tei import TeiSource, to_tei

    metadata = extraction.metadata or Metadata()
    source = TeiSource(
        title=extraction.title,
        url=url or extraction.url or "",
        author=", ".join(metadata.authors),
        date=metadata.published or "",
        language=extraction.language or "",
        site=metadata.site or "",
        description=metadata.description or "",
    )
    return to_tei(extraction.main_html, source)


MARKDOWN = Format(lambda extraction, _: extraction.markdown, ".md", "text/markdown")
TEXT = Format(lambda extraction, _: extraction.text, ".txt", "text/plain")
HTML = Format(lambda extraction, _: extraction.main_html, ".html", "text/html")
JSON = Format(_write_json, ".json", "application/json", True)
XML_TEI = Format(_write_tei, ".xml", "application/xml")
JSON_LINE = Format(lambda extraction, url: _write_json(extraction, url, None), ".json", "application/json", True)

FORMATS: Doors[Format] = Doors(
    "format",
    "dripper.formats",
    {
        "markdown": f"{__name__}:MARKDOWN",
        "text": f"{__name__}:TEXT",
        "html": f"{__name__}:HTML",
        "json": f"{__name__}:JSON",
        "xml-tei": f"{__name__}:XML_TEI",
        "jsonl": f"{__name__}:JSON_LINE",
    },
)
"""Formats, keyed by name."""


def write_front_matter(extraction: Extraction, url: str | None) -> str:
    """Return front matter for a Markdown file: YAML between `---` lines, for site generators and
    note-taking programs. Missing fields are left out.

    >>> print(write_front_matter(Extraction(title="Rain: a report", language="en"), "https://e.org/a"))
    ---
    title: 'Rain: a report'
    url: https://e.org/a
    language: en
    ---
    <BLANKLINE>
    """
    metadata = extraction.metadata or Metadata()
    fields = {
        "title": extraction.title,
        "url": url or extraction.url,
        "authors": list(metadata.authors),
        "published": metadata.published,
        "modified": metadata.modified,
        "site": metadata.site,
        "language": extraction.language,
        "description": metadata.description,
        "tags": list(metadata.tags),
        "image": metadata.image,
        "page_kind": extraction.page_kind,
        "confidence": extraction.confidence,
    }
    filled = {name: value for name, value in fields.items() if value not in (None, "", [])}
    return f"---\n{yaml.safe_dump(filled, allow_unicode=True, sort_keys=False, width=1 << 20)}---\n"
