"""Finds profiles by name and splits pages with them (`preprocess`): a profile is a set of rules for
splitting a page and cutting it to its main blocks.
"""

from collections.abc import Collection
from functools import cache
from typing import Protocol

from dripper.doors import Doors
from dripper.errors import ErrorCode, PageError
from dripper.extras import needed
from dripper.html.blocks.page import Page
from dripper.html.tree.parser import DEFAULT_LIMITS, ParserLimits
from dripper.html.tree.scan import UnbalancedMarkupError


class Profile(Protocol):
    """One set of rules for splitting a page into blocks and cutting its main HTML."""

    @property
    def name(self) -> str:
        """The profile's name, as in the setting `profile` and the column of that name."""
        ...

    @property
    def places_media(self) -> bool:
        """Whether `Page.prune` can add images by their place."""
        ...

    @property
    def keeps_units(self) -> bool:
        """Whether blocks that belong to main blocks become main, too (see `units.complete`)."""
        ...

    @property
    def main_html_scans(self) -> bool:
        """Whether main HTML is balanced markup, so that Markdown is made from it without an HTML
        parser."""
        ...

    def preprocess(
        self,
        html: bytes,
        limits: ParserLimits,
        url: str | None = None,
        *,
        keeps_hidden: bool = False,
        only_title: bool = False,
    ) -> Page:
        """Return the page, given as UTF-8, split into blocks. Raises PageError(PARSE_FAILED).

        Args:
            keeps_hidden: Whether hidden text stays; only `dripper` uses this.
            only_title: See `html.metadata.read_metadata`.
        """
        ...

    def prune(self, mapping_html: str, main_ids: Collection[int]) -> str:
        """Return the main HTML."""
        ...


PROFILES: Doors[Profile] = Doors(
    "profile",
    "dripper.profiles",
    {
        "dripper": "dripper.html.profiles.dripper:DRIPPER",
        "mineru-1.0": "dripper.html.profiles.mineru.profile:V1_0",
        "mineru-1.1": "dripper.html.profiles.mineru.profile:V1_1",
        "paper": "dripper.html.profiles.paper:PAPER",
    },
)
"""Profiles by name."""


@cache
def find_profile(name: str) -> Profile:
    """Return the profile with a name. Raises ValueError if the name is unknown, MachineError if its
    package is not installed.

    >>> find_profile("dripper").name
    'dripper'
    """
    try:
        with needed(f"the profile {name}", "mineru"):
            return PROFILES[name]
    except KeyError:
        raise ValueError(f"unknown profile {name!r}; there are {', '.join(PROFILES)}") from None


def preprocess(
    html: str, profile: str = "dripper", limits: ParserLimits = DEFAULT_LIMITS, url: str | None = None
) -> Page:
    """Return the page split into blocks (Dripper paper 3.2, A.10).

    Deterministic; linear in len(html).

    Args:
        html: The page's text, decoded; any string is accepted, even an empty one.
        profile: A set of rules, one of PROFILES.
        limits: The limits on the parser's work.
        url: The page's address, from which the metadata get the site's name.

    Raises:
        PageError(PARSE_FAILED): Above a limit.
        TypeError: On bytes (decode them first).
        ValueError: On an unknown profile.

    >>> page = preprocess("<title>T</title><p>one<p>two <b>three</b>")
    >>> page.title, [block.text for block in page.blocks]
    ('T', ['one', 'two three'])
    """
    if not isinstance(html, str):
        raise TypeError(f"html must be text (str), not {type(html).__name__}: decode it first, see dripper.warc.decode")
    return preprocess_utf8(html.encode("utf-8", "ignore"), profile, limits, url)


def preprocess_utf8(
    html: bytes,
    profile: str = "dripper",
    limits: ParserLimits = DEFAULT_LIMITS,
    url: str | None = None,
    *,
    keeps_hidden: bool = False,
    only_title: bool = False,
) -> Page:
    """Return `preprocess(html.decode(), profile, limits, url)` without decoding.

    Args:
        html: UTF-8 without errors, as `dripper.warc.to_utf8` gives it.
        keeps_hidden: See the setting `html.hidden`.
        only_title: See `html.metadata.read_metadata`.

    >>> [block.text for block in preprocess_utf8("<p>é".encode()).blocks]
    ['é']
    """
    rules = find_profile(profile)
    try:
        return rules.preprocess(html, limits, url, keeps_hidden=keeps_hidden, only_title=only_title)
    except UnbalancedMarkupError as error:
        # No such page is known; if a parser writes one, it becomes an error row like any other.
        raise PageError(ErrorCode.PARSE_FAILED, str(error)) from error


def prune(mapping_html: str, main_ids: Collection[int], profile: str = "dripper") -> str:
    """Return the page with only its main blocks and their ancestors, without `_item_id` (Dripper
    paper 3.2, mapping).

    The result equals `Page.prune`. O(len(mapping_html)). Profiles `mineru-…` return the output of
    MinerU-HTML byte for byte instead: foreign ids are ignored, helper attributes stay, no id gives
    "<html></html>".

    Args:
        mapping_html: `Page.mapping_html`, of the same profile.
        main_ids: Any subset of its ids, in any order; none gives "".

    Raises:
        pruning.UnknownItemError: On a foreign id.
        ValueError: If `mapping_html` is no mapping HTML.

    >>> prune('<div><p _item_id="1">menu</p><p _item_id="2">story</p></div>', {2})
    '<div><p>story</p></div>'
    """
    return find_profile(profile).prune(mapping_html, main_ids)
