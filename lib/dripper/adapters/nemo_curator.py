"""Extracts main content in NeMo Curator's download stages.

    CommonCrawlDownloadExtractStage(…, html_extraction=DripperAlgorithm())

replaces Curator's jusText. Curator still detects the language first, and drops pages in languages
for which it has no stop words.

    DocumentDownloadExtractStage(…, iterator=CommonCrawlWarcIterator(),
                                 extractor=DripperExtractor())

replaces the whole `CommonCrawlHTMLExtractor`: it takes every language, uses the page's address, and
gives the reason where there is no content.

Both work in Curator's own process, which cannot safely be forked as it has threads. So the limits
of the HTML parser hold, but those of CPU time and memory do not.
"""

import re
from collections.abc import Mapping
from typing import Any

from dripper import extras as optional
from dripper.adapters import Form, check_step_settings, select_text
from dripper.config import Settings
from dripper.page.extraction import shared_extractor

with optional.needed("dripper.adapters.nemo_curator", "nemo"):
    from nemo_curator.stages.text.download import DocumentExtractor
    from nemo_curator.stages.text.download.html_extractors import HTMLExtractorAlgorithm

_BETWEEN = re.compile(r"\n{2,}")


class DripperAlgorithm(HTMLExtractorAlgorithm):  # type: ignore[misc]
    """Extracts the main content of a page as paragraphs, which Curator joins again.

    Args:
        form, labeler, settings, options: See `DripperExtractor`.
    """

    def __init__(
        self,
        form: Form = "markdown",
        labeler: str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.settings = check_step_settings(labeler, settings, options, form)
        self.form = form

    def extract_text(self, html: str, stop_words: frozenset[str], language: str) -> list[str] | None:
        """Return the paragraphs, or None without any. Ignores `stop_words` and `language`."""
        text = select_text(shared_extractor(self.settings).extract(html), self.form).strip()
        return _BETWEEN.split(text) if text else None


class DripperExtractor(DocumentExtractor):  # type: ignore[misc]
    """Extracts the main content (`text`) of a record that holds a page as bytes (`content`).

    Args:
        form: `markdown`, `text` or `main_html`.
        labeler, settings, options: As `dripper.extract` takes them.
        keep_failed: Keep pages without main content as records without text, whose `error_code`
            gives the reason. By default they are left out, as Curator's own extractors do.

    Raises:
        UsageError: The labeler or a setting cannot work.
    """

    def __init__(
        self,
        form: Form = "markdown",
        labeler: str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        keep_failed: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        self.settings = check_step_settings(labeler, settings, options, form)
        self.form = form
        self.keep_failed = keep_failed

    def extract(self, record: dict[str, Any]) -> dict[str, Any] | None:
        """Return the record with its text; None where there is none and `keep_failed` is not
        set."""
        extraction = shared_extractor(self.settings).extract(record.get("content") or b"", record.get("url"))
        text = select_text(extraction, self.form)
        if not text and not self.keep_failed:
            return None
        kept = {name: record.get(name) for name in ("url", "warc_id", "source_id")}
        fields = {
            "language": extraction.language,
            "title": extraction.title,
            "confidence": extraction.confidence,
            "error_code": extraction.error_code.value if extraction.error_code else None,
        }
        return kept | fields | {"text": text}

    def input_columns(self) -> list[str]:
        """Return the columns that a record must have."""
        return ["url", "warc_id", "source_id", "content"]

    def output_columns(self) -> list[str]:
        """Return the columns that a record has afterwards."""
        return ["url", "warc_id", "source_id", "language", "title", "confidence", "error_code", "text"]
