"""One address per file: it does not depend on how the path is typed, and different files have
different ones."""

import base64
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from dripper.warc import read_records
from dripper.warc.open.expand import expand
from dripper.warc.open.identity import canonical_address, find_crawl, reading_path
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


SAS = "sv=2024-11-04&se=2026-01-01&sr=b&sp=r&skoid=1&ske=2&sig=ab%3D"


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        (
            "X-Amz-Algorithm=AWS4&X-Amz-Credential=AK&X-Amz-Security-Token=t&X-Amz-Signature=1&x-id=GetObject",
            "x-id=GetObject",
        ),
        ("AWSAccessKeyId=AK&Expires=1&Signature=x%3D&versionId=3", "versionId=3"),
        ("X-Goog-Algorithm=G&X-Goog-Credential=c&X-Goog-Signature=1&generation=5", "generation=5"),
        ("GoogleAccessId=a%40b&Expires=1&Signature=x", ""),
        ("Expires=1&Signature=x&Key-Pair-Id=K", ""),
        ("Policy=p&Signature=x&Key-Pair-Id=K&part=2", "part=2"),
        (SAS, ""),
        (f"{SAS}&snapshot=7", "snapshot=7"),
        # Not a known signature: the other parameters belong to the file.
        ("sid=1&sig=a", "sid=1"),
        ("se=1&sr=2&expires=3&policy=4", "se=1&sr=2&expires=3&policy=4"),
        ("a=%7e&&b+c", "a=%7e&&b+c"),
    ],
)
def test_of_a_query_only_what_signs_it_is_left_out(query: str, kept: str) -> None:
    address = "https://example.org/a.warc.gz"
    wanted = f"{address}?{kept}" if kept else address
    assert canonical_address(f"{address}?{query}") == reading_path(f"{address}?{query}") == wanted
    assert canonical_address(wanted) == wanted


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://e.org/get?sid=1&sig=a", "https://e.org/get?sid=2&sig=b"),
        ("https://e.org/get?token=a", "https://e.org/get?token=b"),
        ("https://e.org/get?se=1&sig=a", "https://e.org/get?se=2&sig=a"),
        ("https://e.org/a%2Fb.warc", "https://e.org/a/b.warc"),
        ("https://e.org/%FF.warc", "https://e.org/%FE.warc"),
        ("https://e.org/a.warc?token=1&part=%FF", "https://e.org/a.warc?token=1&part=%FE"),
    ],
)
def test_other_files_have_other_addresses(one: str, other: str) -> None:
    assert canonical_address(one) != canonical_address(other)
    assert canonical_address(canonical_address(one)) == canonical_address(one)


@pytest.mark.parametrize(
    ("today", "tomorrow"),
    [
        ("https://e.org/a.warc.gz?token=SECRET", "https://e.org/a.warc.gz?token=OTHER"),
        ("https://e.org/get?file=a.warc.gz&access_token=SECRET", "https://e.org/get?access_token=OTHER&file=a.warc.gz"),
        ("https://cdn.e.org/a.warc.gz?hdnts=exp=1~hmac=SECRET", "https://cdn.e.org/a.warc.gz"),
        ("https://user:SECRET@e.org/a.warc.gz", "https://e.org/a.warc.gz"),
        ("https://SECRET@e.org/a.warc.gz", "https://e.org/a.warc.gz"),
        ("https://user:SECRET@[broken", "https://[broken"),
        ("hdfs://user:SECRET@nn:8020/a.warc.gz", "hdfs://user@nn:8020/a.warc.gz"),
        ("sftp://user:p@ss/word@e.org/a.warc.gz", "sftp://user@ss/word@e.org/a.warc.gz"),
        ("s3a://AKIA0:SECRET/+x@bucket/a.warc.gz", "s3a://bucket/a.warc.gz"),
        (f"wasbs://c@a.blob.core.windows.net/a.warc.gz?{SAS}SECRET", "wasbs://c@a.blob.core.windows.net/a.warc.gz"),
        ("https://e.org/get?token=SECRET", "https://e.org/get?TOKEN=SECRET"),
    ],
)
def test_no_table_holds_a_credential_and_a_new_token_is_no_new_file(today: str, tomorrow: str) -> None:
    assert "SECRET" not in canonical_address(today) + reading_path(today)
    assert canonical_address(today).lower() == canonical_address(tomorrow).lower()


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("S3://bucket/A", "s3://bucket/A"),
        ("s3://bucket/a?token=1#b", "s3://bucket/a?token=1#b"),
        ("hdfs://nn/a?token=1.warc", "hdfs://nn/a?token=1.warc"),
        ("abfss://Crawl@Account/A", "abfss://crawl@account/A"),
        ("https://e.org/a.warc?", "https://e.org/a.warc"),
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
    assert find_crawl(address) == crawl


def test_a_file_that_changes_has_another_version(tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    write_warc(file, pages(1, 2))
    before = expand(str(file))[0]
    os.utime(file, ns=(1, 1))
    assert expand(str(tmp_path))[0].version == "mtime:1" != before.version
    reader = read_records(str(file))
    list(reader)
    assert (reader.report.version, reader.report.size_bytes) == ("mtime:1", before.size_bytes)


def test_a_link_to_nothing_and_a_name_that_is_not_utf_8_are_named_as_people_find_them(tmp_path: Path) -> None:
    (tmp_path / "link.warc.gz").symlink_to("sub/nowhere")
    assert canonical_address(str(tmp_path / "link.warc.gz")) == f"{tmp_path.resolve()}/link.warc.gz"
    latin = os.fsdecode(os.fsencode(tmp_path) + b"/latin\xe9.warc.gz")
    Path(latin).touch()
    assert canonical_address(latin) == f"{tmp_path.resolve()}/latin\\xe9.warc.gz"
