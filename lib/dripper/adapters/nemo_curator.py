"""Extractors for NeMo Curator's download stages.

    CommonCrawlDownloadExtractStage(…, html_extraction=DripperAlgorithm())

takes the place of its jusText and keeps its detector and stop lists: pages in languages without one
are dropped.

    DocumentDownloadExtractStage(…, iterator=CommonCrawlWarcIterator(),
                                 extractor=DripperExtractor())

takes the place of the whole `CommonCrawlHTMLExtractor`: every language, the page's address, and why
there is nothing.

Both work in Curator's own process, whose threads forbid to fork another: the limits of the HTML
parser hold, those of CPU time and memory do not.
"""

import re
from collections.abc import Mapping
from typing import Any

from dripper import extras as optional
from dripper.adapters import Form, asked_settings, text_of
from dripper.config import Settings
from dripper.page.extraction import shared_extractor

with optional.needed("dripper.adapters.nemo_curator", "nemo"):
    from nemo_curator.stages.text.download import DocumentExtractor
    from nemo_curator.stages.text.download.html_extractors import HTMLExtractorAlgorithm

_BETWEEN = re.compile(r"\n{2,}")


class DripperAlgorithm(HTMLExtractorAlgorithm):  # type: ignore[misc]
    """The main content of a page as paragraphs, which Curator joins again.

    form, labeler, settings, options: as `DripperExtractor`.
    """

    def __init__(
        self,
        form: Form = "markdown",
        labeler: str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.settings = asked_settings(labeler, settings, options, form)
        self.form = form

    def extract_text(self, html: str, stop_words: frozenset[str], language: str) -> list[str] | None:
        """Return the paragraphs, None where there are none. stop_words, language: not used."""
        text = text_of(shared_extractor(self.settings).extract(html), self.form).strip()
        return _BETWEEN.split(text) if text else None


class DripperExtractor(DocumentExtractor):  # type: ignore[misc]
    """From a record with the page as bytes (`content`) to its main content (`text`).

    form: `markdown`, `text` or `main_html`. labeler, settings, options: as `dripper.extract` takes
    them. keep_failed: pages without main content stay as records without text, whose `error_code`
    says why; else they are left out, as Curator's own do. Raises UsageError for a labeler or
    setting that cannot work.
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
        self.settings = asked_settings(labeler, settings, options, form)
        self.form = form
        self.keep_failed = keep_failed

    def extract(self, record: dict[str, Any]) -> dict[str, Any] | None:
        """Return the record with its text; None where there is none and `keep_failed` is not
        set."""
        made = shared_extractor(self.settings).extract(record.get("content") or b"", record.get("url"))
        text = text_of(made, self.form)
        if not text and not self.keep_failed:
            return None
        kept = {name: record.get(name) for name in ("url", "warc_id", "source_id")}
        code = made.error_code.value if made.error_code else None
        told = {"language": made.language, "title": made.title, "confidence": made.confidence, "error_code": code}
        return kept | told | {"text": text}

    def input_columns(self) -> list[str]:
        """Return what a record has to have."""
        return ["url", "warc_id", "source_id", "content"]

    def output_columns(self) -> list[str]:
        """Return what a record has afterwards."""
        return ["url", "warc_id", "source_id", "language", "title", "confidence", "error_code", "text"]
