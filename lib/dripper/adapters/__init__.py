"""Shares what the steps for other pipelines need: which form of an extraction becomes a document's
text, and its metadata.

The steps are `dripper.adapters.datatrove` and `dripper.adapters.nemo_curator`; what loads documents
is `langchain`, `llama_index` and `haystack`, and `scrapy` has a pipeline of items. Each needs the
package that it is named after: extras `datatrove`, `nemo`, `langchain`, `llama-index`, `haystack`
and `scrapy`.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from dripper.config import Settings
from dripper.errors import SettingsError
from dripper.page.extraction import Extraction, checked_settings

Form = Literal["markdown", "text", "main_html"]


def check_step_settings(
    labeler: str | None, settings: Settings | Mapping[str, Any] | None, options: Mapping[str, Any], form: str
) -> Settings:
    """Return the settings of a step.

    Args:
        labeler, settings, options: As `dripper.extract` takes them.
        form: The field of an extraction that becomes a document's text.

    Raises:
        UsageError: The form, the labeler or a setting cannot work.
    """
    if form not in get_args(Form):
        raise SettingsError(f"form={form!r}: there are {', '.join(get_args(Form))}")
    return checked_settings(labeler, settings, options)


def select_text(extraction: Extraction, form: Form) -> str:
    """Return the main content in this form, or "" for a page without any."""
    return str(getattr(extraction, form))


def collect_metadata(extraction: Extraction) -> dict[str, Any]:
    """Return the metadata that a pipeline keeps beside the text, without missing values."""
    values = {
        "title": extraction.title or None,
        "language": extraction.language,
        "confidence": extraction.confidence,
        "method": extraction.method,
    }
    return {name: value for name, value in values.items() if value is not None}
