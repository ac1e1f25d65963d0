"""The forms in which one page's extraction is printed."""

import dataclasses
import json
from collections.abc import Callable, Mapping

from dripper.extraction import Extraction
from dripper.metadata import Metadata
from dripper.tei import TeiSource, to_tei


def _json(extraction: Extraction, url: str | None, indent: int | None = 2) -> str:
    return json.dumps(dataclasses.asdict(extraction) | {"url": url}, ensure_ascii=False, indent=indent)


def _tei(extraction: Extraction, url: str | None) -> str:
    metadata = extraction.metadata or Metadata()
    source = TeiSource(
        title=metadata.title or extraction.title,
        url=url or metadata.canonical_url or "",
        author=", ".join(metadata.authors),
        date=metadata.published or "",
        language=extraction.language or "",
    )
    return to_tei(extraction.main_html, source)


FORMATS: Mapping[str, Callable[[Extraction, str | None], str]] = {
    "markdown": lambda extraction, _: extraction.markdown,
    "text": lambda extraction, _: extraction.text,
    "html": lambda extraction, _: extraction.main_html,
    "json": _json,
    "xml-tei": _tei,
    "jsonl": lambda extraction, url: _json(extraction, url, None),
}
TELL_ERRORS = frozenset({"json", "jsonl"})
"""The forms that have a place for an error code."""
