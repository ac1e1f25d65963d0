"""Extracts many pages that a program has in memory. Defines `dripper.extract_many`."""

import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from dripper.errors import ErrorCode, MachineError, PageError, SettingsError
from dripper.guard import GuardLimits
from dripper.labels.registry import runs_staged
from dripper.local.pool import map_in_order
from dripper.page.extraction import (
    Extraction,
    Extractor,
    add_outputs,
    checked_settings,
    make_failed,
    shared_extractor,
)
from dripper.settings import Settings

Page: TypeAlias = "str | bytes | tuple[str | bytes, str | None]"
"""HTML, or HTML and its URL."""


def extract_many(
    pages: Iterable[Page],
    labeler: str | None = None,
    *,
    jobs: int | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    **options: Any,
) -> Iterator[Extraction]:
    """Return an iterator over the Extractions of many pages, one per page, in page order.

    All errors below are raised by the call itself, before the first page is read.

    Args:
        pages: HTML as `extract` accepts it, or pairs of HTML and the page's URL. The iterable is
            consumed lazily.
        jobs: The number of processes, by default one per processor. The processes are forked from
            this process, and each page has the same limits as in a Spark job. A bad page therefore
            gets an `error_code` and does not affect other pages. A labeler with an engine, such as
            `lm`, runs in this process.
        labeler, settings, outputs, options: As for `extract`.

    Raises:
        UsageError: A labeler, setting or option is wrong.
        MachineError: This process is not allowed to start other processes.
        TypeError: `pages` is a single page.

    >>> pages = ["<p>One.", ("<p>Two.", "https://example.org/2")]
    >>> [result.n_blocks for result in extract_many(pages, jobs=1)]
    [1, 1]
    """
    if isinstance(pages, str | bytes):
        raise TypeError("pages must be a list or another iterable of pages, not one page: extract(page) takes one")
    if jobs is not None and jobs < 1:
        raise SettingsError(f"jobs={jobs}: the number of processes is at least 1")
    resolved = checked_settings(labeler, add_outputs(settings, outputs), options)
    if multiprocessing.current_process().daemon:
        raise MachineError(
            "extract_many starts processes, which a worker of multiprocessing.Pool may not: call it in the main process"
        )
    extractor = shared_extractor(resolved)
    if runs_staged(resolved.labeler):
        # A model's engine has threads and devices, which a fork does not inherit.
        return (_extract(extractor, page) for page in pages)
    outcomes = map_in_order(
        lambda page: _extract(extractor, page), pages, GuardLimits.of(resolved.limits), jobs or count_processors()
    )
    return (make_failed(outcome) if isinstance(outcome, PageError) else outcome for _, outcome in outcomes)


def count_processors() -> int:
    """Return the number of processors that this process is allowed to use. If this number is
    unknown, return the number of processors of the machine."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _extract(extractor: Extractor, page: Any) -> Extraction:
    html, url = page if isinstance(page, tuple) else (page, None)
    if not isinstance(html, str | bytes):
        return make_failed(PageError(ErrorCode.NOT_HTML, f"it is {type(html).__name__}, not str or bytes"))
    return extractor.extract(html, url)
