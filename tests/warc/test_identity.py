"""One address a file: however a path is typed, the same file has the same, and other files have
others."""

import base64
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from dripper.warc import read_records
from dripper.warc.expand import expand
from dripper.warc.identity import canonical_address, crawl_of, reading_path
from support.warcs import pages, write_warc

CRAWL = "s3://commoncrawl/crawl-data/CC-MAIN-2026-10/x.warc.gz"
SIGNED = "https://bucket.s3.eu-west-1.amazonaws.com/a/x.warc.gz?X-Amz-Signature=ab&X-Amz-Date=1&versionId=3"


@pytest.mark.parametrize(
    "typed",
    [
        CRAWL,
        CRAWL.replace("s3:", "s3a:"),
        CRAWL.replace("s3:", "s3n:"),
        "https://data.commoncrawl.org/crawl-data/CC-MAIN-2026-10/x.warc.gz",
        "https://commoncrawl.s3.amazonaws.com/crawl-data/CC-MAIN-2026-10/x.warc.gz",
        "https://s3.us-east-1.amazonaws.com/commoncrawl/crawl-data/CC-MAIN-2026-10/x.warc.gz",
    ],
)
def test_a_file_of_common_crawl_has_one_address(typed: str) -> None:
    assert canonical_address(typed) == CRAWL


def test_a_local_file_has_one_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    june, july = tmp_path / "june", tmp_path / "july"
    for folder in (june, july):
        folder.mkdir()
        (folder / "crawl.warc.gz").touch()
    (tmp_path / "latest").symlink_to(june)
    whole = str(june / "crawl.warc.gz")
    ways = [
        whole,
        f"file://{whole}",
        f"file:{whole}",
        f"file://localhost{whole}",
        str(tmp_path / "latest/crawl.warc.gz"),
    ]
    monkeypatch.chdir(june)
    ways += ["crawl.warc.gz", "./crawl.warc.gz", "../july/../june/crawl.warc.gz"]
    assert {canonical_address(way) for way in ways} == {os.path.realpath(whole)}
    monkeypatch.chdir(july)
    assert canonical_address("crawl.warc.gz") == os.path.realpath(july / "crawl.warc.gz")


def test_a_signature_is_no_part_of_an_address_and_is_kept_nowhere() -> None:
    later = SIGNED.replace("=ab", "=cd").replace("Date=1", "Date=2")
    assert canonical_address(SIGNED) == canonical_address(later) == "s3://bucket/a/x.warc.gz"
    assert reading_path(SIGNED) == "https://bucket.s3.eu-west-1.amazonaws.com/a/x.warc.gz?versionId=3"
    assert canonical_address("https://example.org/get?file=3") == "https://example.org/get?file=3"


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("HTTP://Example.ORG:80/A b.warc#end", "http://example.org/A%20b.warc"),
        ("http://example.org/A%20b.warc", "http://example.org/A%20b.warc"),
        ("http://example.org:8080/a", "http://example.org:8080/a"),
        ("hdfs://NameNode:8020/a/B", "hdfs://namenode:8020/a/B"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_addresses_of_other_servers(typed: str, address: str) -> None:
    assert canonical_address(typed) == address


@given(st.text(min_size=1, max_size=60).filter(lambda text: "\0" not in text))
def test_an_address_is_its_own_address(text: str) -> None:
    for typed in (text, f"https://example.org/{text}", f"s3://bucket/{text}"):
        address = canonical_address(typed)
        assert canonical_address(address) == address


def test_what_reads_a_file_later_reads_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert reading_path("a.warc") == reading_path(f"file://{tmp_path}/a.warc") == os.path.realpath(tmp_path / "a.warc")
    assert reading_path("s3a://bucket/a.warc") == "s3a://bucket/a.warc"


def test_a_page_has_one_id_and_its_file_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_warc(tmp_path / "a.warc", pages(1, 2))
    monkeypatch.chdir(tmp_path)
    ways = ["a.warc", str(tmp_path / "a.warc"), f"file://{tmp_path}/a.warc"]
    found = {tuple((record.page_id, record.warc_file) for record in read_records(way)) for way in ways}
    assert len(found) == 1
    assert len(expand(",".join(ways))) == 1


def test_a_page_keeps_what_others_name_it_by(tmp_path: Path) -> None:
    body = pages(1, 1)[0][1]
    write_warc(tmp_path / "a.warc.gz", [("http://example.org/1", body)])
    (record,) = read_records(str(tmp_path / "a.warc.gz"))
    assert record.payload_digest_sha1 == base64.b32encode(hashlib.sha1(body).digest()).decode()
    (stored,) = ArchiveIterator((tmp_path / "a.warc.gz").open("rb"))
    assert record.record_id == stored.rec_headers.get_header("WARC-Record-ID")
    assert record.record_id.startswith("<urn:uuid:")


@pytest.mark.parametrize(
    ("address", "crawl"),
    [
        ("s3://commoncrawl/crawl-data/CC-MAIN-2008-2009/segments/1/warc/a.warc.gz", "CC-MAIN-2008-2009"),
        ("s3://commoncrawl/crawl-data/CC-NEWS/2024/01/CC-NEWS-20240101-1.warc.gz", "CC-NEWS"),
        ("/data/CC-MAIN-2024-10/a.warc.gz", "CC-MAIN-2024-10"),
        ("/data/CC-MAIN-20240220211055-20240221001055-00000.warc.gz", None),
    ],
)
def test_the_crawl_is_what_a_folder_says(address: str, crawl: str | None) -> None:
    assert crawl_of(address) == crawl


def test_a_file_that_changes_has_another_version(tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    write_warc(file, pages(1, 2))
    before = expand(str(file))[0]
    os.utime(file, ns=(1, 1))
    assert expand(str(tmp_path))[0].version == "mtime:1" != before.version
    reader = read_records(str(file))
    list(reader)
    assert (reader.report.version, reader.report.size_bytes) == ("mtime:1", before.size_bytes)
