"""Which commit a checkout is compared with, and that both versions read the same pages in turns.
Only the order is checked here, and no time."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from dripper_lab.gate import turns
from dripper_lab.gate.base import BASE, find_base, is_unchanged, read_at, unpack

ROOT = Path(__file__).parents[3]


def git(root: Path, *arguments: str) -> str:
    author = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b.c",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b.c",
    }
    return subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, text=True, env=os.environ | author
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two commits on main."""
    monkeypatch.delenv(BASE, raising=False)
    git(tmp_path, "init", "-q", "-b", "main")
    for text in ("one", "two"):
        (tmp_path / "lib").mkdir(exist_ok=True)
        (tmp_path / "lib" / "a.txt").write_text(text)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-q", "-m", text)
    return tmp_path


def test_main_is_compared_with_the_commit_before_and_a_branch_with_main(checkout: Path, tmp_path: Path) -> None:
    base = find_base(checkout)
    assert base == git(checkout, "rev-parse", "HEAD~1")
    assert read_at(checkout, base, Path("lib/a.txt")) == "one"
    git(checkout, "checkout", "-q", "-b", "mine")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "three")
    assert find_base(checkout) == git(checkout, "rev-parse", "main")
    assert is_unchanged(checkout, "main", "lib")
    (checkout / "lib" / "b.txt").write_text("new")
    assert not is_unchanged(checkout, "main", "lib")
    (tmp_path / "old").mkdir()
    unpack(checkout, "main~1", "lib", tmp_path / "old")
    assert (tmp_path / "old" / "lib" / "a.txt").read_text() == "one"


def test_a_folder_without_commits_has_no_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(BASE, raising=False)
    git(tmp_path, "init", "-q", "-b", "main")
    assert turns.measure_turns(tmp_path, tmp_path, tmp_path) == {}
    assert "git knows no commit to compare with" in capsys.readouterr().err


def test_both_versions_extract_every_page_in_each_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_STARTS", 1)
    monkeypatch.setattr(turns, "_ROUNDS", 2)
    pages = tmp_path / "pages.jsonl"
    pages.write_text(json.dumps({"html": "<p>One page.", "url": None}) + "\n", encoding="utf-8")
    ratios = list(turns.compare(ROOT / "lib", ROOT / "lib", pages))
    assert len(ratios) == 2
    assert min(ratios) > 0


def test_a_version_that_is_not_the_asked_one_ends_the_comparison(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "lib").mkdir()
    with (
        pytest.raises(RuntimeError, match="ended with code 1"),
        turns._start(tmp_path / "lib", tmp_path / "pages.jsonl") as it,
    ):
        turns._ask(it, 0)
