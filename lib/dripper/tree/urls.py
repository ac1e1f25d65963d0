"""Resolves and cleans URLs as a browser does (WHATWG URL standard). Covers only the cases that
occur for links and images in archived pages."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_AUTHORITY = re.compile(r"(https?|ftp)://([^/?#]+)([^?#]*)(\?[^#]*)?", re.IGNORECASE)
_PATH = re.compile(r"[^?#]*")
_ENDS = "".join(map(chr, range(0x21)))
"""C0 controls and the space. The standard strips them from both ends."""
_DROPPED = str.maketrans("", "", "\t\n\r")
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)(?:(?<!,)[\t\n\f\r ]++([^,]*+))?+,?")
"""One candidate of a `srcset`. Its quantifiers are possessive. Otherwise it would try every way to
split a list of thousands of commas. A URL that ends with commas has no descriptor."""
_BETWEEN = "\t\n\f\r ,"
_SPECIAL = frozenset({"http", "https", "ftp"})


class Base(NamedTuple):
    """The base URL, against which a page's relative URLs are resolved."""

    scheme: str
    host: str
    """The host, with user and port if given, unchanged."""
    path: str
    query: str
    is_own: bool
    """Whether the base is the page's own URL, so that `#part` refers to the page itself."""

    @classmethod
    def of(cls, url: str | None, base_href: str = "") -> "Base | None":
        """Build the base of a page from its URL and its first `<base href>`.

        Return None if neither is an absolute web URL. In that case, relative URLs cannot be
        resolved.

        >>> Base.of("https://e.org/a/b.html", "../c/").join("d.png")
        'https://e.org/c/d.png'
        """
        own = _parse(clean_address(url or ""), is_own=True)
        if not base_href.strip():
            return own
        address = clean_address(base_href)
        return _parse(own.join(address) if own is not None else address, is_own=False) or own

    def join(self, address: str) -> str:
        """Resolve a URL from the page to a clean absolute URL. Spaces become `%20` (URL standard,
        path percent-encode set).

        Three kinds of URLs are returned unresolved: `#part` of the page itself, empty URLs, and
        URLs with a scheme other than http, https and ftp, such as `mailto:`.

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
    """Remove the characters that the standard ignores in a URL: controls and spaces at both ends,
    and tabs and line breaks anywhere."""
    return address.strip() if address.isprintable() else address.strip(_ENDS).translate(_DROPPED)


def follow_dots(path: str) -> str:
    """Resolve `.` and `..` in an absolute path.

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
    """Return the scheme of a cleaned URL in lower case, or "" for a relative URL."""
    match = _SCHEME.match(address)
    return match[1].lower() if match else ""


def read_set(candidates: str) -> Iterator[tuple[str, str]]:
    """Yield the URL and the descriptor of each candidate in a `srcset` (HTML standard 4.8.4.2.1).

    >>> list(read_set(", a.jpg, b,c.jpg 2x"))
    [('a.jpg', ''), ('b,c.jpg', '2x')]
    """
    # Without this strip, the pattern would be tried at every comma of a list that ends in commas.
    for match in _CANDIDATE.finditer(candidates.strip(_BETWEEN)):
        yield match[1].rstrip(","), (match[2] or "").strip()


def rewrite_set(candidates: str, rewrite: Callable[[str], str | None]) -> str:
    """Rewrite each URL in a `srcset`. If `rewrite` returns None, the candidate is dropped.

    >>> rewrite_set("a.jpg, b,c.jpg 2x", str.upper)
    'A.JPG, B,C.JPG 2x'
    """
    entries: list[str] = []
    for address, descriptor in read_set(candidates):
        rewritten = rewrite(address)
        if rewritten is not None:
            entries.append(f"{rewritten} {descriptor}".rstrip())
    return ", ".join(entries)
