"""The example of docs/own_labeler.md, installed like somebody else's package."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dripper
from conftest import ROOT
from dripper.errors import SettingsError
from dripper.labels import load
from dripper.labels.config import load as load_settings
from dripper.labels.registry import find_entry, names

HTML = f"<p>menu<p>{'A long paragraph. ' * 20}<p>{'Middle. ' * 15}"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    text = (ROOT / "docs/own_labeler.md").read_text()
    (tmp_path / "my_labelers.py").write_text(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0])
    ((section, line),) = re.findall(r'entry-points\."([\w.]+)"\]\n(.*)', text)
    metadata = tmp_path / "my_labelers-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-labelers\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[{section}]\n{line}\n".replace('"', ""))
    monkeypatch.syspath_prepend(tmp_path)
    yield
    find_entry.cache_clear()


def test_it_is_a_labeler_like_the_others() -> None:
    assert names()[-1] == "longest"
    assert load("longest", least=5).version == "1"
    extraction = dripper.extract(HTML, labeler="longest")
    assert (extraction.method, extraction.n_blocks, extraction.n_main) == ("longest", 3, 1)
    assert dripper.extract(HTML, labeler="longest", least=100).n_main == 2


def test_its_settings_are_settings() -> None:
    settings = load_settings(assignments=["labeler.name=longest", "labels.longest.least=7"])
    assert settings.labels.options("longest") == {"least": 7}
    with pytest.raises(
        SettingsError, match=r"unknown setting labels\.longest\.lest; did you mean labels\.longest\.least"
    ):
        load_settings(assignments=["labels.longest.lest=7"])
    with pytest.raises(SettingsError, match=r"labels\.longest\.least='x': input should be a valid integer"):
        load("longest", least="x")


def test_the_example_is_short() -> None:
    block = re.findall(r"```python\n(.*?)```", (ROOT / "docs/own_labeler.md").read_text(), re.DOTALL)[0]
    assert sum(bool(line.strip()) for line in block.splitlines()) <= 30
