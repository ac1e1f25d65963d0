"""Finds profiles by name and splits pages with them (`preprocess`). A profile is a set of rules for
splitting a page and cutting it to its main blocks.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from dripper.doors import Doors
from dripper.errors import ErrorCode, PageError
from dripper.extras import needed
from dripper.html.blocks.page import Page
from dripper.html.tree.parser import DEFAULT_LIMITS, DEFAULT_READING, ParserLimits, Reading
from dripper.html.tree.scan import UnbalancedMarkupError


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile(ABC):
    """One set of rules for splitting a page into blocks and cutting its main HTML."""

    name: str
    """The profile's name, as in the setting and the column `profile`."""
    main_html_scans: bool = True
    """Whether main HTML is balanced markup, so that Markdown can be made from it without an HTML
    parser."""
    places_media: bool = False
    """Whether images and players among main blocks are kept."""
    keeps_units: bool = False
    """Whether parts that belong together are kept together (see `html.units`), unlike in
    MinerU-HTML, and whether hidden text is left out (see `tree.visibility`)."""

    @abstractmethod
    def preprocess(self, html: bytes, reading: Reading) -> Page:
        """Return the page, given as UTF-8, split into blocks. Raises PageError(PARSE_FAILED)."""

    @abstractmethod
    def prune(self, mapping_html: str, main_ids: Collection[int]) -> str:
        """Return the main HTML."""


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
    """Return the profile with the given name. Raises ValueError if the name is unknown, or
    MachineError if the profile's package is not installed.

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
        profile: The name of a set of rules, one of PROFILES.
        limits: The limits on the parser's work.
        url: The page's address, from which the metadata get the site's name.

    Raises:
        PageError(PARSE_FAILED): If the page exceeds a limit.
        TypeError: On bytes (decode them first).
        ValueError: On an unknown profile.

    >>> page = preprocess("<title>T</title><p>one<p>two <b>three</b>")
    >>> page.title, [block.text for block in page.blocks]
    ('T', ['one', 'two three'])
    """
    if not isinstance(html, str):
        raise TypeError(f"html must be text (str), not {type(html).__name__}: decode it first, see dripper.warc.decode")
    return preprocess_utf8(html.encode("utf-8", "ignore"), profile, Reading(url, limits))


def preprocess_utf8(html: bytes, profile: str = "dripper", reading: Reading = DEFAULT_READING) -> Page:
    """Return the same page as `preprocess`, but from UTF-8.

    Args:
        html: UTF-8 without errors, as `dripper.warc.to_utf8` returns it.

    >>> [block.text for block in preprocess_utf8("<p>é".encode()).blocks]
    ['é']
    """
    rules = find_profile(profile)
    try:
        return rules.preprocess(html, reading)
    except UnbalancedMarkupError as error:
        # No such page is known; if a parser writes one, it becomes an error row like any other.
        raise PageError(ErrorCode.PARSE_FAILED, str(error)) from error


def prune(mapping_html: str, main_ids: Collection[int], profile: str = "dripper") -> str:
    """Return the page with only its main blocks and their ancestors, without `_item_id` (Dripper
    paper 3.2, mapping).

    The result equals `Page.prune`. O(len(mapping_html)). The profiles `mineru-…` instead return
    MinerU-HTML's output byte for byte: foreign ids are ignored, helper attributes are kept, and no
    ids give "<html></html>".

    Args:
        mapping_html: `Page.mapping_html`, of the same profile.
        main_ids: Any subset of the ids in `mapping_html`, in any order; no ids give "".

    Raises:
        UnknownItemError: On a foreign id.
        ValueError: If `mapping_html` is not mapping HTML.

    >>> prune('<div><p _item_id="1">menu</p><p _item_id="2">story</p></div>', {2})
    '<div><p>story</p></div>'
    """
    return find_profile(profile).prune(mapping_html, main_ids)
