"""Limits the cost of reading in proportion to its yield.

Anybody can build an archive of some kilobytes that keeps a reader busy for hours, or that gives
millions of rows. Each limit here is far above the practice of archive writers. All limits count
bytes, members and records, and none counts time, so that a retry, another machine and another cut
into spans decide alike. Data over a limit is a fault with a name, and reading goes on behind it.
"""

MAX_CODINGS = 5
"""Content codings of one body, as in curl (CVE-2022-32206) and urllib3: each may inflate the output
of the one before."""

MAX_BODY_MEMBERS = 1 << 16
"""gzip members or zstd frames of one body: half a second. `pigz -i` writes 256 for 32 MiB."""

MAX_CHUNKS = 1 << 20
"""Chunks of one body: below a second. A server that sends every byte by itself has as many for 1
MiB."""

MAX_JSON = 1 << 22
"""Bytes of a body that are parsed to learn whether it is JSON: `[[],[],…` takes 25 times as much
memory."""

_MEMBER_BYTES = 1 << 30
_MEMBER_RATIO = 100
"""A member may inflate to 1 GiB, and to more if this is at most 100 times the stored bytes; gzip
could reach 1,032 times. Whole crawls in one member reach 20 times."""

MEMBER_RECORDS = 10_000
RECORD_BYTES = 16
"""A member may hold 10,000 records, and more if each takes 16 stored bytes or more. The smallest
real ones, revisits in one large member, take some 100."""

_DOUBT_BYTES = 1 << 26
_DOUBT_RATIO = 64

CHAIN_BYTES = 1 << 24
"""Inflated bytes that are read to learn whether a span may begin at a member
(`dripper.warc.read.spans`); pages take 1 MiB."""

MAX_GZIP_HEADER = 4096
"""Bytes of a member's own header, with the name of the file that was compressed."""


def may_inflate(stored_bytes: int) -> int:
    """Return the number of bytes that a member may inflate to. stored_bytes: its bytes read so
    far."""
    return max(_MEMBER_BYTES, _MEMBER_RATIO * stored_bytes)


def may_doubt(n_bytes: int, n_read: int) -> bool:
    """Return whether so many bytes may be read a second time, because a damaged member used them
    and other members may lie in them: 64 MiB, and 64 bytes for each of the `n_read` stored bytes
    that were read. Real damage takes some 100 kB."""
    return n_bytes <= _DOUBT_BYTES + _DOUBT_RATIO * n_read
