"""The check from end to end, on tiny random checkpoints and a CPU, and its message if a step
fails."""

import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dripper.labels.base import SimplifiedPage
from dripper_lab.gpu_check import __main__ as command
from dripper_lab.gpu_check import check as module
from dripper_lab.gpu_check import steps
from dripper_lab.gpu_check.__main__ import main
from dripper_lab.gpu_check.check import Part, Questions, check_encoder, check_lm
from dripper_lab.gpu_check.estimate import GPUS
from dripper_lab.gpu_check.page import write_page
from support.labelled import FOLDER, pages
from support.tiny_encoder import make_encoder
from support.tiny_lm import copy_tokenizer, make_checkpoint, make_config, tokenizer_folder

PAGES = [f"<h1>Page {number}</h1><p>It rained all day.</p>" for number in range(4)]
MACHINE = {"device": "NVIDIA L4", "gpu": True, "cuda": "13.0", "versions": {"vllm": "0.32.0"}}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A checkpoint without weights, which is never loaded."""
    tokenizer_folder()
    folder = tmp_path / "MinerU-HTML-v1.1-hunyuan"
    folder.mkdir()
    make_config(folder, architectures=["HunYuanDenseV1ForCausalLM"])
    copy_tokenizer(folder)
    return folder


class Steps:
    """Answers as the steps would; `parallel` and `fsm` differ in one label."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, step: str, **question: Any) -> dict[str, Any]:
        self.asked.append((step, question))
        if step == self.failing or question.get("settings", {}).get("decoder") == self.failing:
            raise RuntimeError("CUDA out of memory")
        labels = ["10", "01", "10", "00"]
        numbers = [0, 1, 2, 3]
        if question.get("settings", {}).get("decoder") == "fsm":
            labels = ["10", "11", "10", "00"]
        label = {"version": "tiny@1", "start_seconds": 30.0, "seconds": 0.5, "pages": 2, "labels": labels, "numbers": numbers,
                 "windows": 2, "passes": 6, "tokens": 100, "main_share": 0.5, "memory": 2_000_000_000}  # fmt: skip
        read = {"version": "tiny@1", "pages": 4, "blocks": 8, "windows": 4, "prompt_tokens": 400, "answer_tokens": 32}
        probe = {"fits": False, "report": "it writes <b>", "set": "tagged", "likeliest": "compact"}
        answers: dict[str, dict[str, Any]] = {
            "label": label, "read": read, "probe": probe, "count": {"tokens": 90.0}, "machine": MACHINE,
        }  # fmt: skip
        return answers[step]


def asked(**changes: Any) -> Questions:
    given: dict[str, Any] = {"pages": PAGES, "lm": {}, "encoder": {}, "gpu": GPUS["L4"], "profile": "dripper"}
    return Questions(**given | changes)


def test_decoders_are_compared_label_for_label(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Steps()
    monkeypatch.setattr(module, "ask_step", steps)
    part = check_lm(str(model), asked())
    assert "parallel and fsm: 1 of 8 labels differ." in part.sentences
    assert any("labels.lm.answer=compact may fit better" in sentence for sentence in part.sentences)
    assert [(figure.name, figure.measured) for figure in part.figures] == [("`lm`, parallel", 4.0), ("`lm`, fsm", 4.0)]
    assert all(figure.estimate is not None and figure.estimate > 0 for figure in part.figures)
    assert {question["profile"] for step, question in steps.asked} == {"mineru-1.1"}, "what its weights were trained on"


def test_a_step_that_fails_takes_nothing_with_it(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ask_step", Steps("parallel"))
    part = check_lm(str(model), asked())
    assert part.problems == ["label failed: CUDA out of memory"]
    assert [figure.measured for figure in part.figures] == [None, 4.0]
    page = write_page([part], MACHINE, "L4", 0.39, 4)
    assert "CUDA out of memory" in page
    assert "it writes &lt;b&gt;" in page


def test_the_authors_labels_are_compared_where_their_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ask_step", Steps())
    package = tmp_path / "pulpie"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "simplify.py").write_text("def simplify(html):\n    return html, None\n")
    (package / "extractor.py").write_text(
        "class Extractor:\n"
        "    def __init__(self, model, **options):\n        assert model == 'hub/orange'\n"
        "    def _classify(self, page):\n        return {'1': 'main', '2': 'other'}\n"
    )
    part = check_encoder("hub/orange", asked(authors=tmp_path))
    assert part.sentences[-1].startswith("Beside pulpie: 3 of 8 labels differ, on 4 of 4 pages;")
    part = check_encoder("hub/orange", asked(authors=tmp_path / "nothing"))
    assert part.sentences[-1].startswith("Not compared with the authors' code (pulpie): ModuleNotFoundError")


def test_a_page_without_an_answer_shifts_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = ["10", "01", "11", "00"]
    for numbers, silent in (([0, 1, 2, 3], 0), ([0, 1, 2, 3], 2), ([1, 2, 4, 5], 4)):
        # None of our pages is without blocks; the authors' code leaves one page unanswered.
        theirs = [[page, {}] for page in ["<p>"] * 6]
        for number, label in zip(numbers, labels, strict=True):
            if number != silent:
                theirs[number][1] = {str(n): "main" if one == "1" else "other" for n, one in enumerate(label, 1)}
        monkeypatch.setattr(module, "_ask", lambda *_, told=theirs: told)
        part = Part("x")
        module._compare_authors(part, "theirs", "", {}, {"labels": labels, "numbers": numbers}, asked())
        assert part.sentences[-1].startswith("Beside theirs: 0 of 6 labels differ, on 3 of 6 pages;")


def test_without_torch_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"step": "machine"}'))
    assert steps.main() == 2
    told = capsys.readouterr().err
    assert "the check of checkpoints needs torch" in told
    assert "Traceback" not in told


def test_prices_are_those_of_the_rent_that_is_given() -> None:
    figure = SimpleNamespace(name="`lm`, parallel", measured=4.0, estimate=5.0, note="")
    part: Any = Part("folder/tiny", [figure])  # type: ignore[list-item]
    page = write_page([part], MACHINE, "L4", 0.78, 300)
    cells = re.findall("<td>(.*?)</td>", page)
    assert cells[:5] == ["tiny, lm, parallel", "4", "5", "54", "43"]


def test_wrong_usage_is_said_in_a_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "ask_step", Steps())
    assert main([str(FOLDER)]) == 2
    assert "name a checkpoint" in caplog.text
    (tmp_path / "empty").mkdir()
    assert main([str(tmp_path / "empty"), "--lm", "tiny"]) == 2


@pytest.mark.vllm
@pytest.mark.slow
def test_every_step_runs_on_a_cpu(tmp_path: Path) -> None:
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    shortest = sorted(pages(), key=lambda page: len(page.simplified_html))[:3]
    simplified = [SimplifiedPage.of(page) for page in shortest]
    lm, encoder = make_checkpoint(tmp_path / "tiny-lm", simplified), make_encoder(tmp_path / "tiny-encoder")
    out = tmp_path / "check.html"
    flags = ["--limit", "6", "--gpu", "L4", "--dollars-per-hour", "0.5", "--authors", str(tmp_path), "--out", str(out)]
    settings = ["labels.lm.dtype=float32", "labels.encoder.device=cpu"]
    told = [part for setting in settings for part in ("--set", setting)]
    assert main([str(FOLDER / "wcxb-dev"), "--lm", str(lm), "--encoder", str(encoder), *flags, *told]) == 0
    page = out.read_text(encoding="utf-8")
    rows = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(<td>.*?)</tr>", page)]
    assert [row[0] for row in rows] == ["tiny-lm, lm, parallel", "tiny-lm, lm, fsm", "tiny-encoder, encoder"]
    assert all(float(cell.replace(",", "")) > 0 for row in rows for cell in row[1:5])
    assert re.search(r"parallel and fsm: 0 of [1-9]\d\d labels differ", page)
    assert "free answers to 5 pages" in page
    assert "There was no GPU" in page
    assert "(pulpie): ModuleNotFoundError" in page
