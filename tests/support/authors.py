"""The code of other models' authors, from the wheels that they publish: fetched for a test, run in
a separate process, never kept."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def fetch_packages(folder: Path, *requirements: str) -> Path:
    """Unpack pure wheels into a folder and return it; skips if the index cannot be reached."""
    command = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    told = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *command, *requirements],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if told.returncode:
        pytest.skip(f"pip cannot fetch {', '.join(requirements)}: the index cannot be reached")
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as opened:
            opened.extractall(folder)
    return folder


def run_authors(packages: Path, code: str, asked: object, names: Iterable[str] = ()) -> Any:
    """Return the JSON that a program prints, with the packages on its path.

    asked: its input, as JSON. names: of packages without their own `__init__`, which imports more
    than is needed.
    """
    bare = "".join(
        f"package = types.ModuleType({name!r}); package.__path__ = [{str(packages / name.replace('.', '/'))!r}]\n"
        f"sys.modules[{name!r}] = package\n"
        for name in names
    )
    told = subprocess.run(
        [sys.executable, "-c", f"import json, sys, types\n{bare}asked = json.load(sys.stdin)\n{code}"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(packages)},
    )
    assert told.returncode == 0, told.stderr[-2000:]
    return json.loads(told.stdout.splitlines()[-1])
