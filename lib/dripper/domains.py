"""The registered domain of a host, by the Public Suffix List; needs no network."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from dripper.optional import needed

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=1 << 14)
def registered_domain(host: str) -> str | None:
    """Return the domain that somebody registered, as `url_host_registered_domain` of Common Crawl's
    columnar index has it.

    Suffixes that registries run count, not those of companies: `me.github.io` is of github.io. None
    for a number (an IP address), for a suffix itself, and for a host under none. Raises
    MachineError where the list is not installed.

    >>> registered_domain("news.bbc.co.uk")
    'bbc.co.uk'
    """
    name = _ascii(host.lower().rstrip("."))
    if not name or name.rpartition(".")[2].isdigit() or ":" in name:
        return None
    return _suffixes().privatesuffix(name)


@cache
def _suffixes() -> "PublicSuffixList":
    """The list that comes with the package, read once per process: reading it takes as long as
    thousands of look-ups."""
    with needed("the column registered_domain", "warc"):
        from publicsuffixlist import PublicSuffixList
    return PublicSuffixList(accept_unknown=False, only_icann=True)


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
