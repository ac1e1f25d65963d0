"""Parses the value of `--select`, which selects captures in an index.

    index=INDEX[,index=…][,host=example.org][,domain=…][,language=deu][,status=200][,mime=text/html][,url-prefix=…][,urls=@FILE]

A key may occur several times. A capture is selected if it matches, for each key that occurs, one of
the key's values. A comma within a value is written as %2C."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TypeVar

from dripper.addresses import ascii_host, host_name
from dripper.errors import InputError

KEYS = ("index", "url-prefix", "host", "domain", "language", "status", "mime", "urls")
"""The keys of `--select`.

index: A CDXJ file (`.cdxj`, `.cdx`, gzipped or not), a WACZ file with its own index, a Parquet
file, or a folder or prefix with Parquet files.

url-prefix: The beginning of the URL.

host: The full host name.

domain: The host name or a suffix of it.

language: An ISO 639-3 code, as in Common Crawl.

status: The HTTP status.

mime: The media type that the crawler detected. If the index lacks this type, the type that the
server sent.

urls: @ and the path of a file with one URL per line.
"""

Value = TypeVar("Value", str, int)

_EXAMPLE = "write for instance index=cc-index.parquet,host=example.org,status=200"


@dataclass(frozen=True, slots=True)
class Capture:
    """An index entry.

    file: The archive, as named in the index.

    offset, length: The stored byte range of the record.

    languages: None if the index contains no languages.
    """

    url: str
    file: str
    offset: int
    length: int
    status: int | None = None
    mime: str = ""
    languages: tuple[str, ...] | None = None

    @property
    def host(self) -> str:
        """The host in the URL, in lower case; "" if there is none."""
        return host_name(self.url) or ""


@dataclass(frozen=True, slots=True)
class Selection:
    """The conditions that select captures. An empty field accepts every value, but only `urls=None`
    accepts every URL."""

    indexes: tuple[str, ...]
    url_prefixes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    statuses: tuple[int, ...] = ()
    mimes: tuple[str, ...] = ()
    urls: frozenset[str] | None = None

    def wants(self, capture: Capture) -> bool:
        """Return whether a capture is selected.

        >>> capture = Capture("https://www.example.org/", "a.warc", 0, 9)
        >>> Selection(("i",), domains=("example.org",)).wants(capture)
        True
        """
        host = capture.host if self.hosts or self.domains else ""
        return (
            (self.urls is None or capture.url in self.urls)
            and (not self.url_prefixes or capture.url.startswith(self.url_prefixes))
            and (not self.hosts or host in self.hosts)
            and (not self.domains or any(host == d or host.endswith("." + d) for d in self.domains))
            and (not self.statuses or capture.status in self.statuses)
            and (not self.mimes or capture.mime.lower() in self.mimes)
            and (not self.languages or not set(self.languages).isdisjoint(capture.languages or ()))
        )

    def identity(self, versions: dict[str, str | None], files: Iterable[str] = ()) -> str:
        """Return 16 hex digits that change if the conditions, an index, or an archive's address
        changes. The order of the conditions does not matter.

        Args:
            versions: Canonical address of each index file → its version.
            files: The archives' addresses.
        """
        conditions = {name: sorted(value) if value is not None else None for name, value in asdict(self).items()}
        del conditions["indexes"]
        description = json.dumps([conditions, sorted(versions.items()), sorted(files)], ensure_ascii=True)
        return hashlib.sha256(description.encode()).hexdigest()[:16]


def parse_selection(text: str) -> tuple[Selection, str | None]:
    """Parse the value of `--select`. Return the selection, and the path of the URL list or None.
    The list is not read. Raises InputError if the value is invalid.

    >>> parse_selection("index=a.cdxj,host=Example.org,status=200")[0].hosts
    ('example.org',)
    """
    values: dict[str, list[str]] = {key: [] for key in KEYS}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = part.partition("=")
        if key not in values or not equals:
            raise InputError(f"--select: {part!r} is none of {', '.join(f'{k}=…' for k in KEYS)}; {_EXAMPLE}")
        if not value:
            raise InputError(f"--select: {key}= has no value; leave it out, or {_EXAMPLE}")
        values[key].append(value.replace("%2C", ",").replace("%2c", ","))
    if not values["index"]:
        raise InputError(f"--select names no index; {_EXAMPLE}")
    if len(values["urls"]) > 1 or not all(value.startswith("@") for value in values["urls"]):
        raise InputError("--select: urls= takes one @ and a file of addresses, as in urls=@addresses.txt")
    selection = Selection(
        indexes=_drop_repeats(values["index"]),
        url_prefixes=_drop_repeats(values["url-prefix"]),
        hosts=_drop_repeats(ascii_host(value) for value in values["host"]),
        domains=_drop_repeats(ascii_host(value.removeprefix("*.")).strip(".") for value in values["domain"]),
        languages=_drop_repeats(value.lower() for value in values["language"]),
        statuses=_drop_repeats(_parse_status(value) for value in values["status"]),
        mimes=_drop_repeats(value.lower() for value in values["mime"]),
    )
    return selection, values["urls"][0][1:] if values["urls"] else None


def _drop_repeats(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(values))


def _parse_status(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) == 3):
        raise InputError(f"--select: status={value} is not an HTTP status; write for instance status=200")
    return int(value)
