"""Selects a document's text and metadata from an extraction, for the adapters to other libraries.

Pipeline steps are in `dripper.adapters.datatrove`, `dripper.adapters.nemo_curator` and
`dripper.adapters.ray_data`. The modules `langchain`, `llama_index` and `haystack` load documents,
and `scrapy` has an item pipeline. Each module needs the library in its name. The extras
`datatrove`, `nemo`, `ray`, `langchain`, `llama-index`, `haystack` and `scrapy` install these
libraries.
"""

import logging
from collections.abc import Mapping
from typing import Any, Literal, get_args

from dripper.errors import SettingsError
from dripper.facts.metadata import Metadata
from dripper.page.extraction import Extraction, checked_settings
from dripper.settings import Settings

logger = logging.getLogger(__name__)

Form = Literal["markdown", "text", "main_html"]


class PageStep:
    """A step that turns extractions into documents.

    Args:
        form: The field of an extraction that becomes a document's text: `markdown`, `text` or
            `main_html`.
        labeler, settings, options: As in `dripper.extract`.

    Raises:
        UsageError: The form, the labeler or a setting is invalid.
    """

    def __init__(
        self,
        form: Form = "markdown",
        labeler: str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        check_form(form)
        self.settings = checked_settings(labeler, settings, options)
        self.form = form

    def select(self, extraction: Extraction) -> str:
        """Return the main content in the step's form, or "" if the page has none."""
        return select_text(extraction, self.form)

    def select_or_warn(self, extraction: Extraction, place: str) -> str:
        """Return the main content like `select`, and log a warning if the page has none."""
        text = self.select(extraction)
        if not text:
            logger.warning("%s has no content (%s)", place, extraction.error_code)
        return text


def check_form(form: str) -> None:
    """Raise SettingsError if the form is unknown."""
    if form not in get_args(Form):
        raise SettingsError(f"form={form!r}: there are {', '.join(get_args(Form))}")


def select_text(extraction: Extraction, form: Form) -> str:
    """Return the main content in this form, or "" if the page has none."""
    return str(getattr(extraction, form))


def collect_metadata(extraction: Extraction) -> dict[str, Any]:
    """Return the metadata for a document, without missing values."""
    values = {
        "title": extraction.title or None,
        "language": extraction.language,
        "confidence": extraction.confidence,
        "method": extraction.method,
    }
    return {name: value for name, value in values.items() if value is not None}


def collect_declared(extraction: Extraction) -> dict[str, str | None]:
    """Return the metadata that the page itself declares, as plain values that any index can
    store."""
    declared = extraction.metadata or Metadata()
    return {"authors": ", ".join(declared.authors) or None, "published": declared.published, "site": declared.site}
