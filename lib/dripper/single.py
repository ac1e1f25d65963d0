"""`dripper.extract`: one page in a Python program, with settings as keywords."""

import multiprocessing
import os
import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from dripper.config import Settings, settings_of
from dripper.errors import InputError, MachineError, PageError
from dripper.extraction import Extraction, Extractor, failed, shared_extractor
from dripper.guard import Guard, GuardLimits

_LONGEST_PATH = 1024
_Page = tuple[str | bytes, str | None]
_Items = tuple[tuple[str, type, Any], ...]
"""Keys and values; with their types, since 1 and True are equal."""


def extract(
    html: str | bytes,
    url: str | None,
    labeler: str | None,
    settings: Settings | Mapping[str, Any] | None,
    options: Mapping[str, Any],
    guard: bool = False,
) -> Extraction:
    """See `dripper.extract`."""
    if not isinstance(html, str | bytes):
        raise TypeError(f"html must be str or bytes, not {type(html).__name__}; of a file, pass what it holds")
    if isinstance(html, str):
        _refuse_address(html)
    if guard:
        return extract_guarded(settings_of(labeler, settings, options), html, url)
    return _extractor_for(labeler, settings, options).extract(html, url)


def extract_guarded(settings: Settings, html: str | bytes, url: str | None = None) -> Extraction:
    """Return the extraction of a page that a process of its own worked on, with the limits of the
    settings' section `limits`, as jobs do it.

    The process is forked from this one when its settings are first met, and kept for the next
    page. Whatever becomes of it is one `error_code`. Raises MachineError in a process that may not
    start others.
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
            return failed(error)


_lock = threading.Lock()
_guards: dict[tuple[int, int, GuardLimits], Guard[_Page, Extraction]] = {}
"""By process, as a fork's answers would be another's, extractor (kept as well) and limits."""


def _extractor_for(
    labeler: str | None, settings: Settings | Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Extractor:
    """Return this process's extractor. Plain values are checked once, not with every page."""
    if settings is None or isinstance(settings, dict):
        asked = (labeler, *(tuple((key, type(value), value) for key, value in (given or {}).items())
                            for given in (settings, options)))  # fmt: skip
        try:
            hash(asked)
        except TypeError:  # a list, or a section of its own
            pass
        else:
            return _kept_extractor(*asked)
    return shared_extractor(settings_of(labeler, settings, options))


@lru_cache(maxsize=16)
def _kept_extractor(labeler: str | None, settings: _Items, options: _Items) -> Extractor:
    of_settings, of_options = ({key: value for key, _, value in items} for items in (settings, options))
    return shared_extractor(settings_of(labeler, of_settings, of_options))


def _refuse_address(html: str) -> None:
    """A file's name or a URL in place of a page is a slip: its letters would come back as the
    extraction."""
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
