"""Finds the base commit of a checkout, and reads files of this commit."""

import os
import subprocess
from pathlib import Path

BASE = "GATE_BASE"
"""An environment variable that overrides the base commit."""


def find_base(root: Path) -> str | None:
    """Return the commit at which this branch diverged from main; on main, the previous commit.
    Return None if git knows neither, as in a shallow clone."""
    if named := os.environ.get(BASE):
        return named
    head = _ask_git(root, "rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        if base := _ask_git(root, "merge-base", "HEAD", main):
            return base if base != head else _ask_git(root, "rev-parse", "--verify", "--quiet", "HEAD~1")
    return None


def read_at(root: Path, commit: str, path: Path) -> str | None:
    """Return a file's contents in a commit, or None if the commit does not contain the file."""
    return _ask_git(root, "show", f"{commit}:{path.as_posix()}")


def is_unchanged(root: Path, commit: str, *paths: str) -> bool:
    """Return whether these paths are the same in the checkout and in the commit."""
    return _ask_git(root, "diff", "--stat", commit, "--", *paths) == "" and not _ask_git(
        root, "ls-files", "--others", "--exclude-standard", "--", *paths
    )


def unpack(root: Path, commit: str, path: str, folder: Path) -> None:
    """Extract a path of a commit to a folder. Raises CalledProcessError."""
    archive = subprocess.run(["git", "archive", commit, path], cwd=root, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)


def _ask_git(root: Path, *arguments: str) -> str | None:
    """Return the output of git, or None if git fails."""
    try:
        asked = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return asked.stdout.strip("\n") if asked.returncode == 0 else None
