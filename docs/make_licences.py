"""The table in docs/licences.md, made anew of what is installed: .venv/bin/python
docs/make_licences.py."""

import os
import runpy
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from unittest import mock

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parent / "licences.md"
HEAD = "| package | licence | comes with |\n|---|---|---|\n"
RUN_TIME = (
    "RUN",
    "WARC",
    "PARQUET",
    "INSPECT",
    "MINERU_1_0",
    "TRAFILATURA",
    "CLUSTER",
    "SPARK",
    "ENCODER",
    "READER",
    "LM",
    "GPU",
    "DATATROVE",
    "NEMO",
    "RAY",
    "LANGCHAIN",
    "LLAMA_INDEX",
    "HAYSTACK",
    "SCRAPY",
    "NOTEBOOK",
)
"""What users install, as setup.py names it; the extras of those who work on the package are not in
the table."""

READ = {
    "chardetng-py": "MIT",
    "datatrove": "Apache-2.0",
    "haystack-ai": "Apache-2.0",
    "itemadapter": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "jupyterlab": "BSD-3-Clause",
    "langchain-core": "MIT",
    "llama-index-core": "MIT",
    "lz4": "BSD-3-Clause",
    "nemo-curator": "Apache-2.0",
    "ray": "Apache-2.0",
    "nest-asyncio2": "BSD-2-Clause",
    "ptyprocess": "ISC",
    "py4j": "BSD-3-Clause",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "scrapy": "BSD-3-Clause",
    "torch": "BSD-3-Clause",
    "vllm": "Apache-2.0",
    "webencodings": "BSD-3-Clause",
}
"""Licences as their files say, of packages whose metadata do not say which, or that are not
installed everywhere."""
NEED_MANY = frozenset({"jupyterlab"})
"""Packages that `make` installs only on request, into the environment of the tests: listed by
themselves."""
NAMES = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "http://www.apache.org/licenses/LICENSE-2.0": "Apache-2.0",
    "ISC License": "ISC",
    "ISC license": "ISC",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
    "The BSD 2-Clause License": "BSD-2-Clause",
}
"""SPDX names of what packages write."""


def licence_of(package: str, found: Distribution | None) -> str:
    """Return a licence by its SPDX name. Raises KeyError where nobody has read it yet."""
    if package in READ or found is None:
        return READ[package]
    told = found.metadata
    classifiers = [each.split(" :: ")[-1] for each in told.get_all("Classifier") or [] if each.startswith("License")]
    free_text = told.get("License") or ""
    words = told.get("License-Expression") or (free_text if free_text and "\n" not in free_text else classifiers[0])
    return NAMES.get(words, words)


def installed_with(requirements: Iterable[str]) -> dict[str, Distribution | None]:
    """Return what these requirements bring, and all that those need; None: it is not installed
    here."""
    found: dict[str, Distribution | None] = {}
    waiting = [Requirement(each) for each in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        if name in NEED_MANY:
            found[name] = None
            continue
        try:
            found[name] = distribution(name)
            waiting += map(Requirement, found[name].requires or [])
        except PackageNotFoundError:
            found[name] = None
    return found


def rows(setup_py: Mapping[str, Any]) -> dict[str, str]:
    """Return the rows of the table, by package."""
    brought: dict[str, list[str]] = {}
    licences: dict[str, str] = {}
    for part in RUN_TIME:
        for package, found in installed_with(setup_py[part]).items():
            brought.setdefault(package, []).append(
                "everything" if part == "RUN" else f"`{part.lower().removesuffix('_1_0').replace('_', '-')}`"
            )
            licences[package] = licence_of(package, found)
    return {
        package: f"| {package} | {licences[package]} | {'everything' if 'everything' in parts else ', '.join(parts)} |"
        for package, parts in sorted(brought.items())
    }


def main() -> None:
    """Replace the table."""
    with (
        mock.patch("setuptools.setup"),
        mock.patch.object(sys, "argv", ["setup.py", "--name"]),
        mock.patch.dict(os.environ, {"DRIPPER_COMPILE": "0"}),
    ):
        made = rows(runpy.run_path(str(PAGE.parents[1] / "setup.py")))
    text = PAGE.read_text(encoding="utf-8").split(HEAD)[0]
    PAGE.write_text(text + HEAD + "\n".join(made.values()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
