"""`dripper.extract`: one page in a Python program, with settings as keywords."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from dripper.config import Settings, settings_of
from dripper.errors import InputError
from dripper.extraction import Extraction, Extractor, shared_extractor

_LONGEST_PATH = 1024


def extract(
    html: str | bytes,
    url: str | None,
    labeler: str | None,
    settings: Settings | Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Extraction:
    """See `dripper.extract`."""
    if not isinstance(html, str | bytes):
        raise TypeError(f"html must be str or bytes, not {type(html).__name__}; of a file, pass what it holds")
    if isinstance(html, str):
        _refuse_address(html)
    if settings is None and not options and (labeler is None or isinstance(labeler, str)):
        return _default_extractor(labeler).extract(html, url)
    return shared_extractor(settings_of(labeler, settings, options)).extract(html, url)


@lru_cache(maxsize=16)
def _default_extractor(labeler: str | None) -> Extractor:
    """Return this process's extractor for a labeler, all else by default: checked once, not with
    every page."""
    return shared_extractor(settings_of(labeler, None, {}))


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
