"""Extracts pages from files, folders, archives and tables, for the document classes of other
libraries.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dripper.adapters import Form, PageStep, collect_declared, collect_metadata
from dripper.addresses import loggable
from dripper.errors import PageError
from dripper.guard import GuardLimits
from dripper.local.inputs import expand_inputs
from dripper.local.many import count_processors
from dripper.local.pages import InputCounts, PageOptions, read_pages, require_reader
from dripper.local.pool import map_in_order
from dripper.page.extraction import Extraction, make_failed, shared_extractor
from dripper.settings import Settings
from dripper.warc import Record

logger = logging.getLogger(__name__)


class Loaded(NamedTuple):
    """A page's content and metadata."""

    id: str
    """The page's `page_id`: the same in every run."""
    text: str
    metadata: dict[str, Any]


class PageLoader(PageStep):
    """Loads the main content of pages, in child processes under the limits in the settings.

    Args:
        pages: Files, folders, patterns, `@lists`, archives and tables, as for `dripper extract`.
        form: `markdown`, `text` or `main_html`.
        labeler, settings, options: As in `dripper.extract`.
        jobs: The number of processes; by default one per processor.
        url_prefix: A page's URL is this prefix plus the file's path relative to the given folder.

    Raises:
        UsageError: An input, the form, the labeler or a setting is invalid.
    """

    def __init__(
        self,
        pages: str | Path | Sequence[str | Path],
        form: Form = "markdown",
        labeler: str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        jobs: int | None = None,
        url_prefix: str = "",
        **options: Any,
    ) -> None:
        super().__init__(form, labeler, settings, **options)
        names = [pages] if isinstance(pages, str | Path) else pages
        self._files = expand_inputs([str(name) for name in names], self.settings.reading)
        require_reader(self._files)
        self._jobs = jobs or count_processors()
        self._options = PageOptions(url_prefix)

    def load(self) -> Iterator[Loaded]:
        """Yield each page with main content, in order. Log a warning for every other page, and for
        each file that cannot be read."""
        work, counts = shared_extractor(self.settings).extract_record, InputCounts()
        records = read_pages(self._files, self.settings.reading, (), counts, self._options)
        for record, outcome in map_in_order(work, records, GuardLimits.of(self.settings.limits), self._jobs):
            extraction = make_failed(outcome) if isinstance(outcome, PageError) else outcome
            text = self.select_or_warn(extraction, loggable(record.url or record.warc_file))
            if text:
                yield Loaded(record.page_id, text, make_metadata(record, extraction))
        for sentence in counts.unread:
            logger.warning("%s", sentence)


def make_metadata(record: Record, extraction: Extraction) -> dict[str, Any]:
    """Return a document's metadata as plain values that any index can store."""
    url = record.url or extraction.url
    declared = {
        "url": url,
        "source": url or record.warc_file,
        "page_kind": extraction.page_kind,
        **collect_declared(extraction),
    }
    return collect_metadata(extraction) | {name: value for name, value in declared.items() if value}
