"""The command `dripper inspect`."""

import io
from pathlib import Path

import pytest

from dripper.__main__ import main
from support.delta_tables import rows_of_archive, write_table
from support.inspected import index_of
from support.warcs import page, pages, write_warc


def test_pages_become_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.html").write_bytes(page(1)[1])
    (tmp_path / "b.html").write_text("<script>x</script>")
    assert main(["inspect", str(tmp_path), "--set", "labels.cpu.title=include"]) == 0
    told = capsys.readouterr()
    first, second = index_of(told.out)["pages"]
    assert (first["title"], first["labeler"].split()[0], second["error_code"]) == ("Article 1", "cpu", "empty_page")
    assert "title=include" in first["labeler"]
    assert told.err == "dripper: 2 pages, 1 error\n"


def test_standard_input_with_an_address(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(page(1)[1])))
    assert main(["inspect", "-", "--url", "http://example.org/", "--labeler", "all"]) == 0
    (one,) = index_of(capsys.readouterr().out)["pages"]
    assert (one["url"], one["method"]) == ("http://example.org/", "all")


def test_a_limit_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", pages(0, 4))
    assert main(["inspect", str(archive), "--limit", "2"]) == 0
    told = capsys.readouterr()
    assert len(index_of(told.out)["pages"]) == 2
    assert "only the first 2 pages are shown" in told.err


def test_rows_of_a_table_become_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = write_table(tmp_path / "out", rows_of_archive(write_warc(tmp_path / "a.warc.gz", pages(0, 3))))
    assert main(["inspect", "--table", str(output), "--where", "url LIKE '%/1'"]) == 0
    index = index_of(capsys.readouterr().out)
    (one,) = index["pages"]
    assert (one["url"], one["notes"]) == ("http://example.org/1", [])
    assert one["n_blocks"] > 6
    assert index["about"].endswith("where url LIKE '%/1'")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give pages (files, folders, archives, or -), or --table, and not both"),
        (["a.html", "--table", "out"], "not both"),
        (["a.html", "--where", "true"], "--where chooses rows of a table: it needs --table"),
        (["/nowhere.html"], "/nowhere.html does not exist"),
        (["--table", "/nowhere"], "no table extractions in /nowhere"),
        ([__file__, "--labeler", "cpuu"], "did you mean 'cpu'"),
    ],
)
def test_a_typo_is_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["inspect", *arguments]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert (told.out, told.err.count("\n")) == ("", 1)
