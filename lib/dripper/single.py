"""`dripper.extract`: one page in a Python program, with settings as keywords."""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from dripper.config import Settings, from_values
from dripper.errors import InputError
from dripper.extraction import Extraction, shared_extractor
from dripper.labels.registry import find_entry

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
    return shared_extractor(settings_of(labeler, settings, options)).extract(html, url)


def settings_of(
    labeler: str | None, settings: Settings | Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Settings:
    """Return the settings with a labeler's name and the options of its section put in. Raises SettingsError.

    >>> settings_of("cpu", {"profile": "paper"}, {"comments": "include"}).labels.cpu.comments
    'include'
    """
    values: dict[str, Any] = settings.model_dump() if isinstance(settings, Settings) else deepcopy(dict(settings or {}))
    if labeler is not None:
        values["labeler.name"] = labeler
    name = from_values({key: values[key] for key in values if key.startswith("labeler")}).labeler.name
    # A labeler that asks others has no section of its own: its options are sections of its members.
    section = "labels" if find_entry(name).members else f"labels.{name}"
    return from_values(values | {f"{section}.{key}": value for key, value in options.items()})


def _refuse_address(html: str) -> None:
    """A file's name or a URL in place of a page is a slip: its letters would come back as the extraction."""
    text = html.strip()
    if not text or len(text) > _LONGEST_PATH or "<" in text or "\n" in text or "\0" in text:
        return
    if text.startswith(("http://", "https://")) and " " not in text:
        raise InputError(f"{text} is an address, not a page: fetch it first, then extract(page, url={text!r})")
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):
        return
    if is_file:
        raise InputError(f"{text} is the name of a file, not a page: extract(open({text!r}, 'rb').read())")
