"""Maps every spelling of an archive's path to one canonical address. The ledger's keys and the page
ids are derived from this address."""

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from dripper.warc.open.source import ARCHIVE_NAME, bucket_and_key, has_file_system, is_http, is_s3, local_path

_COMMON_CRAWL = ("data.commoncrawl.org", "commoncrawl")
"""Common Crawl's server, and the S3 bucket that has the same files."""

_S3_HOST = re.compile(r"(?:(?P<bucket>[a-z0-9][a-z0-9.-]+)\.)?s3[.-](?:[a-z0-9-]+\.)*amazonaws\.com(?:\.cn)?")
"""Matches the host in Amazon's HTTP URLs for objects: `BUCKET.s3.REGION.amazonaws.com/KEY` or
`s3.REGION.amazonaws.com/BUCKET/KEY`."""


_SIGNATURES = {
    frozenset({"x-amz-signature"}): re.compile("x-amz-.*"),
    frozenset({"x-goog-signature"}): re.compile("x-goog-.*"),
    frozenset({"signature"}): re.compile(
        "signature|expires|policy|hash-algorithm|(?:aws|oss)accesskeyid|googleaccessid|key-pair-id|keyname|security-token"
        "|x-(?:amz|goog)-.*"
    ),
    frozenset({"sig", "sv"}): re.compile(
        "sig|s[veiprts]|spr|sip|srt|sdd|ses|sk[tesv]|skoid|sktid|skdutid|sduoid|saoid|suoid|scid"
    ),
}
"""Query parameters that mark a presigned URL → the pattern of its volatile or secret parameters.

The entries are, in order: Amazon; Google; the older schemes of both, with CloudFront and Alibaba;
Azure. A URL counts as presigned only if at least two parameters match the pattern. A single match
proves nothing: `sr` or `expires` may be part of the file's own URL.
"""

_CREDENTIALS = frozenset(
    (
        *("token", "access_token", "access-token", "accesstoken", "auth_token", "authtoken", "id_token"),
        *("refresh_token", "private_token", "x-access-token", "__token__", "jwt", "bearer", "auth", "authorization"),
        *("api_key", "api-key", "apikey", "password", "passwd", "pwd", "secret", "client_secret"),
        *("sig", "signature", "hmac", "hdnts", "hdnea", "hdntl", "__gda__"),
        *("awsaccesskeyid", "x-amz-signature", "x-amz-credential", "x-amz-security-token"),
        *("x-goog-signature", "x-goog-credential"),
    )
)
"""Query parameters with secret values, in lower case. Akamai's tokens are called `hdn…`."""

_REDACTED = re.compile(r"redacted-[0-9a-f]{12}")

_S3_SECRET = re.compile(r"\A[A-Za-z0-9]+:[A-Za-z0-9+/=%]*@")
"""Matches an access key and secret in front of the bucket, a form that old Hadoop versions
accepted. The secret may contain slashes."""

_CRAWL = re.compile(r"/crawl-data/([^/]+)/|/(CC-(?:MAIN-\d{4}-\d{2,4}|NEWS))/")
"""Matches a crawl's name in Common Crawl's folder layout, or in a mirror with a folder named after
the crawl."""

_SLASH = re.compile("%2F", re.IGNORECASE)
"""Matches an escaped slash, which is part of a name and does not separate folders."""

_SAFE = "/~:@!$&'()*+,;="
"""Characters that may appear unescaped in a URL path (RFC 3986, 3.3)."""


def canonical_address(path: str) -> str:
    """Return the address that identifies the file at `path`, regardless of how the path is written.

    - Local files: the absolute path with symbolic links resolved. Bytes that are not UTF-8 are
      escaped; such an address cannot be opened.
    - S3 (`s3a://`, `s3n://`, Amazon's HTTP URLs, Common Crawl's server): `s3://bucket/key`.
    - Other HTTP URLs: scheme and host in lower case, without default port, fragment and
      credentials.
    - Other schemes, such as `hdfs://`: scheme and host in lower case, without password.

    Never raises and never accesses the network.

    >>> canonical_address("s3a://commoncrawl/x.warc.gz")
    's3://commoncrawl/x.warc.gz'
    >>> canonical_address("https://data.commoncrawl.org/x.warc.gz")
    's3://commoncrawl/x.warc.gz'
    >>> canonical_address("HTTPS://Example.org:443/a//b.warc#top")
    'https://example.org/a//b.warc'
    """
    if is_s3(path):
        return f"s3://{strip_credentials(path).split('://', 1)[1]}"
    if is_http(path):
        return _normalize_http_address(path)
    if has_file_system(path):
        scheme, rest = strip_credentials(path).split("://", 1)
        host, slash, name = rest.partition("/")
        return f"{scheme.lower()}://{host.lower()}{slash}{name}"
    return _name_local_file(local_path(path))


def _name_local_file(path: Path) -> str:
    """Return the real path of a file. For a broken link, return the path of the link itself, which
    helps users find it. Bytes that are not UTF-8 are escaped, because table columns cannot store
    them."""
    real = Path(os.path.realpath(path))
    if not real.exists() and path.is_symlink():
        real = Path(os.path.realpath(path.parent), path.name)
    return os.fsencode(real).decode("utf-8", "backslashreplace")


def opening_path(path: str) -> str:
    """Return a path that other processes can open: the canonical address of a local file, or `path`
    itself if it is remote."""
    return path if is_s3(path) or is_http(path) or has_file_system(path) else canonical_address(path)


def reading_path(path: str) -> str:
    """Return a path that can be stored in a table and opened later: `opening_path` without
    credentials."""
    return strip_credentials(opening_path(path))


def strip_credentials(address: str) -> str:
    """Remove the password, signature and tokens from an address, so that it can be stored safely.

    A token parameter (`?token=`, `?sig=`) is removed if the rest of the URL still names an archive.
    (Each new link to the same file has another token.) Otherwise, the URLs of two files could be
    the same except for their tokens, so the value is replaced by a short hash.

    >>> strip_credentials("https://u:p@e.org/a.warc.gz?token=1f&part=2")
    'https://e.org/a.warc.gz?part=2'
    >>> strip_credentials("https://e.org/get?token=1f")
    'https://e.org/get?token=redacted-e53de62e4724'
    >>> strip_credentials("hdfs://user:secret@namenode/a.warc")
    'hdfs://user@namenode/a.warc'
    """
    if is_s3(address):
        scheme, rest = address.split("://", 1)
        return f"{scheme}://{_S3_SECRET.sub('', rest, count=1)}"
    if not (is_http(address) or has_file_system(address)):
        return address
    web = is_http(address)
    base, mark, query = (address.partition("#")[0] if web else address).partition("?")
    harmless = _strip_query(base, query, _CREDENTIALS if web else frozenset())
    return _strip_password(base, keeps_user=not web) + (mark + harmless if harmless or not query else "")


def _strip_password(base: str, *, keeps_user: bool) -> str:
    """Remove the password from an address.

    keeps_user: Whether to keep the user name. In Azure's addresses, the user name is the container;
    in HTTP URLs, it may be a token.
    """
    scheme, rest = base.split("://", 1)
    authority, slash, path = rest.partition("/")
    user, _, host = authority.rpartition("@")
    user = user.partition(":")[0] if keeps_user else ""
    return f"{scheme}://{user}{'@' if user else ''}{host}{slash}{path}"


def page_id(warc_file: str, offset: int, inflated: bool = False, base: int = 0) -> str:
    """Return a page's id: the first 32 hex digits of sha256(canonical address, line feed, offset).

    A plus sign precedes an offset that counts inflated (decompressed) bytes, so that the offset
    cannot collide with an offset of stored bytes.

    Args:
        inflated: Whether `offset` counts inflated bytes (see `Frame.inflated`).
        base: For an archive inside a WACZ, the offset at which the archive begins. This offset
            precedes the plus sign, because inflated bytes are counted separately in each archive.
    """
    mark = f"{base or ''}+" if inflated else ""
    return hashlib.sha256(f"{warc_file}\n{mark}{offset}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def find_crawl(warc_file: str) -> str | None:
    """Return the name of the Common Crawl crawl that contains an archive, or None if the archive's
    address contains no crawl name.

    >>> find_crawl("s3://commoncrawl/crawl-data/CC-MAIN-2024-10/segments/1707947473347.0/warc/a.warc.gz")
    'CC-MAIN-2024-10'
    """
    match = _CRAWL.search(warc_file)
    return (match[1] or match[2]) if match else None


def _normalize_http_address(url: str) -> str:
    bare = strip_credentials(url)
    try:
        parts = urlsplit(bare)
        port = parts.port
    except ValueError:
        return bare
    host = (parts.hostname or "").lower()
    if host == _COMMON_CRAWL[0]:
        return f"s3://{_COMMON_CRAWL[1]}{unquote(parts.path)}"
    if bucket := _find_bucket_address(host, parts.path):
        return bucket
    default = {"http": 80, "https": 443}[parts.scheme]
    server = host if port in (None, default) else f"{host}:{port}"
    path = "%2F".join(map(_normalize_escapes, _SLASH.split(parts.path))) or "/"
    return urlunsplit((parts.scheme, server, path, parts.query, ""))


def _normalize_escapes(path: str) -> str:
    """Normalise the percent-encoding of one part of a path."""
    return quote(unquote(path, errors="surrogateescape"), safe=_SAFE, errors="surrogateescape")


def _find_bucket_address(host: str, path: str) -> str | None:
    """Convert an Amazon HTTP URL to an `s3://` address. Return None for any other URL."""
    match = _S3_HOST.fullmatch(host)
    if not match:
        return None
    address = f"s3://{match['bucket'] + '/' if match['bucket'] else ''}{unquote(path).removeprefix('/')}"
    return address if bucket_and_key(address)[1] else None


def _strip_query(base: str, query: str, credentials: frozenset[str]) -> str:
    """Remove signatures and the parameters in `credentials` from a query. If the query has neither,
    return it unchanged."""
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    names = {name.lower() for name, _ in pairs}
    signed = [set(filter(changing.fullmatch, names)) for mark, changing in _SIGNATURES.items() if mark <= names]
    dropped = {name for group in signed if len(group) > 1 for name in group}
    unsigned = [(name, value) for name, value in pairs if name.lower() not in dropped]
    bare = [(name, value) for name, value in unsigned if name.lower() not in credentials]
    if len(bare) == len(pairs):
        return query
    if len(bare) < len(unsigned) and not any(map(ARCHIVE_NAME.search, (unquote(base), *(value for _, value in bare)))):
        bare = [(name, _redact(name, value) if name.lower() in credentials else value) for name, value in unsigned]
    return urlencode(bare, errors="surrogateescape")


def _redact(name: str, value: str) -> str:
    if _REDACTED.fullmatch(value):
        return value
    return "redacted-" + hashlib.sha256(f"{name.lower()}={value}".encode("utf-8", "surrogateescape")).hexdigest()[:12]
