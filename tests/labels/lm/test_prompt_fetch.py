"""Prompts taken from a wheel as data."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dripper.errors import MachineError
from dripper.labels.lm import prompt as prompt_fetch
from dripper.labels.lm.prompt import MODULE, PublicPrompt, fetch_prompts, find_prompt, read_prompts, sha256

SOURCE = '''
import nowhere
raise RuntimeError("imported")

def get_full_prompt_long_one(html_str: str) -> str:
    try:
        prompt = f"""Look at {ITEM_ID_ATTR}: {{1}}
{html_str}
Now."""
    except Exception as e:
        raise ValueError(f"failed: {e}")
    return prompt

def get_full_prompt_long_two(html_str):
    prompt = """日本 {html}
"""
    prompt = f"{prompt}{html_str}"
    return prompt
'''
ONE, TWO = "Look at _item_id: {1}\n\nNow.", "日本 {html}\n"


@pytest.fixture
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"one": PublicPrompt(sha256(ONE), 22, "json"), "two": PublicPrompt(sha256(TWO), 10, "json")}
    monkeypatch.setattr("dripper.labels.lm.prompt.PUBLIC", known)
    monkeypatch.setattr("dripper.labels.lm.prompt.PUBLIC", known)


def wheel(folder: Path, source: str, name: str = MODULE) -> Path:
    made = folder / "mineru_html-1.1.2-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as opened:
        opened.writestr(name, source)
    return made


@pytest.mark.usefixtures("_known")
def test_prompts_are_read_without_running_the_module(tmp_path: Path) -> None:
    assert read_prompts(wheel(tmp_path, SOURCE)) == {"one": ONE, "two": TWO}


@pytest.mark.usefixtures("_known")
@pytest.mark.parametrize(
    "change",
    [
        ("Look", "look"),
        ("long_two", "long_three"),
        ('f"{prompt}{html_str}"', "read(html_str)"),
        ("{ITEM_ID_ATTR}", "{X}"),
    ],
)
def test_another_prompt_than_expected_is_refused(tmp_path: Path, change: tuple[str, str]) -> None:
    with pytest.raises(MachineError, match=r"has another prompt (one|two) than expected"):
        read_prompts(wheel(tmp_path, SOURCE.replace(*change)))


@pytest.mark.parametrize("made", ["no zip", "no module", "no Python"])
def test_a_file_that_is_no_such_wheel_is_named(tmp_path: Path, made: str) -> None:
    file = wheel(tmp_path, "x = (", MODULE if made == "no Python" else "other.py")
    if made == "no zip":
        file.write_bytes(b"nothing")
    with pytest.raises(MachineError, match=r"does not hold mineru_html/process/build_prompt\.py"):
        read_prompts(file)


@pytest.mark.usefixtures("_known")
def test_fetched_prompts_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert {"--no-deps", "--only-binary=:all:", "mineru-html==1.1.2"} <= set(command)
        wheel(Path(command[-1]), SOURCE)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(prompt_fetch.subprocess, "run", run)
    files = fetch_prompts(tmp_path / "new" / "prompts")
    assert [file.name for file in files] == ["one.txt", "two.txt"]
    assert find_prompt("one", "json", tmp_path / "new" / "prompts").text("<p>") == "Look at _item_id: {1}\n<p>\nNow."


def test_pip_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "WARNING: x\nERROR: No matching distribution found\n")
    monkeypatch.setattr(prompt_fetch.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(MachineError, match=r"pip could not download mineru-html==1\.1\.2: .*No matching distribution"):
        fetch_prompts(tmp_path / "prompts")
    assert not (tmp_path / "prompts").exists()
