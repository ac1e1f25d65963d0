"""The site that `make docs` builds, as a browser shows it."""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from dripper.labels.config import keys
from support.chromium import Chromium, find_chromium

ROOT = Path(__file__).parents[1]
ON_A_PHONE = ("tables/extractions", "tables/stages", "settings", "reference")
SHARES = 8
"""Parts of the pages; each commit looks at one of them on a wide screen."""
TOO_WIDE = """[...document.querySelectorAll(".md-typeset table")].filter(table => {
  const column = table.closest(".md-content__inner").getBoundingClientRect();
  return table.getBoundingClientRect().right > column.right + 1;
}).map(table => table.innerText.slice(0, 60))"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("mkdocs") is None or find_spec("mkdocstrings") is None:
        pytest.skip("no MkDocs: it comes with the extra docs")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {
        "NO_MKDOCS_2_WARNING": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "lib"), *sys.path]),
    }
    subprocess.run(build, cwd=ROOT, env=environment, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    if find_chromium() is None:
        pytest.skip("no Chromium or Chrome on this machine")
    shown = Chromium(tmp_path_factory.mktemp("browser"))
    yield shown
    shown.close()


@pytest.mark.draw("pages of the site")
@pytest.mark.parametrize("share", range(SHARES))
def test_no_table_is_wider_than_its_column(site: Path, browser: Chromium, share: int) -> None:
    """Without scripts, which widen no table and take most of the time."""
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.set_size(1300, 900)
    for page in sorted(site.rglob("*.html"))[share::SHARES]:
        browser.open(page)
        assert browser.run(TOO_WIDE) == [], page
        assert browser.run("document.documentElement.scrollWidth") == 1300, page
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("page", ON_A_PHONE)
def test_no_table_of_a_page_for_users_is_wider_than_a_phone(site: Path, browser: Chromium, page: str) -> None:
    browser.set_size(390, 900)
    browser.open(site / f"{page}.html")
    assert browser.run(TOO_WIDE) == []
    assert browser.run("document.documentElement.scrollWidth") == 390


def test_a_table_that_is_too_wide_is_found(site: Path, browser: Chromium) -> None:
    browser.set_size(390, 900)
    browser.open(site / "tables/extractions.html")
    browser.run("document.querySelector('.md-typeset td').style.minWidth = '900px'")
    (first,) = browser.run(TOO_WIDE)
    assert first.startswith("column")


def test_the_site_has_every_setting_and_public_function(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text())
    text = " ".join(entry["text"] for entry in index["docs"] if entry["location"].startswith("settings"))
    assert {key for key in keys() if key not in text} == set()
    reference = (site / "reference.html").read_text()
    for name in ("dripper.extract", "dripper.extract_many", "dripper.spark.extract_column"):
        assert f'id="{name}"' in reference


def test_the_settings_are_written_from_the_defaults() -> None:
    """Without MkDocs."""
    write = runpy.run_path(str(ROOT / "docs/hooks.py"))["write_settings"]
    lines = list(write((ROOT / "conf/base.yml").read_text()))
    assert {key for key in keys() if sum(line.startswith(f"- **`{key}`**: `") for line in lines) != 1} == set()
    assert "## limits" in lines
