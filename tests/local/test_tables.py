"""Tables with a column of HTML."""

import bz2
import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dripper.errors import ErrorCode, InputError
from dripper.local.inputs import InputKind, expand_inputs
from dripper.local.pages import InputCounts, PageOptions, read_pages
from dripper.local.tables import Columns
from dripper.settings import ReadSettings
from dripper.warc import Record
from support.warcs import page

SETTINGS = ReadSettings()
PAGES = [(page(number)[0], page(number)[1].decode()) for number in range(3)]


def records(file: Path, columns: Columns | None = None, settings: ReadSettings = SETTINGS) -> list[Record]:
    (found,) = expand_inputs([str(file)], settings)
    assert found.kind is InputKind.TABLE
    return list(read_pages([found], settings, (), InputCounts(), PageOptions(columns=columns or Columns())))


def write_lines(file: Path, html: str = "html") -> None:
    file.write_text("".join(json.dumps({"id": 1, "url": url, html: page}) + "\n\n" for url, page in PAGES))


def write_csv(file: Path, html: str = "html") -> None:
    with file.open("w", newline="", encoding="utf-8-sig") as stream:
        writer = csv.writer(stream, delimiter="\t" if ".tsv" in file.name else ",")
        writer.writerows([["url", html], *PAGES])


def write_parquet(file: Path, html: str = "html") -> None:
    pq.write_table(pa.table({"url": [url for url, _ in PAGES], html: [page for _, page in PAGES]}), file)


@pytest.mark.parametrize(
    ("name", "fill"),
    [("a.jsonl", write_lines), ("a.csv", write_csv), ("a.tsv", write_csv), ("a.parquet", write_parquet)],
)
def test_each_row_is_a_page(tmp_path: Path, name: str, fill: Callable[..., None]) -> None:
    fill(tmp_path / name)
    found = records(tmp_path / name)
    assert [(record.url, record.payload.decode()) for record in found] == PAGES
    assert [record.offset for record in found] == [0, 1, 2]
    assert len({record.page_id for record in found}) == 3
    assert {record.content_type for record in found} == {"text/html; charset=utf-8"}
    fill(tmp_path / name, "page source")
    with pytest.raises(InputError, match=r"which column holds HTML\? --html-column is one of .*page source"):
        records(tmp_path / name)
    assert len(records(tmp_path / name, Columns(html="page source"))) == 3
    with pytest.raises(InputError, match="has no column adress: --url-column must be one of"):
        records(tmp_path / name, Columns("page source", "adress"))


@pytest.mark.parametrize(("ending", "squeeze"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed_lines(tmp_path: Path, ending: str, squeeze: Callable[[bytes], bytes]) -> None:
    write_lines(tmp_path / "a.jsonl")
    (tmp_path / f"a.jsonl{ending}").write_bytes(squeeze((tmp_path / "a.jsonl").read_bytes()))
    assert [record.url for record in records(tmp_path / f"a.jsonl{ending}")] == [url for url, _ in PAGES]


def test_bytes_are_decoded_as_pages_are(tmp_path: Path) -> None:
    html = '<meta charset="windows-1252"><p>Es regnete überall.'.encode("cp1252")
    pq.write_table(pa.table({"content": [html]}), tmp_path / "a.parquet")
    (record,) = records(tmp_path / "a.parquet")
    assert (record.payload, record.content_type, record.url) == (html, None, "")


def test_a_bad_row_is_one_error(tmp_path: Path) -> None:
    rows = ['{"html": "<p>one"}', "not json", '{"html": 7}', '{"html": "%PDF-1.7"}', "[]", '{"html": null}']
    (tmp_path / "a.jsonl").write_text("\n".join([*rows, json.dumps({"html": "<p>" + "x" * 5000})]))
    codes = [record.error_code for record in records(tmp_path / "a.jsonl", settings=ReadSettings(page_bytes=4000))]
    unreadable, other = ErrorCode.UNREADABLE, ErrorCode.NOT_HTML
    assert codes == [None, unreadable, other, other, unreadable, None, ErrorCode.PAGE_TOO_LARGE]


def test_a_line_that_no_page_can_have_is_one_error(tmp_path: Path) -> None:
    long = json.dumps({"html": "x" * 3_000_000})
    (tmp_path / "a.jsonl").write_text("\n".join(['{"html": "<p>one"}', long, '{"html": "<p>two"}']))
    found = records(tmp_path / "a.jsonl", settings=ReadSettings(page_bytes=4000))
    assert [record.error_code for record in found] == [None, ErrorCode.UNREADABLE, None]


def test_a_table_that_is_none_is_left_for_another_run(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("no table")
    (file,) = expand_inputs([str(tmp_path / "a.parquet")], SETTINGS)
    seen = InputCounts()
    assert list(read_pages([file], SETTINGS, (), seen)) == []
    assert str(tmp_path / "a.parquet") in seen.unread[0]
