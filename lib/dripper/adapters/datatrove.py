"""An extractor for datatrove, in the place of its `Trafilatura`.

    from dripper.adapters.datatrove import Dripper

    pipeline = [WarcReader("crawl"), Dripper(), GopherQualityFilter(), JsonlWriter("out")]

Pages are worked on in a child process with the limits of the settings, as in this project's own
jobs. datatrove drops pages that fail; with an `exclusion_writer` they go there instead, each with
its reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from typing import Any

from dripper import extras as optional
from dripper.adapters import Form, asked_settings, text_of, told_of
from dripper.config import Settings
from dripper.errors import PageError
from dripper.guard import Guard, GuardLimits
from dripper.page.extraction import Extraction, shared_extractor

with optional.needed("dripper.adapters.datatrove", "datatrove"):
    from datatrove.pipeline.extractors.base import BaseExtractor
    from datatrove.utils.typeshelper import StatHints


class Dripper(BaseExtractor):  # type: ignore[misc]
    """A step that puts the main content of each HTML document in the place of its text.

    form: `markdown`, `text` or `main_html`. labeler, settings, options: as `dripper.extract` takes
    them. exclusion_writer: a writer of datatrove for pages without main content; their text stays
    the HTML, and `metadata["error_code"]` says why. A document's `metadata["url"]` completes
    relative links; title, language, confidence and method are added to it. Raises UsageError for a
    labeler or setting that cannot work.
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
        self.settings = asked_settings(labeler, settings, options, form)
        super().__init__(timeout=self.settings.limits.page_wall_seconds)
        self.form = form
        self.exclusion_writer = exclusion_writer

    def extract(self, text: str) -> str:
        """Return the main content of one page, "" where there is none; here, without a child
        process."""
        return text_of(shared_extractor(self.settings).extract(text), self.form)

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yield the documents that have main content."""
        extractor = shared_extractor(self.settings)
        guard: Guard[tuple[str, str | None], Extraction] = Guard(
            lambda page: extractor.extract(*page), GuardLimits.of(self.settings.limits)
        )
        with closing(guard), self.exclusion_writer or nullcontext() as excluded:
            for document in data:
                self.stat_update(StatHints.total)
                with self.track_time():
                    made = _extracted(guard, document)
                    content = text_of(made, self.form)
                if content:
                    document.text = content
                    document.metadata.update(told_of(made))
                    self.stat_update("extracted", StatHints.forwarded)
                    self.update_doc_stats(document)
                    yield document
                    continue
                reason = made.error_code.value if made.error_code else "no_main_content"
                self.stat_update(StatHints.dropped, f"dropped_{reason}")
                if excluded is not None:
                    document.metadata.update(error_code=reason, error_detail=made.error_detail or "")
                    excluded.write(document, rank)


def _extracted(guard: "Guard[tuple[str, str | None], Extraction]", document: Any) -> Extraction:
    try:
        return guard.call((document.text, document.metadata.get("url")))
    except PageError as error:
        return Extraction(error_code=error.code, error_detail=error.detail or None)
