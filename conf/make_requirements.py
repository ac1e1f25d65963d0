"""Writes the requirements files for Databricks clusters.

The input is setup.py, the pins in conf/constraints.txt and conf/vllm-gpu.txt, and the dependencies
of the installed packages. Run `.venv/bin/python conf/make_requirements.py`.
"""

import os
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
OF_RUNTIME = {
    *("annotated-types", "boto3", "botocore", "certifi", "charset-normalizer", "fsspec", "idna", "jmespath", "numpy"),
    *("pandas", "platformdirs", "pyarrow", "pydantic", "pydantic-core", "python-dateutil", "pytz", "pyyaml"),
    *("s3transfer", "six", "typing-extensions", "typing-inspection", "tzdata", "urllib3"),
}
"""Packages of the Databricks runtime. They are not pinned, because the runtime's own code uses
them. They keep the lower bounds in setup.py."""
HEAD = """# What the jobs need beside the wheel on a cluster that brings Spark{more}.
# Made by conf/make_requirements.py: exact versions, which conf/lock.txt has with their hashes, so that two nights have the same
# packages; lower bounds for packages that the Databricks runtime has.
"""
MORE = ", for the task `label`: the labelers lm and encoder too, with the\n# versions of conf/vllm-gpu.txt"


def read_pins(file: str) -> dict[str, str]:
    """Return the pinned requirements in a constraints file, by package name."""
    lines = (ROOT / "conf" / file).read_text(encoding="utf-8").splitlines()
    pins = (line.split(";")[0].strip() for line in lines if line and line[0] != "#")
    return {canonicalize_name(pin.partition("==")[0]): pin for pin in pins}


def list_lines(requirements: Iterable[str], pins: dict[str, str], engines: Iterable[str] = ()) -> list[str]:
    """Return the lines of a requirements file.

    Each package that `requirements` install, directly or as a dependency, is pinned. Packages of
    the runtime and packages without a pin keep their requirement from setup.py.

    Args:
        engines: Further requirements. Their dependencies are not pinned, because the runtime has
            them or vLLM bounds them.
    """
    installed_with = runpy.run_path(str(ROOT / "docs/make_licences.py"))["installed_with"]
    named = {canonicalize_name(Requirement(each).name): each for each in requirements}
    brought = {name for name in installed_with(named.values()) if name in pins}
    named |= {canonicalize_name(Requirement(each).name): each for each in engines}
    brought |= named.keys() & pins.keys()
    lines = [pins[name] for name in brought - OF_RUNTIME]
    return sorted([*lines, *(each for name, each in named.items() if name in OF_RUNTIME or name not in pins)])


def make_files(setup_py: dict[str, Any]) -> dict[str, str]:
    """Return the text of each file, by file name. `setup_py` has the global variables of
    setup.py."""
    pins = read_pins("constraints.txt")
    cluster = [*setup_py["RUN"], *setup_py["CLUSTER"]]
    lists = {
        "requirements.txt": (list_lines(cluster, pins), ""),
        "requirements-gpu.txt": (
            list_lines(cluster, pins | read_pins("vllm-gpu.txt"), [*setup_py["GPU"], *setup_py["ENCODER"]]),
            MORE,
        ),
    }
    return {
        name: HEAD.format(more=more) + "".join(f"{line}\n" for line in lines) for name, (lines, more) in lists.items()
    }


def main() -> None:
    """Write the files."""
    with (
        mock.patch("setuptools.setup"),
        mock.patch.object(sys, "argv", ["setup.py", "--name"]),
        mock.patch.dict(os.environ, {"DRIPPER_COMPILE": "0"}),
    ):
        files = make_files(runpy.run_path(str(ROOT / "setup.py")))
    for name, text in files.items():
        (ROOT / "conf/databricks" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
