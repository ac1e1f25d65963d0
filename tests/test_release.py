"""Which release runs: of a wheel, of a clone, and of a package in the folder of another project."""

import subprocess
from pathlib import Path

import pytest

import dripper
from dripper import release


def test_a_clone_is_known_by_its_commit_and_others_are_not(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    assert release.describe_commit(tmp_path) == ""
    for name in ("mine", "installed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").touch()
    for command in (["init", "-q"], ["add", "mine"], ["commit", "-qm", "c", "--date", "2026-01-02T00:00:00Z"]):
        subprocess.run([*git, *command], check=True)
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True).stdout
    assert release.describe_commit(tmp_path / "mine").startswith(f"commit {head.strip()} of 20")
    assert release.describe_commit(tmp_path / "installed") == ""


def test_a_wheel_says_the_commit_that_it_was_built_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "commit.txt").write_text("commit abc of 2026-01-02\n")
    monkeypatch.setattr(release, "COMMIT_FILE", tmp_path / "commit.txt")
    release.find_commit.cache_clear()
    try:
        assert release.describe_release() == f"dripper {dripper.__version__}, commit abc of 2026-01-02"
    finally:
        release.find_commit.cache_clear()
