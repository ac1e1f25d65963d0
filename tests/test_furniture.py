"""The files around the program for newcomers: licences, changelog, citation, and the forms and
workflows of GitHub."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import dripper

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_every_package_that_users_install_is_listed_with_its_licence(setup_py: dict[str, Any]) -> None:
    script = runpy.run_path(str(ROOT / "docs/make_licences.py"))
    listed = set((ROOT / "docs/licences.md").read_text().splitlines())
    # Packages for another Python or platform are listed as well.
    assert set(script["rows"](setup_py).values()) <= listed
    named = {row.split(" | ")[0].removeprefix("| ") for row in listed if row.startswith("| ")}
    direct = {
        re.split(r"[^\w.-]", each)[0].lower().replace("_", "-")
        for part in script["RUN_TIME"]
        for each in setup_py[part]
    }
    assert direct <= named


def test_every_locked_package_is_listed_with_its_licence() -> None:
    """Except packages for systems that are not supported."""
    listed = set(re.findall(r"^\| (\S+) \| \S", (ROOT / "docs/licences.md").read_text(), re.MULTILINE))
    locked = [
        Requirement(each)
        for each in re.findall(r"^([a-z][^\\\n]+)", (ROOT / "conf/lock.txt").read_text(), re.MULTILINE)
    ]
    assert len(locked) > 50
    systems = ({"sys_platform": "linux", "platform_machine": "x86_64"}, {"sys_platform": "darwin"})
    needed = {one.name for one in locked if one.marker is None or any(one.marker.evaluate(each) for each in systems)}
    assert needed - listed == set()


def test_nothing_that_users_install_is_under_the_gpl_alone() -> None:
    rows = re.findall(r"^\| (\S+) \| (.*GPL.*?) \|", (ROOT / "docs/licences.md").read_text(), re.MULTILINE)
    assert rows == [("tld", "MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later")]


def test_a_licence_that_nobody_has_read_is_an_error() -> None:
    with pytest.raises(KeyError):
        runpy.run_path(str(ROOT / "docs/make_licences.py"))["licence_of"]("unheard-of", None)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("citation-file-format", [ROOT / "CITATION.cff"]),
        ("github-issue-forms", FORMS),
        ("github-workflows", WORKFLOWS),
    ],
)
def test_forms_fit_their_schemas(schema: str, files: list[Path]) -> None:
    checker = str(Path(sys.executable).parent / "check-jsonschema")
    # Without this it takes a .cff for JSON.
    command = [checker, "--builtin-schema", f"vendor.{schema}", "--default-filetype", "yaml", *map(str, files)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_citation_and_changelog_are_of_this_version() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == dripper.__version__
    assert f"\n## {dripper.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_the_workflow_runs_what_has_to_pass_on_every_python(setup_py: dict[str, Any]) -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert ".ci/run" in [step.get("run") for step in jobs["all"]["steps"]]
    pythons = jobs["fast"]["strategy"]["matrix"]["python"]
    assert all(f'"Programming Language :: Python :: {each}"' in (ROOT / "setup.py").read_text() for each in pythons)
    (build,) = [step["env"]["CIBW_BUILD"] for step in jobs["wheels"]["steps"] if "cibuildwheel" in step.get("run", "")]
    assert build.split() == [f"cp{each.replace('.', '')}-*" for each in pythons]


def test_actions_are_pinned_by_commit() -> None:
    assert len(WORKFLOWS) > 1
    for workflow in WORKFLOWS:
        used = re.findall(r"uses: (\S+)", workflow.read_text())
        assert used
        assert [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each)] == []


def test_a_release_brings_a_wheel_and_the_list_of_what_is_installed_with_it() -> None:
    (job,) = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"].values()
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    order = [
        commands.index(words) for words in ("make audit", "pip wheel", "--require-hashes", "sbom.json", "gh release")
    ]
    assert order == sorted(order)


def test_the_commit_hooks_are_what_make_lint_runs() -> None:
    (hooks,) = [repo["hooks"] for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]]
    makefile = (ROOT / "Makefile").read_text()
    for hook in hooks:
        assert hook["entry"].replace(".venv/bin", "$(BIN)") in makefile.replace("format --check", "format")


def test_the_site_has_every_page_of_the_documents() -> None:
    # Above `nav` are tags that only MkDocs supports.
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2])
    listed = re.findall(r"[\w/]+\.md", yaml.safe_dump(nav))
    assert sorted(listed) == sorted(str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md"))


DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "tests/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FOLDERS = (".ci", "lib", "jobs", "benchmarks", "notebooks", "tests", "conf", "docs")
CODE = [
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.*")
    if not {ROOT / "tests/data", ROOT / "tests/golden"} & {*path.parents}
]
CODE += ROOT.glob("*.*")
PLACES = {f"/{path.relative_to(ROOT)}": path for path in CODE}
ELSEWHERE = {"tests/eval_common.py"}
"""Files of other projects."""


def files_named(name: str) -> list[Path]:
    """Return the files with this ending of their paths: a document may leave out its own
    folders."""
    return [path for place, path in PLACES.items() if place.endswith(f"/{name}")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_documents_name_files_that_exist(document: Path) -> None:
    text = document.read_text()
    python = set(re.findall(r"`([\w./-]+\.py)`", text)) - ELSEWHERE
    assert [name for name in python if not files_named(name)] == []
    paths = set(re.findall(r"`((?:tests|docs|lib|conf|jobs)/[\w/.]+)`", text)) - ELSEWHERE
    assert [path for path in paths if not (ROOT / path).exists() and not (document.parent / path).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_documents_name_modules_and_what_is_in_them(document: Path) -> None:
    """`dripper.labels.entry.Entry`: a module, and a name in it."""
    other = r"\.(?:py|zip|tar\.gz|labelers|profiles|formats)$"  # archives of the package, and groups of entry points
    for name in re.findall(r"\bdripper(?:_lab|_labelers)?(?:\.\w+)+", document.read_text()):
        package, rest = ROOT / "lib", name.split(".")
        while rest and (package / rest[0]).is_dir():
            package = package / rest.pop(0)
        module = (
            package / f"{rest.pop(0)}.py" if rest and (package / f"{rest[0]}.py").exists() else package / "__init__.py"
        )
        stands = not rest or re.search(rf"\b{rest[0]}\b", module.read_text())
        assert stands or re.search(other, name), f"{name}: no {rest[0]} in {module.relative_to(ROOT)}"


def test_every_command_that_is_named_can_be_run() -> None:
    """`python -m MODULE` in documents, messages and the Makefile, and `python FILE` in the last."""
    makefile = (ROOT / "Makefile").read_text()
    files = [
        path for path in CODE if path.suffix in (".py", ".md", ".yml", ".sh", ".toml") and path.name != "CHANGELOG.md"
    ]
    text = makefile + "\n".join(path.read_text() for path in files)
    named = {name.rstrip(".") for name in re.findall(r"python3? -m\s+(dripper[\w.{]*)", text)}
    modules = {name for name in named if "{" not in name}
    assert "dripper_lab.evaluation" in modules
    runnable = {
        name for name in modules
        if any((ROOT / "lib" / f"{name.replace('.', '/')}{end}").exists() for end in (".py", "/__main__.py"))
    }  # fmt: skip
    assert modules - runnable == set()
    assert [
        file
        for file in re.findall(r"python ((?:benchmarks|jobs|tests)/\S+\.py)", makefile)
        if not (ROOT / file).exists()
    ] == []


ROWS = [row for row in (ROOT / "docs/change_map.md").read_text().splitlines() if re.match(r"\| [a-z]", row)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split(" | ")[0][2:50])
def test_the_change_map_names_what_stands_in_its_files(row: str) -> None:
    words = [
        word for word in re.findall("`([^`]+)`", row) if word not in ("dripper", "lm", "encoder", "cpu", "to change")
    ]
    files = [file for word in words if re.search(r"\.(py|yml|md|sh|sql)$", word) for file in files_named(word)]
    text = "\n".join(file.read_text() for file in files)
    names = [word for word in words if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", word)]
    names = [name for name in names if not re.search(r"\.(py|yml|md|sh|sql)$", name)]
    assert [name for name in names if not re.search(rf"\b{name.split('.')[-1]}\b", text)] == []


def test_the_change_map_names_every_file_that_raises_an_error_code() -> None:
    told = {
        (code, place.removeprefix("lib/"))
        for row in ROWS
        for code in re.findall(r"`([A-Z_]+)`", row)
        for place in re.findall(r"`([\w/]+(?:\.py|/))`", row)
    }
    left_out = [
        f"{code}: {place}"
        for package in ("dripper", "dripper_labelers")
        for file in sorted((ROOT / "lib" / package).rglob("*.py"))
        if file.name != "errors.py"
        for place in [file.relative_to(ROOT / "lib").as_posix().removeprefix("dripper/")]
        for code in set(re.findall(r"(?<!is )(?<!not )\bErrorCode\.([A-Z_]+)", file.read_text()))
        if not any(code == known and place.startswith(named) for known, named in told)
    ]
    assert left_out == []


def test_links_out_of_the_documents_become_names_of_files_in_the_site() -> None:
    on_page = runpy.run_path(str(ROOT / "docs/hooks.py"))["on_page_markdown"]
    page = SimpleNamespace(file=SimpleNamespace(src_uri="research/notes.md"))
    told = on_page("[settings](../../conf/base.yml), [card](../model_card_cpu.md), [here](x.md)", page=page)
    assert told == "[settings](../settings.md), [card](../model_card_cpu.md), [here](x.md)"
    assert (
        on_page("[job](../jobs/run.py)", page=SimpleNamespace(file=SimpleNamespace(src_uri="a.md"))) == "`jobs/run.py`"
    )
