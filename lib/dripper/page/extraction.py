"""Extracts one page without Spark: bytes → text → blocks → labels → main HTML → Markdown.
`dripper.extract` is a shortcut to `Extractor.extract`.
"""

import json
import logging
import multiprocessing
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dripper
from dripper.errors import InputError, MachineError, PageError, SettingsError
from dripper.guard import Guard, GuardLimits
from dripper.labels import Labeler
from dripper.labels.config import split_settings
from dripper.labels.entry import Use
from dripper.labels.registry import check_use, load_from_settings, runs_staged
from dripper.page.finish import DEFAULT_SETTINGS, Examination, Extraction, Finisher
from dripper.page.split import Decoded, label_page
from dripper.settings import Settings, name_rules

if TYPE_CHECKING:  # Single pages need no archive reader.
    from dripper.warc import Record

__all__ = ["Examination", "Extraction", "Extractor", "checked_settings", "shared_extractor"]

logger = logging.getLogger(__name__)

_NOT_OF_A_PAGE = {"batch", "output", "stages", "cost", "spark"}
"""Sections of the settings that do not affect a page's extraction."""


class Extractor:
    """Extracts the main content of pages with a labeler that is loaded once.

    >>> Extractor().extract("<p>Hello").n_blocks
    1
    """

    def __init__(
        self,
        settings: Settings = DEFAULT_SETTINGS,
        labeler: Labeler | None = None,
    ) -> None:
        """Load the labeler. Raises SettingsError for settings that work only in jobs.

        Args:
            labeler: Used instead of the settings' labeler.
        """
        check_single_pages(settings)
        self._settings = settings
        self._finisher = Finisher(settings)
        self.labeler = labeler or load_from_settings(settings.labeler, settings.labels)

    @property
    def versions(self) -> dict[str, str]:
        """The versions that an extraction depends on, for the `versions` column."""
        return {
            "dripper": dripper.__version__,
            "profile": name_rules(self._settings.profile, self._settings.outputs),
            "labeler": self.labeler.name,
            "labeler_version": self.labeler.version,
        }

    def extract(self, html: str | bytes, url: str | None = None, content_type: str | None = None) -> Extraction:
        """Return the extraction of `html`. Bytes are decoded as browsers do, with the HTTP
        `content_type` if given.

        If the page cannot be extracted, the result has an `error_code`. An exception is raised only
        for errors that the page did not cause.

        Without a content type, gzip, zstd and bzip2 are decompressed, MHTML is opened, and any
        other file type gives the error `not_html`.

        Args:
            url: The page's URL, to make relative links and images absolute. If None, the URL that
                the page itself states is used (see `find_own_address`).
        """
        return self.examine(html, url, content_type).extraction

    def extract_record(self, record: "Record") -> Extraction:
        """Return the extraction of a record. If the record could not be read, the extraction has
        the record's error."""
        if record.error_code is not None:
            return make_failed(PageError(record.error_code, record.error_detail or ""))
        return self.extract(record.payload, record.url or None, record.content_type)

    def examine(self, html: str | bytes, url: str | None = None, content_type: str | None = None) -> Examination:
        """Extract a page like `extract`, and also return the split page and its labels."""
        decoded = Decoded(b"")
        try:
            decoded = Decoded.open(html, content_type, self._settings.reading.page_bytes)
            examination = self._finisher.examine(
                decoded.without(self._settings.html.drop),
                url or decoded.url,
                self._settings.profile,
                self.labeler.name,
                lambda page: label_page(self.labeler, page),
            )
        except PageError as error:
            examination = Examination(make_failed(error))
        extraction = replace(
            examination.extraction,
            charset=decoded.charset,
            charset_source=decoded.source,
            encoding_errors=decoded.errors,
        )
        return replace(examination, extraction=extraction)


def make_failed(error: PageError) -> Extraction:
    """Return the extraction of a page that failed."""
    return Extraction(error_code=error.code, error_detail=error.detail or None)


def check_single_pages(settings: Settings) -> None:
    """Raise SettingsError for a setting that works only in jobs."""
    if settings.layouts.enabled:
        raise SettingsError("layouts.enabled: only jobs see the pages of a host together; leave it out here")


_MOST_KEPT = 8
"""Maximum number of extractors that a process keeps; the least recently used is dropped. Each has
its labeler's weights, and a server would otherwise keep one for every combination of settings that
clients send."""
_extractors: dict[str, Extractor] = {}
_extractors_lock = threading.Lock()


def shared_extractor(settings: Settings) -> Extractor:
    """Return this process's extractor for these settings, which is loaded on the first call.
    Thread-safe.

    The extractor has already processed one page, so processes forked from this one have everything
    loaded.
    """
    key = settings.model_dump_json(exclude=_NOT_OF_A_PAGE)
    with _extractors_lock:
        extractor = _extractors.pop(key, None)
        if extractor is None:
            extractor = Extractor(settings)
            extractor.extract("<p>One page, so that nothing is loaded on the first one that counts.</p>")
        _extractors[key] = extractor  # The extractor that was used last is the last entry.
        while len(_extractors) > _MOST_KEPT:
            del _extractors[next(iter(_extractors))]
    return extractor


def checked_settings(
    labeler: str | None, settings: Settings | Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Settings:
    """Combine and check the settings before the first of many pages, and return them. Raises
    UsageError if every page would fail, and logs other problems as warnings.
    """
    resolved = split_settings(labeler, settings, options)
    check_single_pages(resolved)
    for warning in check_use(resolved.labeler, resolved.labels, Use(resolved.profile)):
        logger.warning("%s", warning)
    load_from_settings(resolved.labeler, resolved.labels)
    return resolved


_LONGEST_PATH = 1024
_Page = tuple[str | bytes, str | None]


def extract(
    html: str | bytes,
    url: str | None = None,
    labeler: str | None = None,
    *,
    guard: bool = False,
    settings: Settings | Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    **options: Any,
) -> Extraction:
    """Return the main content of one page.

    If the page has no content, the result has an `error_code`.

    Args:
        html: The page as text, or as served bytes. Bytes are decoded as browsers do; gzip, zstd and
            bzip2 are decompressed, and MHTML is opened.
        url: The page's URL. If None, the URL that the page itself states, if any.
        labeler: A name that `dripper.labels.load` knows, by default `cpu`. The labeler is loaded
            once per process.
        settings: Settings with their full keys, as in conf/base.yml: `{"limits.page_cpu_seconds":
            5}`.
        outputs: The parts of the extraction to make, as in the `outputs` setting; other parts cost
            nothing. `["text", "metadata"]` takes three quarters of the time of all parts.
        options: The labeler's own options: `extract(html, labeler="lm", model="…", endpoint="…")`.
            In a chain, the second labeler gets the pages for which the first labeler's confidence
            is below `escalate_below`: `extract(html, labeler="cpu,reader", escalate_below=0.9)`.
        guard: Whether to extract the page in a separate process, within the settings' `limits`, as
            jobs do. If the page hangs, uses too much memory or crashes its process, the result has
            an `error_code`, and this program continues. Without a guard, a malicious page can take
            minutes or gigabytes. The process is forked on the first call (Linux and macOS) and
            kept.

    Raises:
        UsageError: A labeler, setting or option is wrong, `html` is a file name or a URL, or
            `guard` is set in a process that is not allowed to start other processes.
        TypeError: `html` is neither text nor bytes, or `url` is not text.
    """
    if not isinstance(html, str | bytes):
        raise TypeError(f"html must be str or bytes, not {type(html).__name__}; of a file, pass what it holds")
    if not isinstance(url, str | None):
        raise TypeError(f"url must be str, not {type(url).__name__}")
    if isinstance(html, str):
        _refuse_address(html)
    settings = add_outputs(settings, outputs)
    if guard:
        return extract_guarded(split_settings(labeler, settings, options), html, url)
    return _load_extractor(labeler, settings, options).extract(html, url)


def add_outputs(
    settings: Settings | Mapping[str, Any] | None, outputs: Sequence[str] | None
) -> Settings | Mapping[str, Any] | None:
    """Return the settings with the given outputs. Raises SettingsError if `settings` is a
    `Settings` object, which has its own outputs."""
    if outputs is None:
        return settings
    if isinstance(settings, Settings):
        raise SettingsError("outputs= beside Settings(...): write it there, as Settings(outputs=[…])")
    return {**(settings or {}), "outputs": outputs}


def extract_guarded(settings: Settings, html: str | bytes, url: str | None = None) -> Extraction:
    """Extract a page in a separate process, within the settings' `limits`, as jobs do.

    The process is forked on the first call with these settings, and kept. If that process fails in
    any way, the extraction has an `error_code`. Raises MachineError if this process is not allowed
    to start other processes.
    """
    if multiprocessing.current_process().daemon:
        raise MachineError(
            "guard=True starts a process, which a worker of multiprocessing.Pool may not: use "
            "concurrent.futures.ProcessPoolExecutor, or `dripper extract --out`, which guards all its pages"
        )
    extractor = shared_extractor(settings)
    with _lock:
        key = (os.getpid(), id(extractor), GuardLimits.of(settings.limits))
        if key not in _guards:
            _guards[key] = Guard(lambda page: extractor.extract(*page), key[2])
        try:
            return _guards[key].call((html, url))
        except PageError as error:
            return make_failed(error)


def extract_apart(settings: Settings, html: str | bytes, url: str | None) -> Extraction:
    """Extract a page in a separate process, unless the labeler has an engine. A fork does not
    inherit the engine's threads and devices."""
    if runs_staged(settings.labeler):
        return shared_extractor(settings).extract(html, url)
    return extract_guarded(settings, html, url)


_lock = threading.Lock()
_guards: dict[tuple[int, int, GuardLimits], Guard[_Page, Extraction]] = {}
"""Guards by process id (a fork must not read its parent's answers), id of the extractor, and
limits. A guard keeps its extractor alive, so the id is not reused."""


def _load_extractor(
    labeler: str | None, settings: Settings | Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Extractor:
    """Return this process's extractor. If JSON can represent the settings, they are checked only
    once, not for every page."""
    try:
        given = json.dumps((labeler, settings, options))
    except TypeError:
        return shared_extractor(split_settings(labeler, settings, options))
    return _keep_extractor(given)


@lru_cache(maxsize=16)
def _keep_extractor(given: str) -> Extractor:
    return shared_extractor(split_settings(*json.loads(given)))


def _refuse_address(html: str) -> None:
    """Raise InputError if `html` is a file name or a URL. Otherwise, the name itself would be
    extracted as if it were the page."""
    if "<" in html:
        return
    text = html.strip()
    if not text or len(text) > _LONGEST_PATH or "\n" in text or "\0" in text:
        return
    if text.startswith(("http://", "https://")) and " " not in text:
        raise InputError(f"{text} is an address, not a page: fetch it first, then extract(page, url={text!r})")
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):
        return
    if is_file:
        raise InputError(f"{text} is the name of a file, not a page: extract(open({text!r}, 'rb').read())")
