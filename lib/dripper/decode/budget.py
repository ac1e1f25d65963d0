"""Limits the work that a small archive can cause.

Anybody can build an archive of a few kilobytes that keeps a reader busy for hours or yields
millions of rows. Each limit is far above the values in real archives. The limits count bytes,
members and records, but not time, so that a retry, another machine or another division into spans
gives the same result. Data over a limit is reported as a fault, and reading continues after this
data.
"""

MAX_CODINGS = 5
"""Maximum number of content codings on one body, as in curl (CVE-2022-32206) and urllib3. Each
coding can inflate the output of the previous coding."""

MAX_BODY_MEMBERS = 1 << 16
"""Maximum number of gzip members or zstd frames in one body. Reading this many takes half a second.
`pigz -i` writes 256 members for 32 MiB."""

MAX_CHUNKS = 1 << 20
"""Maximum number of chunks in one body. Joining this many takes less than a second. A server that
sends each byte as a chunk reaches the maximum at 1 MiB."""

MAX_JSON = 1 << 22
"""Maximum size in bytes of a body that is parsed to check whether it is JSON. Parsing `[[],[],…`
takes 25 times its size in memory."""

_MEMBER_BYTES = 1 << 30
_MEMBER_RATIO = 100
"""A member is allowed to inflate to 1 GiB, or to 100 times its stored bytes if that is more. gzip
can reach a ratio of 1,032. Whole crawls that are stored as one member reach 20."""

MEMBER_RECORDS = 10_000
RECORD_BYTES = 16
"""A member is allowed to hold 10,000 records, or more if the records average at least 16 stored
bytes. The smallest real records, revisits in one large member, take about 100 stored bytes each."""

_DOUBT_BYTES = 1 << 26
_DOUBT_RATIO = 64

CHAIN_BYTES = 1 << 24
"""Maximum number of inflated bytes read to decide whether a span can begin at a member (see
`dripper.warc.read.spans`). For ordinary pages, about 1 MiB is enough."""

MAX_GZIP_HEADER = 4096
"""Maximum number of bytes in a gzip member's header. The header may contain a file name."""


def may_inflate(stored_bytes: int) -> int:
    """Return the number of bytes that a member is allowed to inflate to.

    Args:
        stored_bytes: The number of the member's stored bytes that have been read so far.
    """
    return max(_MEMBER_BYTES, _MEMBER_RATIO * stored_bytes)


def may_doubt(n_bytes: int, n_read: int) -> bool:
    """Return whether the search for intact members in damaged data is allowed to continue after
    reading `n_bytes` again.

    The limit is 64 MiB, plus 64 bytes for each of the `n_read` stored bytes read so far. In real
    damaged archives, the search reads about 100 kB.
    """
    return n_bytes <= _DOUBT_BYTES + _DOUBT_RATIO * n_read
