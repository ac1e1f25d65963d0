"""One canonical address per archive file, whatever way its path was typed: what the ledger's keys
and page ids are made of."""

import hashlib
import os
import re
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from dripper.warc.location import bucket_and_key, is_s3
from dripper.warc.source import is_http, local_path

_COMMON_CRAWL = ("data.commoncrawl.org", "commoncrawl")
"""A server, and the bucket that it shows."""

_S3_HOST = re.compile(r"(?:(?P<bucket>[a-z0-9][a-z0-9.-]+)\.)?s3[.-](?:[a-z0-9-]+\.)*amazonaws\.com(?:\.cn)?")
"""Amazon's addresses of a bucket: `BUCKET.s3.REGION.amazonaws.com/KEY`,
`s3.REGION.amazonaws.com/BUCKET/KEY`."""

_SIGNATURE = re.compile(r"x-amz-|x-goog-|awsaccesskeyid$|expires$|signature$|s[a-z]{1,2}$", re.IGNORECASE)
"""Parameters of presigned addresses (Amazon, Google, Azure): they change from one day to the next,
and hold credentials."""

_SIGNED = re.compile(r"(?:^|&)(?:x-amz-signature|x-goog-signature|signature|sig)=", re.IGNORECASE)

_CRAWL = re.compile(r"/crawl-data/([^/]+)/|/(CC-(?:MAIN-\d{4}-\d{2,4}|NEWS))/")
"""Common Crawl's layout of folders; others keep copies of a crawl in a folder of its name."""

_SAFE = "/~:@!$&'()*+,;="
"""What a URL's path may hold unescaped (RFC 3986, 3.3)."""


def canonical_address(path: str) -> str:
    """Return the one address by which the file at `path` is known.

    A local file: its absolute path, with symbolic links resolved. S3 (`s3a://`, `s3n://`, Amazon's
    HTTP addresses, Common Crawl's server): `s3://bucket/key`. Other HTTP addresses: scheme and host
    in lower case, without a default port, a fragment or a signature. Others, such as `hdfs://`:
    scheme and host in lower case. Never raises; needs no network.

    >>> canonical_address("s3a://commoncrawl/x.warc.gz")
    's3://commoncrawl/x.warc.gz'
    >>> canonical_address("https://data.commoncrawl.org/x.warc.gz")
    's3://commoncrawl/x.warc.gz'
    >>> canonical_address("HTTPS://Example.org:443/a//b.warc#top")
    'https://example.org/a//b.warc'
    """
    if is_s3(path):
        return f"s3://{path.split('://', 1)[1]}"
    if is_http(path.lower()):
        return _http_address(path)
    if "://" in path and not path.startswith(("file:/", "dbfs:/")):
        scheme, rest = path.split("://", 1)
        host, slash, name = rest.partition("/")
        return f"{scheme.lower()}://{host.lower()}{slash}{name}"
    return os.path.realpath(local_path(path))


def opening_path(path: str) -> str:
    """Return how to open the file from other processes: a local file by its canonical address,
    another as it was typed."""
    return path if is_s3(path) or "://" in path.removeprefix("file://") else canonical_address(path)


def reading_path(path: str) -> str:
    """Return how to open the file later: as `opening_path`, but without a signature, which must not
    be kept in a table."""
    return _without_signature(opening_path(path)) if is_http(path.lower()) else opening_path(path)


def page_id(warc_file: str, offset: int, inflated: bool = False) -> str:
    """Return the first 32 hex digits of sha256(canonical address, line feed, offset).

    inflated: the offset counts inflated bytes (`Frame.inflated`); it then has a plus sign, so that
    it never meets another's.
    """
    return hashlib.sha256(
        f"{warc_file}\n{'+' if inflated else ''}{offset}".encode("utf-8", "surrogateescape")
    ).hexdigest()[:32]


def crawl_of(warc_file: str) -> str | None:
    """Return the crawl of Common Crawl that an archive file is of, where a folder in its address
    says so; else None.

    >>> crawl_of("s3://commoncrawl/crawl-data/CC-MAIN-2024-10/segments/1707947473347.0/warc/a.warc.gz")
    'CC-MAIN-2024-10'
    """
    found = _CRAWL.search(warc_file)
    return (found[1] or found[2]) if found else None


def _http_address(url: str) -> str:
    try:
        parts = urlsplit(_without_signature(url))
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").lower()
    if host == _COMMON_CRAWL[0]:
        return f"s3://{_COMMON_CRAWL[1]}{unquote(parts.path)}"
    if bucket := _bucket(host, parts.path):
        return bucket
    default = {"http": 80, "https": 443}[parts.scheme]
    server = host if port in (None, default) else f"{host}:{port}"
    path = quote(unquote(parts.path), safe=_SAFE) or "/"
    return urlunsplit((parts.scheme, server, path, parts.query, ""))


def _bucket(host: str, path: str) -> str | None:
    """Return the `s3://` address of an object that Amazon's HTTP address names; None where it names
    none."""
    found = _S3_HOST.fullmatch(host)
    if not found:
        return None
    address = f"s3://{found['bucket'] + '/' if found['bucket'] else ''}{unquote(path).removeprefix('/')}"
    return address if bucket_and_key(address)[1] else None


def _without_signature(url: str) -> str:
    """Return a URL without the parameters of a presigned address; another URL's query is part of
    its address."""
    base, question, query = url.partition("#")[0].partition("?")
    if not question or not _SIGNED.search(query):
        return base + question + query
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if not _SIGNATURE.match(name)]
    return f"{base}?{urlencode(kept)}" if kept else base
