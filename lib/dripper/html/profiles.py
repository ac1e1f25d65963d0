"""Profiles: sets of rules by which a page is split into blocks, and cut to its main ones."""

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from dripper.blocks.page import Page
from dripper.html.lossless import DRIPPER
from dripper.html.paper import PAPER
from dripper.markup.limits import ParserLimits
from dripper.optional import needed


class Profile(Protocol):
    """One set of rules; what a page becomes by it."""

    @property
    def name(self) -> str:
        """As the setting `profile` and the column of that name have it."""
        ...

    @property
    def main_html_scans(self) -> bool:
        """Whether main HTML is balanced markup, so that Markdown is made of it without an HTML
        parser."""
        ...

    def preprocess(self, html: bytes, limits: ParserLimits) -> Page:
        """Return the page, given as UTF-8, split into blocks. Raises PageError(PARSE_FAILED)."""
        ...

    def prune(self, mapping_html: str, main_ids: Collection[int]) -> str:
        """Return the main HTML."""
        ...

    def restore(self, mapping_html: str, title: str) -> Page:
        """Return the page that a mapping HTML was written from."""
        ...


def _mineru() -> Profile:
    with needed("the profile mineru-1.1", "mineru"):
        from dripper.mineru.profile import MINERU
    return MINERU


PROFILES: Mapping[str, Callable[[], Profile]] = {
    "dripper": lambda: DRIPPER,
    "mineru-1.1": _mineru,
    "paper": lambda: PAPER,
}
"""By name, what gives it: one of them needs a package of its own."""


def find_profile(name: str) -> Profile:
    """Return the profile of a name. Raises ValueError on an unknown one, MachineError where its
    package is not installed.

    >>> find_profile("dripper").name
    'dripper'
    """
    try:
        get = PROFILES[name]
    except KeyError:
        raise ValueError(f"unknown profile {name!r}; there are {', '.join(PROFILES)}") from None
    return get()
