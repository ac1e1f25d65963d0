"""Completes and cleans addresses as a browser does (WHATWG URL standard), as far as links and
images of archived pages need it."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_AUTHORITY = re.compile(r"(https?|ftp)://([^/?#]+)([^?#]*)(\?[^#]*)?", re.IGNORECASE)
_PATH = re.compile(r"[^?#]*")
_ENDS = "".join(map(chr, range(0x21)))
"""C0 controls and the space, which the standard strips from both ends."""
_DROPPED = str.maketrans("", "", "\t\n\r")
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)(?:(?<!,)[\t\n\f\r ]++([^,]*+))?+,?")
"""Possessive, because the pattern would otherwise try every way to split a list of thousands of
commas. An address that ends with commas has no descriptor."""
_BETWEEN = "\t\n\f\r ,"
_SPECIAL = frozenset({"http", "https", "ftp"})


class Base(NamedTuple):
    """The base address for a page's relative addresses."""

    scheme: str
    host: str
    """The host with user and port, as written."""
    path: str
    query: str
    is_own: bool
    """Whether it is the page's own address, so that `#part` stays within the page."""

    @classmethod
    def of(cls, url: str | None, base_href: str = "") -> "Base | None":
        """Return the base of a page at `url` with `base_href` as its first `<base href>`.

        Return None if neither is a web address. Relative addresses then cannot be completed.

        >>> Base.of("https://e.org/a/b.html", "../c/").join("d.png")
        'https://e.org/c/d.png'
        """
        own = _parse(clean_address(url or ""), is_own=True)
        if not base_href.strip():
            return own
        address = clean_address(base_href)
        return _parse(own.join(address) if own is not None else address, is_own=False) or own

    def join(self, address: str) -> str:
        """Return an address from the page as a clean absolute address, with spaces as browsers send
        them (URL standard, path percent-encode set).

        `#part` of the page itself, an empty address, and addresses with schemes without paths
        (`mailto:`) are not completed.

        >>> base = Base.of("https://e.org/a/b.html?c=1")
        >>> [base.join(address) for address in ("d", "/d", "//f.org/d", "#d", "tel:1")]
        ['https://e.org/a/d', 'https://e.org/d', 'https://f.org/d', '#d', 'tel:1']
        >>> base.join("?d")
        'https://e.org/a/b.html?d'
        """
        address = clean_address(address).replace(" ", "%20")
        if not address or (address[0] == "#" and self.is_own):
            return address
        if address[0] == "#":
            return f"{self.scheme}://{self.host}{self.path}{self.query}{address}"
        if match := _SCHEME.match(address):
            scheme, rest = match[1].lower(), address[match.end() :]
            if scheme not in _SPECIAL or rest.startswith("//"):
                return address
            if scheme != self.scheme or rest[:1] + rest[1:2] in ("/\\", "\\/", "\\\\"):
                return f"{scheme}://" + rest.lstrip("/\\")
            address = rest
        path = _PATH.match(address)
        before, after = (path.group(), address[path.end() :]) if path else ("", address)
        return self._complete(before.replace("\\", "/"), after)

    def _complete(self, path: str, after: str) -> str:
        if not path:
            return f"{self.scheme}://{self.host}{self.path}" + (after if after[:1] == "?" else self.query + after)
        if path.startswith("//"):
            return f"{self.scheme}://{path.lstrip('/')}{after}"
        if not path.startswith("/"):
            path = self.path[: self.path.rfind("/") + 1] + path
        return f"{self.scheme}://{self.host}{follow_dots(path)}{after}"


def _parse(url: str, *, is_own: bool) -> Base | None:
    match = _AUTHORITY.match(url)
    if match is None:
        return None
    scheme, host, path, query = match.groups(default="")
    return Base(scheme.lower(), host, follow_dots(path or "/"), query, is_own)


def clean_address(address: str) -> str:
    """Return an address without the characters that the standard ignores: controls and spaces
    around it, tabs and line breaks inside."""
    return address.strip() if address.isprintable() else address.strip(_ENDS).translate(_DROPPED)


def follow_dots(path: str) -> str:
    """Return an absolute path with its `.` and `..` resolved.

    >>> follow_dots("/a/./b/../../../c/.")
    '/c/'
    """
    if "/." not in path:
        return path
    resolved: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del resolved[-1:]
        elif segment != ".":
            resolved.append(segment)
    if segments[-1] in (".", ".."):
        resolved.append("")
    return "/" + "/".join(resolved)


def read_scheme(address: str) -> str:
    """Return the scheme of a cleaned address in lower case, or "" for a relative address."""
    match = _SCHEME.match(address)
    return match[1].lower() if match else ""


def read_set(candidates: str) -> Iterator[tuple[str, str]]:
    """Yield the address and descriptor of each candidate of a `srcset` (HTML standard 4.8.4.2.1).

    >>> list(read_set(", a.jpg, b,c.jpg 2x"))
    [('a.jpg', ''), ('b,c.jpg', '2x')]
    """
    # In a list with only commas left, the pattern would be tried at each comma.
    for match in _CANDIDATE.finditer(candidates.strip(_BETWEEN)):
        yield match[1].rstrip(","), (match[2] or "").strip()


def rewrite_set(candidates: str, rewrite: Callable[[str], str | None]) -> str:
    """Return a `srcset` with each address rewritten. A candidate is dropped if `rewrite` returns
    None.

    >>> rewrite_set("a.jpg, b,c.jpg 2x", str.upper)
    'A.JPG, B,C.JPG 2x'
    """
    entries: list[str] = []
    for address, descriptor in read_set(candidates):
        rewritten = rewrite(address)
        if rewritten is not None:
            entries.append(f"{rewritten} {descriptor}".rstrip())
    return ", ".join(entries)
