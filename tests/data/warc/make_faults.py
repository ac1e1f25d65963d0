"""Write the archives of this folder: three made-up pages, and one fault a file."""

import gzip
from pathlib import Path

from support.archives import arc, http, page, store, warc

HERE = Path(__file__).parent


def main() -> None:
    """Write every file again."""
    for name, data in faults().items():
        (HERE / name).write_bytes(data)


def pages(**length: int | str) -> list[bytes]:
    """Return three records; `length` is the length that the second one states."""
    return [
        warc("http://example.org/1", http(page(1))),
        warc("http://example.org/2", http(page(2)), **length),
        warc("http://example.org/3", http(page(3))),
    ]


def faults() -> dict[str, bytes]:
    """Return name and bytes of each file."""
    built = store(pages(), "gzip")
    start, end = built.spans[1]
    plain = b"".join(pages())
    arcs = [arc(f"http://example.org/{i}", http(page(i))) for i in (1, 2, 3)]
    chunks = b"4\r\n<!do\r\nzz\r\nctype html><p>text</p>\r\n0\r\n\r\n"
    return {
        "clipped.warc.gz": built.data[: end - 100],
        "damaged-member.warc.gz": built.data[: start + 12] + b"\xff" * 20 + built.data[start + 32 :],
        "wrong-checksum.warc.gz": built.data[: end - 8] + b"\0\0\0\0" + built.data[end - 4 :],
        "length-too-long.warc": b"".join(pages(length=len(http(page(2))) + 300)),
        "length-too-short.warc": b"".join(pages(length=200)),
        "no-length.warc": b"".join(pages(length="unknown")),
        "broken-header.warc": plain.replace(b"WARC/1.0", b"W?RC/1.0")
        .replace(b"W?RC/1.0", b"WARC/1.0", 1)
        .replace(b"W?RC/1.0", b"WARC/1.0\0", 1)
        .replace(b"W?RC", b"WARC"),
        "broken-url-line.arc": b"".join([arcs[0], b"?" + arcs[1], arcs[2]]),
        "warc-truncated.warc": warc("http://example.org/", http(page(1)), WARC_Truncated="length"),
        "whole-file-gzip.warc.gz": store(pages(), "gzip whole").data,
        "wrong-chunks.warc": warc("http://example.org/", coded(chunks, "Transfer-Encoding: chunked")),
        "gzip-that-is-plain.warc": warc("http://example.org/", coded(page(1), "Content-Encoding: gzip")),
        "body-unreadable.warc": warc("http://example.org/", coded(b"\x01\x02\x03", "Content-Encoding: gzip")),
        "gzip-cut-short.warc": warc(
            "http://example.org/", coded(gzip.compress(page(1, 3000), mtime=0)[:-300], "Content-Encoding: gzip")
        ),
    }


def coded(body: bytes, header: str) -> bytes:
    """Return an HTTP response with a header for the coding of its body."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{header}\r\n\r\n".encode() + body


if __name__ == "__main__":
    main()
