"""Block numbers follow the texts that they were given to."""

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

import dripper
from dripper.errors import InputError
from dripper_lab.annotate import main
from dripper_lab.annotation.renumbering import find_again, renumber, renumber_row
from dripper_lab.datasets import LabelledPage

LIB = Path(dripper.__file__).parents[1]
HTML = b"<nav><a href=/>Home</a></nav><h1>Boats</h1><p>A boat of wood.</p><p>Found in a lake.</p>"


def test_numbers_move_with_what_stands_before_them() -> None:
    old = ["Menu", "Cookies", "Home", "First paragraph of it.", "Home", "Second paragraph of it."]
    row = {"id": "w1", "n_blocks": 6, "main": "4,6", "second": {"kind": "article", "main": "4-6"}, "sure": 3}
    moved = renumber_row(row, old, [old[0], *old[2:]])
    assert moved == row | {"n_blocks": 5, "main": "3,5", "second": {"kind": "article", "main": "3-5"}}


def test_a_block_that_was_cut_or_joined_is_found_by_its_words() -> None:
    whole, halves = "A boat of wood, found in a lake.", ["A boat of wood,", "found in a lake."]
    assert find_again(["Home", whole, "Share"], ["Home", *halves, "Share"], {1}) == [1, 2]
    assert find_again(["Home", *halves, "Share"], ["Home", whole, "Share"], {1, 2}) == [1]
    assert find_again(["Home", *halves], ["Home", "Something else"], {1, 2}) == []
    assert find_again(["Home", "Fat 17g26%"], ["Home", "Fat 17g 26%"], {1}) == [1]


def page(name: str, html: bytes = HTML) -> LabelledPage:
    return LabelledPage(name, "recipe", None, html, None, "")


def test_rows_say_what_became_of_them(tmp_path: Path) -> None:
    """The version before takes its pages' first blocks for two."""
    (tmp_path / "dripper" / "html").mkdir(parents=True)
    (tmp_path / "dripper" / "__init__.py").write_text("")
    (tmp_path / "dripper" / "errors.py").write_text("class PageError(Exception): pass")
    (tmp_path / "dripper" / "warc.py").write_text(
        "from types import SimpleNamespace as N\ndef decode(raw, _): return N(text=raw.decode())"
    )
    (tmp_path / "dripper" / "html" / "__init__.py").write_text(
        "from types import SimpleNamespace as N\n"
        "def preprocess(html):\n"
        "    texts = ['Home', 'Home 2', 'Boats', 'A boat of wood.', 'Found in a lake.']\n"
        "    return N(blocks=[N(text=text) for text in texts])\n"
    )
    rows = [
        {"id": "a", "n_blocks": 5, "main": "4-5"},
        {"id": "b", "n_blocks": 9, "main": "4-5"},
        {"id": "c", "main": ""},
    ]
    moved, counts = renumber(rows, [page("a"), page("b")], tmp_path)
    assert moved == [{"id": "a", "n_blocks": 4, "main": "3-4"}, *rows[1:]]
    assert (counts.same, counts.mended, counts.stale) == (0, 1, 1)


def test_rows_of_todays_blocks_stay(tmp_path: Path) -> None:
    rows = [{"id": "a", "n_blocks": 4, "main": "3-4"}]
    assert renumber(rows, [page("a")], LIB)[0] == rows


def test_a_version_that_cannot_run_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "dripper").mkdir()
    (tmp_path / "dripper" / "__init__.py").write_text("raise RuntimeError('no parser')")
    with pytest.raises(InputError, match="cannot split pages: RuntimeError: no parser"):
        renumber([{"id": "a", "n_blocks": 3, "main": "2"}], [page("a")], tmp_path)


def test_the_command_writes_the_recipe_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = tmp_path / "somebody+pages"
    repository.mkdir()
    (repository / "a.html").write_bytes(HTML)
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for step in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "pages"]):
        subprocess.run([*git, *step], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    row = {
        "id": "w1", "repository": "github:somebody/pages", "commit": commit, "path": "a.html", "url": None, "host": "e.org",
        "html_sha256": sha256(HTML).hexdigest(), "n_blocks": 4, "main": "3-4",
    }  # fmt: skip
    recipe = tmp_path / "recipe.jsonl"
    recipe.write_text("".join(json.dumps(each) + "\n" for each in (row, row | {"id": "w2", "n_blocks": 9})))
    before = recipe.read_text()
    assert main(["renumber", str(recipe), "--clones", str(tmp_path), "--before", str(LIB)]) == 3
    assert recipe.read_text() == before
    assert capsys.readouterr().out == "0 pages renumbered, 1 have the same blocks, 1 fit neither version\n"
