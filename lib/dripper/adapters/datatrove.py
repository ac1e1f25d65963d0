"""Extracts main content in a datatrove pipeline, as a replacement for its `Trafilatura`.

    from dripper.adapters.datatrove import Dripper

    pipeline = [WarcReader("crawl"), Dripper(), GopherQualityFilter(), JsonlWriter("out")]

Pages are processed in a child process under the limits in the settings, as in this project's own
jobs. Pages that fail are dropped. If there is an `exclusion_writer`, it receives them with the
reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

from dripper import extras as optional
from dripper.adapters import Form, PageStep, collect_metadata
from dripper.page.extraction import extract_apart, shared_extractor
from dripper.settings import Settings

with optional.needed("dripper.adapters.datatrove", "datatrove"):
    from datatrove.pipeline.extractors.base import BaseExtractor
    from datatrove.utils.typeshelper import StatHints


class Dripper(PageStep, BaseExtractor):  # type: ignore[misc]
    """Replaces the text of each HTML document with its main content.

    Relative links are resolved against a document's `metadata["url"]`. Title, language, confidence
    and method are added to the document's metadata.

    Args:
        form: `markdown`, `text` or `main_html`.
        labeler, settings, options: As in `dripper.extract`.
        exclusion_writer: A datatrove writer for pages without main content. The text of these
            documents remains the HTML, and `metadata["error_code"]` gives the reason.

    Raises:
        UsageError: The form, the labeler or a setting is invalid.
    """

    name = "💧 Dripper"
    _requires_dependencies: tuple[str, ...] = ()

    def __init__(
        self,
        form: Form = "markdown",
        labeler: str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        exclusion_writer: Any = None,
        **options: Any,
    ) -> None:
        PageStep.__init__(self, form, labeler, settings, **options)
        BaseExtractor.__init__(self, timeout=self.settings.limits.page_wall_seconds)
        self.exclusion_writer = exclusion_writer

    def extract(self, text: str) -> str:
        """Return the main content of one page, or "" if it has none. Uses no child process."""
        return self.select(shared_extractor(self.settings).extract(text))

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yield the documents that have main content."""
        with self.exclusion_writer or nullcontext() as excluded:
            for document in data:
                self.stat_update(StatHints.total)
                with self.track_time():
                    extraction = extract_apart(self.settings, document.text, document.metadata.get("url"))
                    content = self.select(extraction)
                if content:
                    document.text = content
                    document.metadata.update(collect_metadata(extraction))
                    self.stat_update("extracted", StatHints.forwarded)
                    self.update_doc_stats(document)
                    yield document
                    continue
                reason = extraction.error_code.value if extraction.error_code else "no_main_content"
                self.stat_update(StatHints.dropped, f"dropped_{reason}")
                if excluded is not None:
                    document.metadata.update(error_code=reason, error_detail=extraction.error_detail or "")
                    excluded.write(document, rank)
