"""Single records by an index: the same as from whole files, and nothing is lost silently."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dripper.errors import InputError
from dripper.settings import ReadSettings
from dripper.warc import Record, read_records, read_selected, select
from dripper.warc.index.select import Place, Selected
from dripper.warc.index.selected import GAP_BYTES, group_neighbours
from support.archives import STORAGES, http, page, store, warc

LANGUAGES = {"news": "eng", "world": "deu,fra", "kinds": "jpn"}


def indexed(sample: Path) -> Iterator[tuple[Path, Record]]:
    """Yield the pages of the sample archives."""
    for file in sorted(sample.glob("*.warc.gz")):
        for record in read_records(str(file)):
            yield file, record


@pytest.fixture(scope="module")
def pages(sample: Path) -> list[tuple[Path, Record]]:
    return list(indexed(sample))


@pytest.fixture(scope="module")
def cdxj(pages: list[tuple[Path, Record]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    index = tmp_path_factory.mktemp("cdxj") / "sample.cdxj"
    with index.open("w") as out:
        for file, record in pages:
            fields = {"url": record.url, "mime": "text/html", "status": str(record.http_status)}
            place = {"filename": str(file), "offset": str(record.offset), "length": str(record.length)}
            languages = {"languages": LANGUAGES[file.name.split(".")[0]]}
            out.write(f"key 20260101000000 {json.dumps(fields | place | languages)}\n")
    return index


@pytest.fixture(scope="module")
def parquet(pages: list[tuple[Path, Record]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as Common Crawl's: `crawl=…/subset=warc/part-….parquet`."""
    folder = tmp_path_factory.mktemp("index")
    rows = [
        {
            "url": record.url,
            "url_host_name": record.url.split("/")[2],
            "url_host_registered_domain": ".".join(record.url.split("/")[2].split(".")[-2:]),
            "fetch_status": record.http_status,
            "content_mime_detected": "text/html",
            "content_languages": LANGUAGES[file.name.split(".")[0]],
            "warc_filename": str(file),
            "warc_record_offset": record.offset,
            "warc_record_length": record.length,
        }
        for file, record in pages
    ]
    part = folder / "crawl=CC-MAIN-2026-05" / "subset=warc"
    part.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), part / "part-0.parquet", row_group_size=10)
    return folder


def read_all(selected: Selected) -> list[Record]:
    found = []
    for path, places in selected.files.items():
        reader = read_selected(path, places)
        found += list(reader)
        report = reader.report
        assert report.error is None
        assert report.records == len(places) == report.pages + sum(report.skipped.values())
    return found


def test_both_indexes_give_the_pages_that_a_whole_reading_gives(
    pages: list[tuple[Path, Record]], cdxj: Path, parquet: Path
) -> None:
    whole = [record for _, record in pages]
    for index in (cdxj, parquet):
        assert read_all(select(f"index={index}")) == whole


def test_filters_say_the_same_in_both_indexes(pages: list[tuple[Path, Record]], cdxj: Path, parquet: Path) -> None:
    url = pages[0][1].url
    host = url.split("/")[2]
    prefix = url[: url.index(host) + len(host) + 1]
    domain = ".".join(host.split(".")[-2:])
    for test, wanted in (
        (f"host={host.upper()}", {r.url for _, r in pages if r.url.split("/")[2] == host}),
        (f"domain={domain}", {r.url for _, r in pages if r.url.split("/")[2].endswith(domain)}),
        (f"url-prefix={prefix}", {r.url for _, r in pages if r.url.startswith(prefix)}),
        ("language=fra,language=jpn", {r.url for f, r in pages if not f.name.startswith("news")}),
        ("status=200", {r.url for _, r in pages if r.http_status == 200}),
        ("mime=text/plain", set()),
        (f"host={host},status=404", set()),
    ):
        for index in (cdxj, parquet):
            found = select(f"index={index},{test}")
            assert {place.url for places in found.files.values() for place in places} == wanted, test


def test_a_list_of_addresses(pages: list[tuple[Path, Record]], cdxj: Path, parquet: Path, tmp_path: Path) -> None:
    wanted = [record for _, record in pages][3::20]
    urls = tmp_path / "urls.txt"
    urls.write_text("\n".join(record.url for record in wanted))
    for index in (cdxj, parquet):
        assert {record.page_id for record in read_all(select(f"index={index},urls=@{urls}"))} >= {
            record.page_id for record in wanted
        }


def test_a_selection_has_an_identity(cdxj: Path, parquet: Path) -> None:
    one = select(f"index={cdxj},host=a.org,host=b.org").identity
    assert select(f"host=B.org,index={cdxj},host=a.org").identity == one
    assert select(f"index={cdxj},host=a.org").identity != one
    assert select(f"index={parquet},host=a.org,host=b.org").identity != one


@pytest.mark.parametrize("storage", STORAGES[:2] + STORAGES[3:])
def test_a_record_that_is_not_where_the_index_says_is_counted(storage: str, tmp_path: Path) -> None:
    built = store([warc(f"http://e.org/{i}", http(page(i, 2000))) for i in range(6)], storage)
    file = tmp_path / "a.warc"
    file.write_bytes(built.data)
    spans = [(start, end - start) for start, end in built.spans]
    places = [
        Place(*spans[0], "http://e.org/0"),
        Place(spans[1][0] + 5, 500, "http://e.org/1"),
        Place(*spans[2], "http://e.org/other"),
        Place(spans[3][0], spans[3][1] // 2, "http://e.org/3"),
        Place(*spans[4], "http://e.org/4"),
        Place(spans[5][0], 1 << 30, "http://e.org/5"),
        Place(len(built.data) + 10, 10, "http://e.org/6"),
    ]
    reader = read_selected(str(file), places)
    assert [record.url[-1] for record in reader] == ["0", "4", "5"]
    assert reader.report.skipped == {"not as indexed": 4}
    assert (reader.report.records, reader.report.n_problems) == (7, 4)
    assert [problem.split(", but ")[1] for problem in reader.report.problems] == [
        "no whole record is in the 500 bytes there",
        "the record there is of http://e.org/2",
        f"no whole record is in the {spans[3][1] // 2} bytes there",
        "no whole record is in the 10 bytes there",
    ]


@pytest.mark.parametrize("storage", ["plain", "gzip"])
def test_records_of_a_file_are_those_of_a_whole_reading(storage: str, tmp_path: Path) -> None:
    built = store([warc(f"http://e.org/{i}", http(page(i, 9000))) for i in range(9)], storage)
    file = tmp_path / "a.warc"
    file.write_bytes(built.data)
    whole = list(read_records(str(file)))
    places = [Place(record.offset, record.length, record.url) for record in whole[1::3]]
    assert list(read_selected(str(file), places[::-1])) == whole[1::3]


def test_a_large_record_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.warc.index.selected._HELD_BYTES", 100)
    test_records_of_a_file_are_those_of_a_whole_reading("gzip", tmp_path)


def test_neighbours_are_read_together() -> None:
    places = [Place(at, 100, "") for at in (0, 100, 300, 300 + 100 + GAP_BYTES, 1 << 30)]
    assert [len(group) for group in group_neighbours(places)] == [4, 1]


def test_a_file_that_is_gone_is_an_error_in_the_report(tmp_path: Path) -> None:
    reader = read_selected(str(tmp_path / "none.warc"), [Place(0, 9, "http://e.org/")])
    assert list(reader) == []
    assert reader.report.error is not None


def test_broken_lines_are_counted_and_said(tmp_path: Path) -> None:
    good = json.dumps({"url": "http://e.org/", "filename": "/a.warc", "offset": 5, "length": 7})
    index = tmp_path / "a.cdxj"
    broken = ["word", "k 1 {", "k x {}", "k 1 []", f"k 1 {good.replace('5', '-5')}", f"k 1 {good.replace('7', '0')}"]
    index.write_text("\n".join([" CDX N b a", *broken, "", f"k 1 {good}"]))
    found = select(f"index={index}")
    assert found.files == {"/a.warc": (Place(5, 7, "http://e.org/"),)}
    assert found.n_problems == len(found.problems) == 6
    assert found.problems[0] == f"{index}: line 2 holds no capture: it is not a key, a timestamp and a JSON object"


def test_names_in_an_index_are_found_as_those_in_a_list(tmp_path: Path) -> None:
    line = json.dumps({"url": "http://e.org/", "filename": "crawl/a.warc", "offset": "5", "length": "7"})
    index = tmp_path / "a.cdxj"
    index.write_text(f"k 1 {line}\n")
    settings = ReadSettings(list_prefix="s3://commoncrawl")
    assert list(select(f"index={index}", settings).files) == ["s3://commoncrawl/crawl/a.warc"]
    with pytest.raises(InputError, match=r"crawl/a\.warc is neither beside it"):
        select(f"index={index}")


@pytest.mark.parametrize("what", ["language=deu", "mime=text/html"])
def test_what_an_index_does_not_tell_cannot_be_asked_for(what: str, tmp_path: Path) -> None:
    columns = {"url": ["u"], "warc_filename": ["a"], "warc_record_offset": [0], "warc_record_length": [1]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet has no column content_"):
        select(f"index={tmp_path / 'a.parquet'},{what}")


def test_an_index_of_lines_without_languages(tmp_path: Path) -> None:
    line = json.dumps({"url": "http://e.org/", "filename": "/a.warc", "offset": "5", "length": "7"})
    (tmp_path / "a.cdxj").write_text(f"k 1 {line}\n")
    with pytest.raises(InputError, match="tells no languages"):
        select(f"index={tmp_path / 'a.cdxj'},language=deu")


@pytest.mark.parametrize("name", ["none.cdxj", "none.parquet"])
def test_an_index_that_is_missing_is_a_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=name):
        select(f"index={tmp_path / name}")
