"""Archives that repeat one construct, a given number of times, to make reading expensive for the
size of the archive.

A function a construct. A new one is a line in `ARCHIVES`; `benchmarks/complexity.py` measures it,
and `tests/decode/test_budget.py` guards it from then on."""

import gzip
import struct
import zlib
from collections.abc import Callable, Mapping

import zstandard

from support.archives import arc, http, page, warc

ArchiveConstruct = Callable[[int], bytes]
"""Returns an archive with a construct n times."""
GOOD = gzip.compress(warc("http://e.org/good", http(page(1))), mtime=0)
SMALL = b"WARC/1.0\r\nA:\r\nContent-Length:0\r\n\r\n"
FALSE_LENGTH = b"WARC/1.0\r\nA:\r\nContent-Length:%9d\r\n\r\nxx\r\n"
NAMED_HEADER = b"\x1f\x8b\x08\x08" + b"\x01" * 6
"""A member's header with a name, which may contain other headers."""


def deflated(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


def stored_block(data: bytes) -> bytes:
    return b"\0" + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data


def in_phase(n: int) -> bytes:
    """Members of one stored block each, which all end at the same byte; the bytes after it belong
    to all."""
    size, found = 15 + len(SMALL), b""
    for i in range(n):
        length = (n - i) * size - 15
        found += b"\x1f\x8b\x08" + bytes(8) + struct.pack("<HH", length, length ^ 0xFFFF) + SMALL
    return found + stored_block(SMALL * 1800) * (n // 250 + 1) + b"\x07" + GOOD


def nested_headers(n: int, n_records: int = 100) -> bytes:
    return NAMED_HEADER * n + b"\0" + deflated(warc("http://e.org/", http(page(1))) * n_records)


def empty_members(n: int) -> bytes:
    body = gzip.compress(page(2)) + gzip.compress(b"") * n
    return gzip.compress(warc("http://e.org/", http(body, extra="Content-Encoding: gzip\r\n"))) + GOOD


def blank_members(n: int) -> bytes:
    """Headers that all begin the same member of blanks."""
    return GOOD + b"x" * 20 + NAMED_HEADER * n + b"\0" + deflated(b" " * (1 << 25)) + b"1" * 8 + GOOD


def false_members(n: int) -> bytes:
    return GOOD + b"x" * 20 + b"\x1f\x8b\x08" * n + GOOD


def damaged_members(n: int) -> bytes:
    member = bytearray(gzip.compress(warc("http://e.org/", http(page(1, 2000)))))
    member[-5] ^= 1
    return bytes(member) * n + GOOD


def endless_header(n: int) -> bytes:
    return gzip.compress(b"WARC/1.0\r\nA:\r\n" * n) + GOOD


def far_ends(n: int) -> bytes:
    """Records that claim to end within the same run of line ends."""
    records = b"".join(FALSE_LENGTH % (n * 70) for _ in range(n))
    return gzip.compress(records + b"\n" * (n * 400) + b"x") + GOOD


def far_members(n: int) -> bytes:
    """Records that claim to reach over many members."""
    return gzip.compress(FALSE_LENGTH % 20_000_000 * n) + gzip.compress(b"z") * n + GOOD


def coded(n: int) -> bytes:
    """A body that is gzip in gzip in gzip, with as many codings as a header may name."""
    body = page(2, 100 * n)
    for _ in range(400):
        body = gzip.compress(body, 0)
    extra = f"Content-Encoding: {','.join(['gzip'] * 400)}\r\n"
    return gzip.compress(warc("http://e.org/2", http(body, extra=extra))) + GOOD


def bombs(n: int) -> bytes:
    """Bodies that decompress to more than the limit of a page."""
    body = gzip.compress(bytes(1 << 26))
    return gzip.compress(warc("http://e.org/2", http(body, extra="Content-Encoding: gzip\r\n"))) * n + GOOD


def dictionaries(n: int) -> bytes:
    """A zstd dictionary that decompresses to n MiB."""
    content = zstandard.compress(bytes(n << 20))
    frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    return frame + zstandard.compress(warc("http://e.org/", http(page(1))))


def empty_frames(n: int) -> bytes:
    body = zstandard.compress(page(2)) + zstandard.compress(b"") * n
    return gzip.compress(warc("http://e.org/", http(body, extra="Content-Encoding: zstd\r\n"))) + GOOD


def small_chunks(n: int) -> bytes:
    body = b"".join(b"1\r\n%c\r\n" % byte for byte in page(2) + b"a" * n) + b"0\r\n\r\n"
    return gzip.compress(warc("http://e.org/", http(body, extra="Transfer-Encoding: chunked\r\n"))) + GOOD


def long_chunk_lines(n: int) -> bytes:
    body = (b"1;" + b"a" * 1000 + b"\r\nx\r\n") * n
    return gzip.compress(warc("http://e.org/", http(body, extra="Transfer-Encoding: chunked\r\n"))) + GOOD


def folded_headers(n: int) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nA: b" + b"\r\n c" * n + b"\r\n\r\n" + page(2)
    return gzip.compress(warc("http://e.org/", block)) + GOOD


def folded_carriage_returns(n: int) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nA: b" + b"\r\n c" * 1500 + b"\r" * n + b"x\r\n\r\n" + page(2)
    return gzip.compress(warc("http://e.org/", block)) + GOOD


def many_headers(n: int) -> bytes:
    block = b"HTTP/1.1 200 OK\r\n" + b"".join(b"A%d: b\r\n" % i for i in range(n)) + b"\r\n" + page(2)
    return gzip.compress(warc("http://e.org/", block)) + GOOD


def interim_responses(n: int) -> bytes:
    block = b"HTTP/1.1 100 Continue\r\n\r\n" * n + http(page(2))
    return gzip.compress(warc("http://e.org/", block)) + GOOD


def empty_archive_members(n: int) -> bytes:
    return gzip.compress(b"") * n + GOOD


def skippable_frames(n: int) -> bytes:
    frame = b"\x5e\x2a\x4d\x18" + bytes(4)
    record = zstandard.compress(warc("http://e.org/", http(page(1))))
    return record + frame * n + record


def arc_lines(n: int) -> bytes:
    """Lines that begin like the headers of ARC records, but are not."""
    return (
        arc("http://e.org/1", http(page(1))) + b"http://e.org/ 1.2.3.4 x \n" * n + arc("http://e.org/2", http(page(2)))
    )


def arc_blanks(n: int) -> bytes:
    line = b"http://e.org/" + b" 1" * 400 + b" \n"
    return arc("http://e.org/1", http(page(1))) + line * n + arc("http://e.org/2", http(page(2)))


def small_records(n: int) -> bytes:
    return SMALL * n + warc("http://e.org/1", http(page(1)))


def version_lines(n: int) -> bytes:
    return b"WARC/1.0\r\n" * n + warc("http://e.org/1", http(page(1)))


def line_ends(n: int) -> bytes:
    return warc("http://e.org/1", http(page(1))) + b"\r\n" * n + warc("http://e.org/1", http(page(1)))


def zeros(n: int) -> bytes:
    return GOOD + bytes(n) + GOOD


def records_in_records(n: int) -> bytes:
    """Truncated records that each contain all later ones."""
    return b"".join(
        b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\nx\r\n" % (10**6) for _ in range(n)
    ) + warc("http://e.org/1", http(page(1)))


ARCHIVES: Mapping[str, tuple[ArchiveConstruct, int, str]] = {
    "members in phase": (in_phase, 250, "warc.gz"),
    "headers within names": (nested_headers, 100, "warc.gz"),
    "gzip body of empty members": (empty_members, 4000, "warc.gz"),
    "zstd body of empty frames": (empty_frames, 4000, "warc.gz"),
    "headers of one blank member": (blank_members, 40, "warc.gz"),
    "false headers": (false_members, 20_000, "warc.gz"),
    "damaged members": (damaged_members, 30, "warc.gz"),
    "empty members": (empty_archive_members, 2000, "warc.gz"),
    "skippable frames": (skippable_frames, 4000, "warc.zst"),
    "dictionary that inflates": (dictionaries, 20, "warc.zst"),
    "header without end": (endless_header, 1000, "warc.gz"),
    "false lengths to one place": (far_ends, 200, "warc.gz"),
    "false lengths over members": (far_members, 4000, "warc.gz"),
    "records in records": (records_in_records, 300, "warc"),
    "content codings, 400": (coded, 40, "warc.gz"),
    "bodies that inflate": (bombs, 5, "warc.gz"),
    "chunks of one byte": (small_chunks, 20_000, "warc.gz"),
    "chunks of long lines": (long_chunk_lines, 200, "warc.gz"),
    "header lines folded": (folded_headers, 4000, "warc.gz"),
    "header of carriage returns": (folded_carriage_returns, 5000, "warc.gz"),
    "header lines": (many_headers, 2000, "warc.gz"),
    "interim responses": (interim_responses, 2000, "warc.gz"),
    "lines like an ARC's": (arc_lines, 1000, "arc"),
    "blanks like an ARC's": (arc_blanks, 40, "arc"),
    "smallest records": (small_records, 500, "warc"),
    "version lines": (version_lines, 2000, "warc"),
    "line ends": (line_ends, 20_000, "warc"),
    "zeros": (zeros, 100_000, "warc.gz"),
}
"""Each with its first number of repetitions, and the ending of the archive's name."""
