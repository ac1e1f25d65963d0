"""The command: the example in docs/annotation.md, and wrong usage in one sentence."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dripper_lab.annotate import main
from dripper_lab.annotation.export import Export
from dripper_lab.datasets import read_pages
from support.annotating import ChatStub, answered, page_of, right, write_answers
from support.labelled import FOLDER
from support.servers import serving

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs/annotation.md").read_text()
GOOD = {"page": "p00001", "kind": "article", "main": "3-5", "sure": 3}


def fenced(language: str) -> str:
    """Return the first block of the document in a language."""
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)[0]


def run(command: str, stub: ChatStub) -> int:
    words = shlex.split(command.replace("http://127.0.0.1:8000/v1", stub.address))
    assert words[:3] == ["python", "-m", "dripper_lab.annotate"]
    return main(words[3:])


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_example_of_the_document_runs(
    working_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    pytest.importorskip("platformdirs", reason="sft needs the extra [lm]")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\n")
    with serving(ChatStub(right)) as stub:
        commands = fenced("sh").splitlines()
        assert [run(command, stub) for command in commands] == [0] * len(commands)
        assert stub.keys == {"Bearer sk-secret"}
        assert len(stub.bodies) == 10
        told = capsys.readouterr().out
        assert "8 of 11 pages exported to work" in told
        assert "10 answers, 0 were there; 10 requests, 1,000 tokens read, 100 written" in told
        assert "8 pages in data/mine, 2 of them annotated twice" in told
        assert told.count(fenced("text")) == 2
        assert "8 pages kept" in told
        assert len(list(read_pages(working_folder / "data", "mine"))) == 8
        rows = [
            json.loads(line)
            for name in ("train", "validation")
            for line in (working_folder / "sft" / f"{name}.jsonl").read_text().splitlines()
        ]
        assert len(rows) >= 8
        assert {tuple(message["role"] for message in row["messages"]) for row in rows} == {("user", "assistant")}
        assert run(commands[1], stub) == 0
        assert "0 answers, 10 were there" in capsys.readouterr().out
    assert "secret" not in told + caplog.text


def test_pages_without_an_answer_are_named_and_the_exit_code_is_3(
    exported: Export, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(_stub: ChatStub, body: dict[str, Any]) -> tuple[int, str]:
        return 200, "no" if page_of(body) in ("p00002", "p00004") else answered(body)

    assert main(["export", str(FOLDER / "wcxb-dev"), "--out", str(tmp_path / "work")]) == 0
    with serving(ChatStub(silent)) as stub:
        assert main(["ask", str(tmp_path / "work"), "--endpoint", stub.address, "--model", "m"]) == 3
    told = capsys.readouterr().out
    assert "2 pages without an answer; the same command asks again" in told
    assert stub.keys == {None}


def test_import_names_all_that_is_wrong_and_writes_nothing_unless_told(
    exported: Export, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_answers(tmp_path / "a.jsonl", GOOD, GOOD, GOOD | {"page": "p1"})
    asked = ["import", str(file), "--export", str(exported.folder), "--out", str(tmp_path / "mine")]
    assert main(asked) == 2
    assert "line 2: page p00001 stands in line 1 already" in caplog.text
    assert "line 3: page p1 is not in" in caplog.text
    assert not (tmp_path / "mine").exists()
    assert main([*asked, "--skip-wrong"]) == 0
    assert "10 pages of the export without an answer; 2 lines not usable" in capsys.readouterr().out
    assert (tmp_path / "mine" / "truth.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask", "nowhere", "--endpoint", "http://h/v1", "--model", "m"], "nowhere is not an export"),
        (["export", "nowhere.html", "--out", "x"], "nowhere.html does not exist"),
        (["agreement", "nowhere"], "has no truth.jsonl"),
        (["import", "nowhere/a.jsonl", "--out", "x"], "nowhere is not an export"),
        (["sft", "nowhere/mine", "--out", "x"], "no data set 'mine'"),
        (["sft", "data/dragnet.tar.xz", "--out", "x"], "dragnet is for evaluation: nothing is trained on it"),
    ],
)
def test_wrong_usage_is_one_sentence(
    working_folder: Path, caplog: pytest.LogCaptureFixture, arguments: Sequence[str], words: str
) -> None:
    assert main(arguments) == 2
    assert words in caplog.text
    assert "Traceback" not in caplog.text
    assert not (working_folder / "x").exists()


@pytest.mark.parametrize(
    ("flag", "value"), [("--twice", "2"), ("--body", "[]"), ("--body", "{"), ("--concurrency", "0")]
)
def test_flags_out_of_range_are_refused(flag: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["ask", "work", "--endpoint", "http://h/v1", "--model", "m", flag, value])
    assert f"argument {flag}" in capsys.readouterr().err
