"""Bodies compressed with a dictionary from an earlier record of the archive."""

import hashlib
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from dripper.decode.compression import RUN_BYTES
from dripper.warc import Record, read_records, read_selected
from dripper.warc.index.select import Place
from dripper.warc.read import spans
from dripper.warc.read.offered import Offered
from dripper.warc.read.reader import read_record_at
from dripper.warc.read.record import cut
from support.archives import http, page, store, warc

OLD, NEW, NEWER = page(1, 4000), page(1, 4000) + b"<p>more", page(1, 4000) + b"<p>more<p>still more"
OFFER = 'Use-As-Dictionary: match="/*"\r\n'


def dcz(body: bytes, dictionary: bytes) -> bytes:
    raw = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    frame = zstandard.ZstdCompressor(dict_data=raw).compress(body)
    return b"\x5e\x2a\x4d\x18\x20\0\0\0" + hashlib.sha256(dictionary).digest() + frame


def coded(number: int, body: bytes, coding: str = "dcz", extra: str = "") -> bytes:
    return warc(f"http://e.org/{number}", http(body, extra=f"Content-Encoding: {coding}\r\n{extra}"))


def chain() -> list[bytes]:
    """Return a style sheet and a page that are dictionaries, one that is coded by the first and a
    dictionary itself, and pages behind them."""
    return [
        warc("http://e.org/0", http(OLD, "text/css", extra=OFFER)),
        coded(1, dcz(NEW, OLD), extra=OFFER.lower()),
        *(warc(f"http://e.org/{i}", http(page(i, 900))) for i in range(2, 20)),
        coded(20, dcz(NEWER, NEW)),
        *(warc(f"http://e.org/{i}", http(page(i, 900))) for i in range(21, 30)),
        coded(30, dcz(NEWER, OLD)),
    ]


def read(path: Path) -> list[Record]:
    with closing(read_records(str(path))) as reader:
        return list(reader)


@pytest.mark.parametrize("storage", ["gzip", "plain", "gzip whole", "zstd"])
def test_a_body_is_read_with_the_dictionary_before_it(storage: str, tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(store(chain(), storage).data)
    pages = {record.url: record for record in read(file)}
    assert [pages[f"http://e.org/{i}"].payload for i in (1, 20, 30)] == [NEW, NEWER, NEWER]
    assert pages["http://e.org/20"].error_code is None
    assert pages["http://e.org/20"].flags == (("inflated offset",) if storage == "gzip whole" else ())


@pytest.mark.parametrize("storage", ["gzip", "plain"])
def test_every_way_of_reading_finds_it(storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "RUN_BYTES", dict.fromkeys(RUN_BYTES, 300))
    file = tmp_path / "a.warc"
    file.write_bytes(store(chain(), storage).data)
    whole = read(file)
    parts = [read_records(str(file), span=span) for span in cut(file.stat().st_size, 6)]
    assert [record for part in parts for record in part] == whole
    coded_ones = [record for record in whole if record.url in ("http://e.org/20", "http://e.org/30")]
    assert [read_record_at(str(file), record.offset, record.page_id) for record in coded_ones] == coded_ones
    places = [Place(record.offset, record.length, record.url) for record in coded_ones]
    assert list(read_selected(str(file), places)) == coded_ones


@pytest.mark.parametrize(
    ("body", "coding", "words"),
    [
        (dcz(NEW, OLD), "dcz", f"offers the dictionary {hashlib.sha256(OLD).hexdigest()}"),
        (b"\xffDCB" + bytes(32) + b"\x8b", "dcb", "Python's brotli takes no dictionary"),
        (b"\x00\x01\x02", "dcz", "that is not its first bytes"),
    ],
)
def test_what_cannot_be_read_is_named(body: bytes, coding: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    later = warc("http://e.org/0", http(OLD, "text/css", extra=OFFER))  # too late
    file.write_bytes(store([coded(1, body, coding), later], "gzip").data)
    (record,) = read(file)
    assert (record.error_code, record.payload) == ("body_unreadable", b"")
    assert words in (record.error_detail or "")
    assert "RFC 9842" in (record.error_detail or "")


def test_a_body_that_was_stored_decoded_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(store([coded(1, NEW)], "gzip").data)
    (record,) = read(file)
    assert (record.payload, record.flags) == (NEW, ("not encoded",))


def test_few_dictionaries_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.warc.read.offered.MAX_DICTIONARIES_BYTES", 10)
    kept = Offered(lambda *_: None)
    for one in (b"first", b"second", b"third"):
        kept.add(one, "", "", 10)
    found = [kept.find_before(0, hashlib.sha256(one).digest()) for one in (b"first", b"second", b"third")]
    assert found == [None, None, b"third"]
