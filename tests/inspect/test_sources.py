"""Pages are found in files, folders, archives and standard input."""

import gzip
import io
from pathlib import Path

import pytest

from dripper.errors import ErrorCode, InputError
from dripper.inspect.sources import find_pages
from dripper.settings import ReadSettings
from support.warcs import page, pages, write_warc


def test_a_folder_is_searched_for_pages_and_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.html").write_bytes(page(1)[1])
    (tmp_path / "a.htm.gz").write_bytes(gzip.compress(page(2)[1]))
    (tmp_path / "notes.txt").write_text("no page")
    write_warc(tmp_path / "c.warc.gz", pages(5, 2))
    monkeypatch.chdir(tmp_path)
    found = list(find_pages(["."], ReadSettings(), "http://example.org/"))
    assert [one.name.split(" at byte")[0] for one in found] == ["a.htm.gz", "c.warc.gz", "c.warc.gz", "deep/b.html"]
    assert [one.url for one in found] == ["http://example.org/", page(5)[0], page(6)[0], "http://example.org/"]
    assert found[1].html == page(5)[1]
    assert len({one.id for one in found}) == 4


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"<p>one")))
    (one,) = find_pages(["-"], ReadSettings())
    assert (one.name, one.html) == ("standard input", b"<p>one")


def test_a_record_whose_body_cannot_be_read_is_a_page_with_an_error() -> None:
    broken = Path(__file__).parents[1] / "data" / "warc" / "body-unreadable.warc"
    (one,) = find_pages([str(broken)], ReadSettings())
    assert one.error is not None
    assert one.error.code is ErrorCode.BODY_UNREADABLE


@pytest.mark.parametrize(
    ("name", "words"),
    [("nowhere.html", "does not exist"), ("nowhere.warc.gz", "does not exist"), (".", "no pages in .*ends in")],
)
def test_what_is_not_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        list(find_pages([name], ReadSettings()))
