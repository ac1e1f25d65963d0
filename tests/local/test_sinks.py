"""The outputs of many pages: rows with chosen columns, standard output, one file per page."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

import dripper
from dripper.__main__ import main
from support.warcs import page, pages, write_warc


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages as files, in an archive, in a table, and one without content."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "news").mkdir()
    for name, number in (("a.html", 1), ("news/a.html", 2), ("news/b.html", 3), ("news/b.htm", 4)):
        (folder / name).write_bytes(page(number)[1])
    (folder / "paper.html").write_bytes(b"%PDF-1.7")
    write_warc(folder / "more.warc.gz", pages(100, 2))
    return folder


def lines(out: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_rows_on_standard_output(site: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    asked = ["--columns", "url,title,text,error_code", "--jobs", "1", "--url-prefix", "https://example.org/"]
    assert main(["extract", str(site), "--out", "-", *asked]) == 0
    told = capsysbinary.readouterr()
    rows = lines(told.out)
    assert [list(row) for row in rows] == [["url", "title", "text", "error_code"]] * 7
    urls = {row["url"]: row for row in rows}
    assert {"https://example.org/news/b.html", "http://example.org/100"} < urls.keys()
    assert urls["https://example.org/a.html"]["text"] == dripper.extract(page(1)[1]).text
    assert (urls["https://example.org/paper.html"]["text"], urls["https://example.org/paper.html"]["error_code"]) == (
        None,
        "not_html",
    )
    assert b"pages written to standard output: 7 (" in told.err
    assert b"NO CONTENT: https://example.org/paper.html: not_html (it is a PDF document)\n" in told.err


def test_several_pages_as_lines_need_no_out(site: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["extract", str(site / "a.html"), str(site / "news"), "--format", "jsonl"]) == 0
    assert {row["title"] for row in lines(capsysbinary.readouterr().out)} == {f"Article {n}" for n in (1, 2, 3, 4)}


def test_a_saved_page_has_the_address_that_it_says(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (tmp_path / "a.html").write_bytes(b'<link rel=canonical href="https://e.org/x/y">' + page(1)[1])
    assert main(["extract", str(tmp_path), "--out", "-", "--columns", "url,host"]) == 0
    assert lines(capsysbinary.readouterr().out) == [{"url": "https://e.org/x/y", "host": "e.org"}]


def test_chosen_columns_of_files(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["extract", str(site / "news"), "--columns", "title,markdown"]
    assert main([*command, "--out", str(tmp_path / "a.parquet")]) == 0
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["title", "markdown"]
    assert table.num_rows == 3
    assert main([*command, "--out", str(tmp_path / "a.jsonl")]) == 0
    assert list(json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])) == ["title", "markdown"]
    capsys.readouterr()
    for name in ("a.jsonl", "a.parquet"):  # Nobody could know which pages are there.
        assert main([*command, "--out", str(tmp_path / name)]) == 2
        assert "choose another --out" in capsys.readouterr().err
    whole = ["extract", str(site / "news"), "--columns", "page_id,error_code,versions,title"]
    assert [main([*whole, "--out", str(tmp_path / "b.jsonl")]) for _ in range(2)] == [0, 0]
    assert "pages that were there already: 3" in capsys.readouterr().err


def test_a_file_a_page(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["extract", str(site), "--output-dir", str(tmp_path / "notes"), "--url-prefix", "https://example.org/"]
    assert main(command) == 0
    notes = tmp_path / "notes"
    files = sorted(str(file.relative_to(notes)) for file in notes.rglob("*.md"))
    # Pages of equal names, and pages of archives, have a few digits of their ids.
    assert [name.rpartition("-")[0] or name for name in files] == [
        *("a.md", "example.org/100", "example.org/101", "news/a.md", "news/b", "news/b"),
    ]
    _, front, text = (notes / "news/a.md").read_text().split("---\n", 2)
    matter = yaml.safe_load(front)
    assert (matter["title"], matter["url"], matter["language"]) == (
        "Article 2",
        "https://example.org/news/a.html",
        "en",
    )
    assert text.strip() == dripper.extract(page(2)[1]).markdown.strip()
    rows = lines((notes / "pages.jsonl").read_bytes())
    assert {row["file"] for row in rows} == {*files, None}
    assert [row["error_code"] for row in rows if row["file"] is None] == ["not_html"]
    (notes / "a.md").unlink()
    capsys.readouterr()
    assert main(command) == 0
    assert "pages that were there already: 7" in capsys.readouterr().err
    assert not (notes / "a.md").exists()


def test_the_same_names_of_another_run_stay(site: Path, tmp_path: Path) -> None:
    shutil.copy(site / "news" / "b.html", tmp_path / "a.html")
    for file in (site / "a.html", tmp_path / "a.html"):
        assert main(["extract", str(file), "--output-dir", str(tmp_path / "notes"), "--format", "text"]) == 0
    assert len(list((tmp_path / "notes").glob("a*.txt"))) == 2
    assert (tmp_path / "notes" / "a.txt").read_text() == dripper.extract(page(1)[1]).text.rstrip("\n") + "\n"


def test_lists_with_missing_lines_end_with_4(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list").write_text(f"{site}/a.html\n/gone.html\n{site}/news\n")
    (site / "news" / "style.css").touch()
    out = tmp_path / "pages.jsonl"
    assert main(["extract", f"@{tmp_path}/list", "--out", str(out)]) == 4
    told = capsys.readouterr().err
    assert "BAD INPUT: /gone.html: /gone.html does not exist\n" in told
    assert f"files in folders that are not pages by their names: 1: {site}/news/style.css\n" in told
    assert sorted(row["error_code"] or "" for row in lines(out.read_bytes())) == ["", "", "", "", "unreadable"]


def test_a_table_goes_through_and_its_own_output_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.jsonl").write_text(
        "".join(json.dumps({"html": page(n)[1].decode(), "url": f"https://e.org/{n}"}) + "\n" for n in range(3))
    )
    command = ["extract", str(tmp_path / "*.jsonl"), "--out", str(tmp_path / "out.jsonl")]
    assert [main(command), main(command)] == [0, 0]
    assert "pages that were there already: 3" in capsys.readouterr().err
    rows = lines((tmp_path / "out.jsonl").read_bytes())
    assert sorted((row["url"], row["title"], row["charset"]) for row in rows) == [
        (f"https://e.org/{n}", f"Article {n}", "utf-8") for n in range(3)
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "-", "--columns", "titel"], "--columns titel: there is no such column; did you mean title?"),
        (["--out", "-", "--output-dir", "x"], "choose one"),
        (["--out", "-", "--format", "html"], "not for rows"),
        (["--output-dir", "x", "--columns", "url"], "--columns is for rows"),
        (["--url-prefix", "https://e.org/"], "--url-prefix is for many pages"),
        (["--output-dir", "/dev/null/x"], "--output-dir /dev/null/x: Not a directory"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_told(
    site: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["extract", str(site / "a.html"), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_closed_pipe_is_no_traceback(site: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    for flags in ([], ["--out", "-"]):
        command = [sys.executable, "-m", "dripper", "extract", str(site / "a.html"), *flags]
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (141, b"")
    os.close(write)
