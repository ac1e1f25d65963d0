"""130-odd real archives from the tests of other projects, well-formed and broken, against another
reader's counts.

The counts (`index.json`) were made with warcio, which ends a file at its first fault. Every
difference has a rule here; a file that is in no rule must agree.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dripper.warc import FileReport, Record, read_records

FEWER_PAGES = {
    "content-resource-types.warc.gz": "a PNG that says text/html",
}
MORE_PAGES = {
    "1memento_noContentType.warc": "HTML without a Content-Type",
}
CLIPPED = {
    "clipped.warc.gz",
    "transfer_compression_none_truncated.warc.gz",
    "Evil-Warc-Headers.warc",  # its header says 6,000 bytes, the file ends after 827
    "redirect.warc",
    "example-space-in-url.arc",
    "invalid-warcrecord-3.warc",
}


@pytest.fixture(scope="module")
def corpus(archives: Path) -> dict[str, tuple[dict[str, Any], list[Record], FileReport]]:
    index = {entry["repo"].replace("/", "+") + "/" + Path(entry["path"]).name: entry for entry in read_index(archives)}
    found = {}
    for path in sorted(archives.rglob("*arc*")):
        name = f"{path.parent.name}/{path.name}"
        if path.is_file() and name in index:
            reader = read_records(str(path))
            records = list(reader)
            found[name] = (index[name], records, reader.report)
    assert len(found) >= 130
    return found


def read_index(folder: Path) -> list[dict[str, Any]]:
    return json.loads(next(folder.rglob("index.json")).read_text())  # type: ignore[no-any-return]


def good(corpus: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], list[Record], FileReport]]:
    """Yield the files that the other reader read to their end."""
    for name, (entry, records, report) in corpus.items():
        if entry["error"] is None:
            yield name.split("/")[1], entry, records, report


def test_no_file_is_an_error_and_every_report_closes(corpus: dict[str, Any]) -> None:
    for _, records, report in corpus.values():
        assert report.error is None
        assert report.records == report.pages + sum(report.skipped.values())
        assert report.pages == len(records)
        assert report.bytes_read == report.size_bytes
        assert not [record for record in records if record.error_code]


def test_records_agree_where_the_other_reader_came_to_the_end(corpus: dict[str, Any]) -> None:
    # It reads a block without a length to the end, and so also the five records after it.
    swallowed = {"invalid-warcrecord-1.warc": 6}
    for name, entry, _, report in good(corpus):
        assert report.records == swallowed.get(name, entry["records"]), name


def test_pages_agree(corpus: dict[str, Any]) -> None:
    for name, entry, _, report in good(corpus):
        assert report.pages == entry["html_200"] - (name in FEWER_PAGES) + (name in MORE_PAGES), name


def test_files_that_the_other_reader_gave_up_have_more_in_them(corpus: dict[str, Any]) -> None:
    for name, (entry, _, report) in corpus.items():
        if entry["error"] and not name.endswith("broken.warc"):  # there it counted text inside a broken record
            assert report.records >= entry["records"], name


def test_what_is_clipped_is_said_to_be(corpus: dict[str, Any]) -> None:
    assert {name.split("/")[1] for name, (_, _, report) in corpus.items() if report.clipped} == CLIPPED


def test_bodies_have_the_bytes_that_the_other_reader_saw(corpus: dict[str, Any]) -> None:
    # Only if it counted the same pages: it counts the bytes of all statuses.
    for name, entry, records, report in good(corpus):
        if report.pages == entry["html"]:
            assert sum(len(record.payload) for record in records) == entry["html_bytes"], name


def test_the_total(corpus: dict[str, Any]) -> None:
    assert sum(report.records for _, _, report in corpus.values()) == 3600
    assert sum(report.pages for _, _, report in corpus.values()) == 485
