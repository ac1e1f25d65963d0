"""From command line arguments to files."""

import os
from pathlib import Path

import pytest

from dripper.errors import ErrorCode, InputError
from dripper.local.inputs import InputKind, expand_inputs
from dripper.local.pages import InputCounts, PageOptions, read_pages
from dripper.settings import ReadSettings

SETTINGS = ReadSettings()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.html", "a.HTM", "sub/c.html.gz", "sub/d.warc.gz", "style.css", "e.txt", "f.arc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def names(folder: Path, *given: str) -> list[str]:
    files = expand_inputs([part.replace("~", str(folder)) for part in given], SETTINGS)
    return [str(Path(file.path).relative_to(folder)) + (" (archive)" if file.is_archive else "") for file in files]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["~"], ["a.HTM", "b.html", "f.arc (archive)", "sub/c.html.gz", "sub/d.warc.gz (archive)"]),
        (["~/e.txt"], ["e.txt"]),
        (["~/*t*"], ["b.html", "e.txt", "style.css"]),
        (["~/**/*.gz"], ["sub/c.html.gz", "sub/d.warc.gz (archive)"]),
        (
            ["~/b.html", "~/sub/../b.html", "~"],
            ["b.html", "a.HTM", "f.arc (archive)", "sub/c.html.gz", "sub/d.warc.gz (archive)"],
        ),
    ],
)
def test_files_folders_and_patterns(folder: Path, given: list[str], found: list[str]) -> None:
    assert names(folder, *given) == found


def test_a_list_names_what_is_beside_it_or_where_we_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sub" / "list").write_text(f"# pages\nc.html.gz\n\n{folder}/b.html\na.HTM\n")
    monkeypatch.chdir(folder)
    assert [Path(file.address).name for file in expand_inputs(["@sub/list"], SETTINGS)] == [
        "c.html.gz",
        "b.html",
        "a.HTM",
    ]


def test_links_to_folders_are_followed_once_and_links_to_nothing_are_kept(folder: Path) -> None:
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "sub" / "gone.html").symlink_to(folder / "nowhere")
    assert names(folder, "~") == [
        *("a.HTM", "b.html", "f.arc (archive)", "sub/c.html.gz", "sub/d.warc.gz (archive)", "sub/gone.html"),
    ]


@pytest.mark.parametrize("lists", [{"a": "@a"}, {"a": "@b", "b": "@c", "c": "b.html\n@b"}])
def test_a_list_that_leads_to_itself_is_refused(
    folder: Path, lists: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for name, text in lists.items():
        (folder / name).write_text(text)
    with pytest.raises(InputError, match="leads to itself"):
        expand_inputs(["@a"], SETTINGS)


def test_a_list_of_lists_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "a").write_text("@c\n@c\nb.html")
    (folder / "c").write_text("a.HTM")
    assert [Path(file.path).name for file in expand_inputs(["@a"], SETTINGS)] == ["a.HTM", "b.html"]


def test_a_fifo_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "list")
    os.mkfifo(folder / "x.html")
    with pytest.raises(InputError, match="list is a FIFO"):
        names(folder, "@~/list")
    seen = InputCounts()
    assert list(read_pages(expand_inputs([f"{folder}/x.html"], SETTINGS), SETTINGS, (), seen)) == []
    assert (list(seen.bad), seen.unread) == ([str(folder / "x.html")], [])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("~/nothing.html", "does not exist"),
        ("~/*.nothing", "no pages in"),
        ("@~/no.list", "no.list is not a list of paths: No such file"),
    ],
)
def test_what_means_no_file_is_told(folder: Path, given: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        names(folder, given)


def test_a_line_of_a_list_that_names_nothing_is_an_input(folder: Path) -> None:
    (folder / "wrong.list").write_text("gone.html\nb.html\ngone.warc.gz\n")
    files = expand_inputs([f"@{folder}/wrong.list"], SETTINGS)
    assert [file.kind for file in files] == [InputKind.MISSING, InputKind.PAGE, InputKind.MISSING]
    assert files[0].problem == "gone.html does not exist"
    seen = InputCounts()
    records = list(read_pages(files, SETTINGS, (), seen))
    assert [record.error_code for record in records] == [ErrorCode.UNREADABLE, None, ErrorCode.UNREADABLE]
    assert seen.bad == {"gone.html": "gone.html does not exist", "gone.warc.gz": "gone.warc.gz does not exist"}


def test_files_that_are_no_pages_are_told(folder: Path) -> None:
    others: list[str] = []
    expand_inputs([str(folder)], SETTINGS, others)
    assert [Path(name).name for name in others] == ["e.txt", "style.css"]


def test_addresses_begin_with_a_prefix(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sub" / "a b.html").touch()
    monkeypatch.chdir(folder)
    options = PageOptions("https://example.org/")
    files = expand_inputs([str(folder / "sub"), "b.html", "./sub/../a.HTM", str(folder / "e.txt")], SETTINGS)
    pages = [file for file in files if not file.is_archive]
    assert [record.url for record in read_pages(pages, SETTINGS, (), InputCounts(), options)] == [
        "https://example.org/a%20b.html",
        "https://example.org/c.html.gz",
        "https://example.org/b.html",
        "https://example.org/a.HTM",
        "https://example.org/e.txt",
    ]
