"""Finds profiles by name, and splits pages with them (`preprocess`)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache

from dripper.blocks.page import Page
from dripper.doors import Doors
from dripper.errors import ErrorCode, PageError
from dripper.extras import needed
from dripper.tree.parser import DEFAULT_LIMITS, DEFAULT_READING, ParserLimits, Reading
from dripper.tree.scan import UnbalancedMarkupError


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile(ABC):
    """A set of rules for splitting a page into blocks and for writing its main HTML."""

    name: str
    """The profile's name, as in the `profile` setting and the `profile` column."""
    prune: Callable[[str, Collection[int]], str] | None = None
    """Writes main HTML from mapping HTML and main ids. If None, `keep.cut` cuts main HTML from the
    page's tree. Main HTML that `prune` wrote is parsed again for Markdown."""
    places_media: bool = False
    """Whether to keep images and players that are among main blocks."""
    keeps_units: bool = False
    """Whether to keep the parts that belong to main blocks (see `keep`), and to leave out hidden
    text (see `tree.visibility`). MinerU-HTML does neither."""

    @abstractmethod
    def preprocess(self, html: bytes, reading: Reading) -> Page:
        """Parse a UTF-8 page and split it into blocks. Raises PageError(PARSE_FAILED) if the page
        exceeds a limit."""


PROFILES: Doors[Profile] = Doors(
    "profile",
    "dripper.profiles",
    {
        "dripper": "dripper.blocks.profiles.dripper:DRIPPER",
        "mineru-1.0": "dripper.blocks.profiles.mineru.profile:V1_0",
        "mineru-1.1": "dripper.blocks.profiles.mineru.profile:V1_1",
        "paper": "dripper.blocks.profiles.paper:PAPER",
    },
)
"""All profiles, keyed by name."""


@cache
def find_profile(name: str) -> Profile:
    """Return a profile by its name. Raises ValueError if the name is unknown, and MachineError if a
    package that the profile needs is not installed.

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
    """Split a page into blocks (Dripper paper 3.2, A.10).

    Deterministic. Takes time linear in len(html).

    Args:
        html: The decoded page. Any string is accepted, even an empty string.
        profile: The name of a profile in PROFILES.
        limits: Limits on the parser's work.
        url: The page's URL. Used for the site's name in the metadata.

    Raises:
        PageError(PARSE_FAILED): If the page exceeds a limit. TypeError: If `html` is bytes. Decode
        them first. ValueError: If the profile is unknown.

    >>> page = preprocess("<title>T</title><p>one<p>two <b>three</b>")
    >>> page.title, [block.text for block in page.blocks]
    ('T', ['one', 'two three'])
    """
    if not isinstance(html, str):
        raise TypeError(f"html must be text (str), not {type(html).__name__}: decode it first, see dripper.warc.decode")
    return preprocess_utf8(html.encode("utf-8", "ignore"), profile, Reading(url, limits))


def preprocess_utf8(html: bytes, profile: str = "dripper", reading: Reading = DEFAULT_READING) -> Page:
    """Split a page into blocks, like `preprocess`, but from UTF-8 bytes.

    Args:
        html: Valid UTF-8, for example from `dripper.warc.to_utf8`.

    >>> [block.text for block in preprocess_utf8("<p>é".encode()).blocks]
    ['é']
    """
    rules = find_profile(profile)
    try:
        return rules.preprocess(html, reading)
    except UnbalancedMarkupError as error:
        # No page is known to cause this. If one does, it becomes an error row.
        raise PageError(ErrorCode.PARSE_FAILED, str(error)) from error
