"""Converts pages to Haystack documents, as a replacement for Haystack's `HTMLToDocument`.

    from dripper.adapters.haystack import DripperConverter

    documents = DripperConverter().run(sources=["page.html"])["documents"]

The sources are files or Haystack byte streams.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dripper import extras as optional
from dripper.adapters import Form, PageStep, collect_metadata
from dripper.local.many import extract_many

with optional.needed("dripper.adapters.haystack", "haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.components.converters.utils import get_bytestream_from_source, normalize_metadata
    from haystack.dataclasses import ByteStream

logger = logging.getLogger(__name__)


@component
class DripperConverter(PageStep):
    """Converts each page to a document with its main content and metadata.

    Args:
        form: `markdown`, `text` or `main_html`.
        labeler, settings: As in `dripper.extract`, but only plain values, because Haystack saves
            them with the pipeline.
        jobs: The number of processes; by default one per processor.

    Raises:
        UsageError: The form, the labeler or a setting is invalid.
    """

    def __init__(
        self,
        form: Form = "markdown",
        labeler: str | None = None,
        settings: Mapping[str, Any] | None = None,
        jobs: int | None = None,
    ) -> None:
        # Not super(), because the decorator replaces this class with another.
        PageStep.__init__(self, form, labeler, settings)
        self._given = {"form": form, "labeler": labeler, "settings": dict(settings or {}), "jobs": jobs}
        self._jobs = jobs

    def to_dict(self) -> dict[str, Any]:
        """Return the component in the form that Haystack saves."""
        return dict(default_to_dict(self, **self._given))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "DripperConverter":
        """Return the component from its saved form."""
        component: DripperConverter = default_from_dict(cls, data)
        return component

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(
        self,
        sources: list[str | Path | ByteStream],
        meta: dict[str, Any] | list[dict[str, Any]] | None = None,
    ) -> dict[str, list[Document]]:
        """Return documents for the sources that have main content, and log a warning for every
        other source. Relative links are resolved against the `url` in a source's metadata."""
        pages, metadata = list[tuple[bytes, str | None]](), list[dict[str, Any]]()
        for source, its_meta in zip(sources, normalize_metadata(meta, len(sources)), strict=True):
            try:
                stream = get_bytestream_from_source(source)
            except OSError as error:
                logger.warning("%s cannot be read: %s", source, error)
                continue
            metadata.append(stream.meta | its_meta)
            pages.append((stream.data, metadata[-1].get("url")))
        documents = []
        extractions = extract_many(pages, settings=self.settings, jobs=self._jobs)
        for of_page, extraction in zip(metadata, extractions, strict=True):
            text = self.select_or_warn(extraction, of_page.get("url") or of_page.get("file_path", "a page"))
            if text:
                documents.append(Document(content=text, meta=of_page | collect_metadata(extraction)))
        return {"documents": documents}
