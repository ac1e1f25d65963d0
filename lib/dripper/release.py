"""Identifies the running release by its commit, because two commits may have the same version."""

import subprocess
from functools import cache
from pathlib import Path

COMMIT_FILE = Path(__file__).with_name("commit.txt")
"""A file with the result of `describe_commit`, which `setup.py` adds to wheels."""


def describe_release() -> str:
    """Return the version and, if known, the commit and date of the running program.

    >>> describe_release().split(",")[0]
    'dripper 0.1.0'
    """
    # `setup.py` imports `describe_commit` from here before any package is installed.
    import dripper

    return ", ".join(filter(None, (f"dripper {dripper.__version__}", find_commit())))


@cache
def find_commit() -> str:
    """Return this package's commit and date, from the file in a wheel or from Git in a clone, or ""
    if both are unavailable."""
    if COMMIT_FILE.exists():
        return COMMIT_FILE.read_text(encoding="utf-8").strip()
    return describe_commit(Path(__file__).parent)


def describe_commit(folder: Path) -> str:
    """Return the Git commit and date of a folder in this project, or "" if Git does not track it.

    If this package is installed in the folder of another project, that project's commit is not
    returned.
    """
    git = ["git", "-C", str(folder)]
    try:
        subprocess.run([*git, "ls-files", "--error-unmatch", "."], capture_output=True, check=True, timeout=5)
        log = [*git, "log", "-1", "--format=commit %h of %cs"]
        return subprocess.run(log, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
