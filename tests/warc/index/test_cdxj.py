"""CDXJ, line by line."""

import gzip
import io

import pytest

from dripper.errors import FileError
from dripper.warc.index.cdxj import parse_line, read_lines
from dripper.warc.index.selection import Capture

COMMON_CRAWL = (
    'org,example)/ 20240203040506 {"url": "http://example.org/", "mime": "text/plain", "mime-detected": "text/html", '
    '"status": "200", "digest": "AAAA", "length": "1234", "offset": "567", "filename": "crawl-data/a.warc.gz", '
    '"charset": "UTF-8", "languages": "deu,eng"}'
)


def test_a_line_of_common_crawl() -> None:
    assert parse_line(COMMON_CRAWL) == Capture(
        "http://example.org/", "crawl-data/a.warc.gz", 567, 1234, 200, "text/html", ("deu", "eng")
    )


def test_numbers_and_what_may_be_missing() -> None:
    line = 'org,example)/ 20240203040506 {"url": "u", "status": "-", "length": 1, "offset": 0, "filename": "f"}'
    assert parse_line(line) == Capture("u", "f", 0, 1)


@pytest.mark.parametrize("name", ["url", "filename", "offset", "length"])
def test_what_must_be_there_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        parse_line(COMMON_CRAWL.replace(f'"{name}"', '"other"'))


def test_lines_of_several_members() -> None:
    text = [f"line {i} {'é' * 50}\n" for i in range(5000)]
    whole = "".join(text).encode()
    zipped = b"".join(gzip.compress(whole[at : at + 7000]) for at in range(0, len(whole), 7000))
    for stored in (whole, zipped, gzip.compress(whole)):
        assert list(read_lines(io.BytesIO(stored), "a.cdxj")) == [line.rstrip("\n") for line in text]


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:50] + b"xxxx" + data[54:]])
def test_a_damaged_index_is_an_error(damage: object) -> None:
    stored = damage(gzip.compress(bytes(range(256)) * 100))  # type: ignore[operator]
    with pytest.raises(FileError, match=r"a\.cdxj"):
        list(read_lines(io.BytesIO(stored), "a.cdxj"))


def test_a_line_that_does_not_end_is_no_cdxj() -> None:
    with pytest.raises(FileError, match="does not end"):
        list(read_lines(io.BytesIO(b"x" * (5 << 20)), "a.cdxj"))
