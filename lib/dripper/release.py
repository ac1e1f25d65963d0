"""Identifies the release that runs: two commits may have the same version."""

import subprocess
from functools import cache
from pathlib import Path

COMMIT_FILE = Path(__file__).with_name("commit.txt")
"""A file that `setup.py` writes into a wheel: commit and date, as `describe_commit` has them."""


def describe_release() -> str:
    """Return version, commit and date of the running program, as far as they are known.

    >>> describe_release().split(",")[0]
    'dripper 0.1.0'
    """
    # `setup.py` imports `describe_commit` from here before any package is installed.
    import dripper

    return ", ".join(filter(None, (f"dripper {dripper.__version__}", find_commit())))


@cache
def find_commit() -> str:
    """Return commit and date of this package: of a wheel from its file, of a clone from Git; "":
    neither knows."""
    if COMMIT_FILE.exists():
        return COMMIT_FILE.read_text(encoding="utf-8").strip()
    return describe_commit(Path(__file__).parent)


def describe_commit(folder: Path) -> str:
    """Return the commit that Git has of a folder of this project, with its date, or "".

    A package that is installed below the folder of another project is none of its files.
    """
    git = ["git", "-C", str(folder)]
    try:
        subprocess.run([*git, "ls-files", "--error-unmatch", "."], capture_output=True, check=True, timeout=5)
        log = [*git, "log", "-1", "--format=commit %h of %cs"]
        return subprocess.run(log, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
