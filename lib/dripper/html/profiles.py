"""Profiles: sets of rules by which a page is split into blocks, and cut to its main ones."""

from collections.abc import Collection, Mapping
from typing import Protocol

from dripper.blocks.page import Page
from dripper.html.lossless import DRIPPER
from dripper.html.paper import PAPER
from dripper.markup.limits import ParserLimits
from dripper.mineru.profile import MINERU


class Profile(Protocol):
    """One set of rules; what a page becomes by it."""

    @property
    def name(self) -> str:
        """As the setting `profile` and the column of that name have it."""
        ...

    @property
    def main_html_scans(self) -> bool:
        """Whether main HTML is balanced markup, so that Markdown is made of it without an HTML parser."""
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


PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (DRIPPER, MINERU, PAPER)}
"""By name."""


def find_profile(name: str) -> Profile:
    """Return the profile of a name. Raises ValueError on an unknown one.

    >>> find_profile("dripper").name
    'dripper'
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise ValueError(f"unknown profile {name!r}; there are {', '.join(PROFILES)}") from None
