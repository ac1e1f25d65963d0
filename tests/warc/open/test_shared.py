"""Accesses to one file share its bytes: the same bytes, and few requests, counted at a real S3
server."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.decode.compression import RUN_BYTES
from dripper.settings import ReadSettings
from dripper.warc import read_records
from dripper.warc.open import shared
from dripper.warc.open.shared import SharedSource
from dripper.warc.open.source import LocalFile
from dripper.warc.read import reader as module
from dripper.warc.read import spans
from dripper.warc.read.record import Span, cut, merge_reports
from support.archives import http, page, store, warc
from support.fault_proxy import FaultProxy, faulty
from support.storage_night import BUCKET, put, read, storage

DATA = bytes(i * i % 251 for i in range(60_000))
SMALL = {"FIRST_BYTES": 100, "_PULL_BYTES": 300, "_BEHIND_BYTES": 700, "_HELD_BYTES": 3000, "_FIRST_STEP": 500}
"""Of the sizes in the module, so that small files meet all of them."""


def records(n: int) -> list[bytes]:
    """Return records; two thirds are pages of 20 kB."""
    return [warc(f"http://e.org/{i}", http(page(i, 20_000)), "response" if i % 3 else "request") for i in range(n)]


@pytest.fixture(scope="module")
def split() -> bytes:
    """An archive of 1,500 records in three spans."""
    return store(records(750), "gzip").data * 2


class Remote:
    """A file with streams that end at given places; counts them."""

    version: str | None = None

    def __init__(self, data: bytes, knows_size: bool = True) -> None:
        self.size_bytes: int | None = len(data) if knows_size else None
        self.n_opened = 0
        self._data = data

    def open_at(self, offset: int, end: int | None = None) -> io.BytesIO:
        assert end is None or (end > offset and self.size_bytes is not None)
        self.n_opened += 1
        return io.BytesIO(self._data[offset:end])

    def close(self) -> None:
        pass


@pytest.fixture
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setattr(shared, name, value)


offsets = st.integers(0, len(DATA) + 10)
Step = tuple[int, int, bool]


@pytest.mark.usefixtures("small_sizes")
@given(
    begin=offsets,
    length=st.one_of(st.none(), st.integers(1, 20_000)),
    knows_size=st.booleans(),
    starts=st.lists(offsets, min_size=1, max_size=5),
    steps=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 2000), st.booleans()), max_size=200),
)
def test_every_stream_gives_the_bytes_of_the_file(
    begin: int, length: int | None, knows_size: bool, starts: list[int], steps: list[Step]
) -> None:
    """With any concurrent reads, and if one falls far behind."""
    source = SharedSource(Remote(DATA, knows_size), begin, None if length is None else begin + length)
    streams, places = [source.open_at(at) for at in starts], list(starts)
    for number, size, reopens in steps:
        i = number % len(starts)
        if reopens:
            streams[i].close()
            streams[i], places[i] = source.open_at(starts[i]), starts[i]
        data = streams[i].read(size)
        assert data == DATA[places[i] : places[i] + len(data)]
        assert data or places[i] >= len(DATA)
        assert len(data) <= size
        places[i] += len(data)


def test_a_stream_that_goes_to_the_end_takes_one_request() -> None:
    remote = Remote(DATA)
    stream = SharedSource(remote, 0, None).open_at(0)
    assert b"".join(iter(lambda: stream.read(1000), b"")) == DATA
    assert remote.n_opened == 1


@pytest.mark.usefixtures("small_sizes")
def test_what_is_kept_has_a_bound() -> None:
    source = SharedSource(Remote(DATA), 0, None)
    ahead, _behind = source.open_at(0), source.open_at(0)
    while ahead.read(1000):
        assert len(source._stretches[0]._held) <= SMALL["_HELD_BYTES"] + SMALL["_BEHIND_BYTES"] + SMALL["_PULL_BYTES"]


@pytest.mark.usefixtures("small_sizes")
@pytest.mark.parametrize("storage_kind", ["gzip", "zstd", "lz4", "plain", "gzip whole"])
def test_spans_of_a_shared_file_make_up_the_file(
    storage_kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(store(records(200), storage_kind).data)
    whole = read_records(str(file))
    expected = list(whole)

    def open_shared(path: str, _: ReadSettings, begin: int, until: int | None) -> SharedSource:
        local = LocalFile(path)
        return SharedSource(local, begin, until)

    monkeypatch.setattr(module, "open_shared", open_shared)
    monkeypatch.setattr(spans, "RUN_BYTES", dict.fromkeys(RUN_BYTES, 1000))
    readers = [read_records(str(file), span=span) for span in cut(file.stat().st_size, 7)]
    assert [record for reader in readers for record in reader] == expected
    assert merge_reports([reader.report for reader in readers]) == whole.report


class Counts(NamedTuple):
    """The requests of one reading, and their bytes."""

    requests: int
    n_bytes: int


@pytest.fixture(scope="module")
def proxy(split: bytes) -> Iterator[FaultProxy]:
    with storage(1, 3) as (endpoint, _), faulty(endpoint, lambda *_: None) as running:
        put(endpoint, "split.warc.gz", split)
        yield running


def count(proxy: FaultProxy, key: str, size: int, span: Span) -> tuple[int, Counts]:
    """Return the number of pages in a span, and the requests for it."""
    proxy.requests.clear()
    records, report = read(key, proxy.endpoint, "s3", 30, 1, span)
    assert report.error is None
    n_bytes = 0
    for _, _, headers in proxy.requests:
        start, _, last = headers["range"].removeprefix("bytes=").partition("-")
        n_bytes += min(size, int(last) + 1 if last else size) - int(start)
    return len(records), Counts(len(proxy.requests), n_bytes)


def test_a_small_object_takes_one_request(proxy: FaultProxy) -> None:
    size = read("000.warc.gz", proxy.endpoint, "s3", 30, 1)[1].size_bytes
    assert size is not None
    assert count(proxy, "000.warc.gz", size, Span()) == (3, Counts(1, size))


def test_a_span_takes_three_requests_at_most_and_few_bytes_twice(proxy: FaultProxy, split: bytes) -> None:
    size = len(split)
    spans = cut(size, size // (4 << 20))
    assert len(spans) == 3
    found = [count(proxy, "split.warc.gz", size, span) for span in spans]
    assert sum(n_pages for n_pages, _ in found) == 1000
    assert max(counts.requests for _, counts in found) <= 3
    assert sum(counts.n_bytes for _, counts in found) <= 1.05 * size
    assert f"/{BUCKET}/split.warc.gz" in proxy.requests[0][1]
