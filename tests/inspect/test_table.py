"""Rows are read from Delta without Java, and chosen by SQL."""

from pathlib import Path

import pytest

from dripper.errors import InputError, MachineError
from dripper.inspect.sources import COLUMNS, read_rows
from dripper.settings import S3Settings
from support.delta_tables import rows_of_archive, write_table
from support.warcs import pages, write_warc

S3 = S3Settings()


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("output")
    return write_table(folder, rows_of_archive(write_warc(folder / "a.warc.gz", [*pages(0, 4), ("http://e/", b"<p>")])))


def test_rows_come_in_the_order_of_the_archive(output: Path) -> None:
    rows = read_rows(str(output), None, 100, S3)
    assert [row["url"] for row in rows] == [*(f"http://example.org/{n}" for n in range(4)), "http://e/"]
    assert set(rows[0]) == set(COLUMNS)
    assert rows[0]["versions"]["labeler"] == "cpu"
    assert [row["error_code"] for row in rows] == [None] * 4 + ["empty_page"]


def test_the_table_itself_is_taken_too(output: Path) -> None:
    assert read_rows(str(output), None, 9, S3) == read_rows(f"{output}/extractions/", None, 9, S3)


@pytest.mark.parametrize(
    ("where", "n_rows"),
    [
        ("url LIKE '%/2'", 1),
        ("error_code IS NOT NULL", 1),
        ("confidence > 0 AND len(flags) >= 0 -- all columns, and a comment", 4),
        ("versions.labeler = 'cpu'", 5),
        ("false", 0),
    ],
)
def test_a_condition_chooses(output: Path, where: str, n_rows: int) -> None:
    assert len(read_rows(str(output), where, 100, S3)) == n_rows


def test_a_limit_takes_the_first(output: Path) -> None:
    assert [row["url"][-1] for row in read_rows(str(output), None, 2, S3)] == ["0", "1"]


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("confidense < 1", "--where 'confidense < 1': Binder Error: .*confidense"),
        ("url =", "Parser Error"),
        ("1 = 1); SELECT (1", "--where"),
        ("url IN (SELECT content FROM read_text('/etc/hostname'))", "disabled|Permission"),
    ],
)
def test_a_wrong_condition_is_one_sentence(output: Path, where: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_rows(str(output), where, 100, S3)
    assert "\n" not in str(caught.value)


def test_a_catalog_says_what_to_do(output: Path) -> None:
    with pytest.raises(InputError, match=r"main.crawl is a schema of a catalog.*save\('FOLDER'\)"):
        read_rows("main.crawl", None, 9, S3)


def test_no_table_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table extractions in"):
        read_rows(str(tmp_path), None, 9, S3)


def test_a_table_of_an_older_release_has_null_in_later_columns(tmp_path: Path) -> None:
    rows = rows_of_archive(write_warc(tmp_path / "a.warc.gz", pages(0, 1)))
    older = [{name: value for name, value in row.items() if name not in ("posts", "comments")} for row in rows]
    (row,) = read_rows(str(write_table(tmp_path, older)), None, 9, S3)
    assert (row["posts"], row["comments"], row["metadata"]["title"]) == (None, None, "Article 0")


def test_a_missing_package_says_how_to_install_it(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MachineError, match=r"--table needs duckdb.*\[inspect\]"):
        read_rows(str(output), None, 9, S3)
