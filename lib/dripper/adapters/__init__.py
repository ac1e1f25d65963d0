"""Steps of other people's pipelines: `dripper.adapters.datatrove`, `dripper.adapters.nemo_curator`.
What they share is here: which form of an extraction becomes a document's text.

Each module needs the package that it is named after: extras `datatrove` and `nemo`.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from dripper.config import Settings
from dripper.errors import SettingsError
from dripper.page.extraction import Extraction, checked_settings

Form = Literal["markdown", "text", "main_html"]


def asked_settings(
    labeler: str | None, settings: Settings | Mapping[str, Any] | None, options: Mapping[str, Any], form: str
) -> Settings:
    """Return the settings of a step, of which `form` is what goes on. Raises UsageError as
    `checked_settings`."""
    if form not in get_args(Form):
        raise SettingsError(f"form={form!r}: there are {', '.join(get_args(Form))}")
    return checked_settings(labeler, settings, options)


def text_of(extraction: Extraction, form: Form) -> str:
    """Return the main content in this form; "" for a page without any."""
    return str(getattr(extraction, form))


def told_of(extraction: Extraction) -> dict[str, Any]:
    """Return what a pipeline keeps beside the text, by name, and leaves out what is not known."""
    told = {
        "title": extraction.title or None,
        "language": extraction.language,
        "confidence": extraction.confidence,
        "method": extraction.method,
    }
    return {name: value for name, value in told.items() if value is not None}
