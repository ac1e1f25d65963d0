"""This reader's column in the table of readers of archives."""

from contextlib import closing
from pathlib import Path

import pytest

from dripper.warc import Record, read_records
from support.neighbour_archives import Case, build_cases
from support.neighbour_rows import read_rows

TABLE = Path(__file__).parents[2] / "docs" / "neighbours" / "archives.md"
CASES = list(build_cases())


def read(case: Case, folder: Path) -> list[Record]:
    file = folder / f"a{case.suffix}"
    file.write_bytes(case.data)
    with closing(read_records(str(file))) as reader:
        return list(reader)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_pages_are_those_of_the_record(case: Case, tmp_path: Path) -> None:
    pages = read(case, tmp_path)
    assert [page.payload for page in pages] == list(case.expected)
    assert all(page.error_code is None and page.truncated is None for page in pages)
    assert pages[0].url == "https://example.org/mill"
    when = pages[-1].fetched_at
    assert when is not None
    assert not case.when or when.replace(tzinfo=None).isoformat() == case.when


def test_the_table_has_each_case_and_says_that_we_are_right() -> None:
    rows = read_rows(TABLE.read_text())
    assert list(rows) == [case.name for case in CASES]
    assert not any({"dripper", "all"} & set(outcomes) for outcomes in rows.values())
