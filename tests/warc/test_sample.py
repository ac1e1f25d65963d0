"""The sample archives that the main job runs over."""

from pathlib import Path

import pytest

from dripper.warc import decode, expand, read_records

SAMPLE = Path(__file__).parents[1] / "data" / "sample"

COUNTS = {
    "kinds.warc.gz": (14, {"not a response": 16, "not html": 1}),
    "news.warc.gz": (30, {"not a response": 33, "status": 1, "not html": 1}),
    "world.warc.gz": (17, {"not a response": 19, "status": 1, "broken record": 1}),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    reader = read_records(str(SAMPLE / name))
    records = list(reader)
    assert (len(records), reader.report.skipped) == COUNTS[name]
    assert all(not record.flags and not record.truncated and not record.error_code for record in records)


def test_the_folder_is_three_archives() -> None:
    assert [Path(file.path).name for file in expand(str(SAMPLE))] == sorted(COUNTS)


def test_pages_decode_without_loss_in_several_encodings() -> None:
    found = [
        decode(record.payload, record.content_type)
        for file in expand(str(SAMPLE))
        for record in read_records(file.path)
    ]
    assert {page.encoding for page in found} >= {"utf-8", "gbk"}
    assert {page.source for page in found} >= {"http", "meta", "detector"}
    assert sum("\ufffd" in page.text for page in found) <= 3
