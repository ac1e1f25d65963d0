"""Archives inside a WACZ: the pages that they have by themselves, each once, at the bytes of the
WACZ."""

import gzip
import io
import struct
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dripper.decode.compression import RUN_BYTES
from dripper.errors import InputError
from dripper.warc import FileReport, Record, read_records, read_selected, select
from dripper.warc.open import wacz
from dripper.warc.open.expand import expand
from dripper.warc.read import spans
from dripper.warc.read.reader import read_record_at
from dripper.warc.read.record import ArchiveFault, Span, cut, find_archive_fault, merge_reports
from support.archives import STORAGES
from support.fault_proxy import FaultProxy, faulty
from support.storage_night import put, read, storage
from support.waczs import archive, build_wacz, write_index

FIRST, SECOND = archive(0, 5), archive(5, 4)


def read_all(path: Path, span: Span | None = None) -> tuple[list[Record], FileReport]:
    with closing(read_records(str(path), span=span)) as reader:
        return list(reader), reader.report


def fault(report: FileReport) -> ArchiveFault | None:
    return find_archive_fault(report.records, report.skipped, report.clipped)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.wacz"
    index = gzip.compress(write_index("a.warc.gz", FIRST, 0) + write_index("b.warc.gz", SECOND, 5))
    path.write_bytes(build_wacz({"a.warc.gz": FIRST.data, "b.warc.gz": SECOND.data}, {"indexes/index.cdx.gz": index}))
    return path


@pytest.mark.parametrize("storage_kind", STORAGES)
def test_pages_are_those_of_the_archives(storage_kind: str, tmp_path: Path) -> None:
    built = [archive(0, 5, storage=storage_kind), archive(5, 4, storage=storage_kind)]
    expected = []
    for number, one in enumerate(built):
        alone = tmp_path / f"{number}.warc"
        alone.write_bytes(one.data)
        expected += read_all(alone)[0]
    path = tmp_path / "crawl.wacz"
    path.write_bytes(build_wacz({f"{number}.warc": one.data for number, one in enumerate(built)}))
    records, report = read_all(path)
    as_alone = [
        replace(found, page_id=one.page_id, warc_file=one.warc_file, offset=one.offset)
        for found, one in zip(records, expected, strict=True)
    ]
    assert as_alone == expected
    assert len({record.page_id for record in records}) == 9
    assert {record.warc_file for record in records} == {str(path)}
    assert (report.records, report.pages, report.n_problems, report.error) == (9, 9, 0, None)
    assert report.bytes_read == sum(len(one.data) for one in built)


def test_the_bytes_at_a_page_s_place_are_its_record(file: Path) -> None:
    data = file.read_bytes()
    for record in read_all(file)[0]:
        alone = gzip.decompress(data[record.offset : record.offset + record.length])
        assert f"WARC-Target-URI: {record.url}\r\n".encode() in alone
        assert read_record_at(str(file), record.offset, record.page_id) == record


@pytest.mark.parametrize("storage_kind", ["gzip", "plain", "gzip whole"])
@pytest.mark.parametrize("n_spans", [2, 5, 60])
def test_spans_make_up_the_file(
    storage_kind: str, n_spans: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans, "RUN_BYTES", dict.fromkeys(RUN_BYTES, 500))
    path = tmp_path / "crawl.wacz"
    archives = {f"{i}.warc.gz": archive(20 * i, 20, 600, storage_kind).data for i in range(3)}
    path.write_bytes(build_wacz(archives, {"archive/z.warc.gz": b""}))
    whole, report = read_all(path)
    assert len(whole) == 60
    assert report.problems == ["archive/z.warc.gz: the file is empty"]
    parts = [read_all(path, span) for span in cut(path.stat().st_size, n_spans)]
    assert [record for records, _ in parts for record in records] == whole
    assert merge_reports([part for _, part in parts]) == report


@pytest.mark.parametrize("kind", ["sizes behind the members", "64-bit sizes", "bytes before the ZIP", "a comment"])
def test_other_ways_to_write_a_zip(kind: str, file: Path) -> None:
    data = build_wacz({"a.warc.gz": FIRST.data}, streamed=kind == "sizes behind the members")
    if kind == "64-bit sizes":
        out = io.BytesIO()
        with (
            zipfile.ZipFile(out, "w") as container,
            container.open("archive/a.warc.gz", "w", force_zip64=True) as member,
        ):
            member.write(FIRST.data)
        data = out.getvalue()
    elif kind == "a comment":
        data = data[:-2] + struct.pack("<H", 50_000) + bytes(50_000)
    elif kind == "bytes before the ZIP":
        data = build_wacz({"a.warc.gz": FIRST.data}, {"archive/a.wacz": data})
    file.write_bytes(data)
    records, report = read_all(file)
    assert (len({record.page_id for record in records}), report.n_problems) == (
        10 if kind.startswith("bytes") else 5,
        0,
    )


def test_collections_hold_wacz_files_of_their_own(file: Path) -> None:
    inner = build_wacz({"a.warc.gz": FIRST.data, "b.warc.gz": SECOND.data})
    for _ in range(2):
        inner = build_wacz({}, {"crawl.wacz": inner})
    file.write_bytes(inner)
    records, report = read_all(file)
    assert ([record.url for record in records], report.n_problems) == ([f"http://e.org/{i}" for i in range(9)], 0)
    assert records[3] == read_record_at(str(file), records[3].offset, records[3].page_id)
    file.write_bytes(build_wacz({}, {"crawl.wacz": inner}))
    assert read_all(file)[1].problems == ["crawl.wacz/crawl.wacz/crawl.wacz lies in 3 others, more than are opened"]


def test_what_cannot_be_read_is_named_and_the_rest_is_read(file: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as container:
        container.writestr("archive/a.warc.gz", FIRST.data)
        container.writestr("archive/b.warc.gz", SECOND.data, zipfile.ZIP_DEFLATED)
        container.writestr("archive/c.warc.gz", SECOND.data)
    data = bytearray(out.getvalue())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1  # of the third member: it is encrypted
    file.write_bytes(data)
    records, report = read_all(file)
    assert len(records) == 5
    assert report.problems == [
        "archive/b.warc.gz is compressed by the ZIP, not stored: unzip it, and give the archive itself",
        "archive/c.warc.gz is encrypted: decrypt it, and give the archive itself",
    ]
    assert (report.records, report.skipped, report.error) == (7, {"unreadable": 2}, None)
    assert fault(report) is ArchiveFault.UNREADABLE
    parts = [read_all(file, span)[1] for span in cut(len(data), 9)]
    assert merge_reports(parts).skipped == {"unreadable": 2}


def test_a_file_that_is_cut_short_has_no_directory(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-30])
    records, report = read_all(file)
    assert records == []
    assert "may be cut short, fetch it again" in report.problems[0]
    assert (fault(report), report.error) == (ArchiveFault.UNREADABLE, None)


def test_no_record_is_read_twice(file: Path) -> None:
    """Two entries of one member, and an entry with too large a size."""
    data = bytearray(build_wacz({"a.warc.gz": FIRST.data, "b.warc.gz": SECOND.data}))
    first = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", first + 1)
    struct.pack_into("<I", data, second + 42, 0)  # the position of its header
    file.write_bytes(data)
    records, report = read_all(file)
    assert len({record.page_id for record in records}) == len(records)
    assert report.n_problems
    assert report.records == len(records) + sum(report.skipped.values())


def test_a_zip_without_archives_is_named(file: Path) -> None:
    file.write_bytes(build_wacz({}))
    records, report = read_all(file)
    assert (records, fault(report)) == ([], ArchiveFault.NO_ARCHIVE)
    assert report.problems == ["it is a ZIP without archives: no name in it ends in .warc or .warc.gz"]


def test_a_directory_has_a_bound(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wacz, "_TAIL_BYTES", 22)
    monkeypatch.setattr(wacz, "_MAX_DIRECTORY_BYTES", 100)
    assert read_all(file)[1].problems == ["its ZIP directory has more than 100 bytes"]


def test_folders_have_them(file: Path) -> None:
    assert [found.path for found in expand(str(file.parent))] == [str(file)]


def test_its_own_index_selects_records(file: Path) -> None:
    whole = {record.url: record for record in read_all(file)[0]}
    selected = select(f"index={file},url-prefix=http://e.org/3,url-prefix=http://e.org/7")
    assert (list(selected.files), selected.n_records, selected.n_problems) == ([str(file)], 2, 0)
    with closing(read_selected(str(file), selected.files[str(file)])) as reader:
        assert list(reader) == [whole["http://e.org/3"], whole["http://e.org/7"]]
    assert (reader.report.records, reader.report.n_problems) == (2, 0)


def test_an_index_that_is_wrong_or_missing(file: Path) -> None:
    index = write_index("a.warc.gz", FIRST, 1) + write_index("gone.warc.gz", SECOND, 5)
    file.write_bytes(build_wacz({"a.warc.gz": FIRST.data}, {"indexes/index.cdxj": index}))
    selected = select(f"index={file}")
    assert (selected.n_records, selected.n_problems) == (5, 4)
    assert "its index names gone.warc.gz, which is not in it" in selected.problems[0]
    with closing(read_selected(str(file), selected.files[str(file)])) as reader:
        assert list(reader) == []
    assert reader.report.skipped == {"not as indexed": 5}
    file.write_bytes(build_wacz({"a.warc.gz": FIRST.data}))
    with pytest.raises(InputError, match=r"has no index: no name in it is like indexes/index\.cdx\.gz"):
        select(f"index={file}")


@pytest.fixture(scope="module")
def proxy() -> Iterator[FaultProxy]:
    with storage(1, 1) as (endpoint, _), faulty(endpoint, lambda *_: None) as running:
        archives = {f"{i}.warc.gz": archive(20 * i, 20, 20_000).data for i in range(3)}
        put(endpoint, "crawl.wacz", build_wacz(archives))
        yield running


@pytest.mark.parametrize("scheme", ["s3", "http"])
def test_of_a_remote_file_only_ranges_are_asked_for(proxy: FaultProxy, scheme: str) -> None:
    proxy.requests.clear()
    records, report = read("crawl.wacz", proxy.endpoint, scheme, 30, 1)
    assert (len(records), report.error, report.n_problems) == (60, None, 0)
    assert len(proxy.requests) <= 2 + 2 * 3  # its first bytes and its directory, then two for each archive
