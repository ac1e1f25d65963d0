"""What stands around the program for strangers: licences, changelog, citation, and the forms and
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
    # What another Python or platform needs too is listed as well.
    assert set(script["rows"](setup_py).values()) <= listed
    named = {row.split(" | ")[0].removeprefix("| ") for row in listed if row.startswith("| ")}
    direct = {
        re.split(r"[^\w.-]", each)[0].lower().replace("_", "-")
        for part in script["RUN_TIME"]
        for each in setup_py[part]
    }
    assert direct <= named


def test_every_locked_package_is_listed_with_its_licence() -> None:
    """But for what no system needs that the package is for."""
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
    assert {"run": ".ci/run"} in jobs["all"]["steps"]
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


def test_contributing_names_files_that_exist() -> None:
    for name in re.findall(r"`((?:tests|docs|lib|conf|jobs)/[\w/.]+)`", (ROOT / "CONTRIBUTING.md").read_text()):
        assert (ROOT / name).exists(), name


def test_the_commit_hooks_are_what_make_lint_runs() -> None:
    (hooks,) = [repo["hooks"] for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]]
    makefile = (ROOT / "Makefile").read_text()
    for hook in hooks:
        assert hook["entry"].replace(".venv/bin", "$(BIN)") in makefile.replace("format --check", "format")


def test_the_site_has_every_page_of_the_documents() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    listed = re.findall(r"[\w/]+\.md", yaml.safe_dump(nav))
    assert sorted(listed) == sorted(str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md"))


def test_links_out_of_the_documents_become_names_of_files_in_the_site() -> None:
    on_page = runpy.run_path(str(ROOT / "docs/hooks.py"))["on_page_markdown"]
    page = SimpleNamespace(file=SimpleNamespace(src_uri="research/notes.md"))
    told = on_page("[settings](../../conf/base.yml), [card](../model_card_cpu.md), [here](x.md)", page=page)
    assert told == "`conf/base.yml`, [card](../model_card_cpu.md), [here](x.md)"
