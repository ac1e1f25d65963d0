"""From what is typed to files."""

from pathlib import Path

import pytest

from dripper.config import ReadSettings
from dripper.errors import InputError
from dripper.local.inputs import expand_inputs

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


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("~/nothing.html", "does not exist"),
        ("~/*.nothing", "no pages in"),
        ("@~/no.list", "no.list is not a list of paths: No such file"),
        ("@~/wrong.list", "gone.html does not exist"),
    ],
)
def test_what_means_no_file_is_told(folder: Path, given: str, words: str) -> None:
    (folder / "wrong.list").write_text("gone.html")
    with pytest.raises(InputError, match=words):
        names(folder, given)
