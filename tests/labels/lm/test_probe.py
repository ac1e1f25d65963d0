"""A checkpoint's free answers, and the likelihood of each form: `dripper lm probe`."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dripper.__main__ import main
from dripper.labels.lm import probe as module
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.encoder import Job
from dripper.labels.lm.probe import SCORED_BLOCKS, FreeDecoder, Probe, probe, read_written, separators
from dripper.labels.lm.template import Templates

PAGE = Path(__file__).parents[2] / "data" / "labelled" / "wcxb-dev" / "html" / "dev-4249.html"


def encode(text: str) -> list[int]:
    """Letters are tokens, except for the two labels."""
    return [ord(one) for one in text.replace("main", "\1").replace("other", "\2")]


ENCODER: Any = SimpleNamespace(
    tokenizer=SimpleNamespace(encode=encode),
    checkpoint=SimpleNamespace(name="tiny"),
    version="tiny@0/own/json",
    templates=Templates(FORMS["json"], encode),
)


class Engine:
    """Writes answers of one form, and gives every token that continues such an answer a high
    probability."""

    def __init__(self, form: str, before: str = "") -> None:
        self.form, self.before = FORMS[form], before

    def answer(self, n_blocks: int) -> str:
        return self.form.text([False] * n_blocks)

    def generate(self, prompts: Sequence[dict[str, list[int]]], parameters: Any, use_tqdm: bool) -> list[Any]:
        return [self._output(prompt["prompt_token_ids"], parameters) for prompt in prompts]

    def _output(self, ids: list[int], parameters: Any) -> Any:
        # The prompt is one token, the number of blocks.
        right = encode(self.answer(ids[0]))
        told = [{token: SimpleNamespace(logprob=-0.1 if token in right[at : at + 1] else -3.0)} for at, token in
                enumerate(ids[1:])]  # fmt: skip
        text = self.before + self.answer(ids[0])
        assert parameters.temperature == 0
        return SimpleNamespace(
            outputs=[SimpleNamespace(text=text[: parameters.max_tokens])], prompt_logprobs=[None, *told]
        )


@pytest.fixture(autouse=True)
def _parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "import_extra", lambda _: SimpleNamespace(SamplingParams=SimpleNamespace))


JOBS = [Job([12], 12), Job([3], 3)]


@pytest.mark.parametrize(
    "form", [name for name in FORMS if name != "json_machine"]
)  # Here in the tokens of json_tight.
def test_the_form_that_a_checkpoint_writes_is_the_likeliest(form: str) -> None:
    found = probe(ENCODER, FreeDecoder(Engine(form), ENCODER), JOBS, 1000)
    assert found.likeliest == form
    assert [(one.form, one.labels, one.thinking) for one in found.written] == [(form, 12, None), (form, 3, None)]
    assert found.fits == (form == "json")
    fitting = "labels.lm.answer=json fits" if form == "json" else f"--set labels.lm.answer={form}"
    assert fitting in found.report()


def test_the_likelihood_of_a_long_page_is_that_of_its_first_blocks() -> None:
    (value,) = FreeDecoder(Engine("compact"), ENCODER).likelihoods([Job([400], 400)], FORMS["compact"])
    digits = sum(len(str(block)) for block in range(1, SCORED_BLOCKS + 1))
    assert value == pytest.approx(-0.1 * digits / SCORED_BLOCKS)


@pytest.mark.parametrize(
    ("text", "thinking", "leading", "form", "labels"),
    [
        ('{"1": "main", "2": "oth', None, "", "json", 1),
        ('{"1": "main","2": "other"}', None, "", "json_v0", 2),
        ('\n{"1":"main","2":"other"}', None, "\n", "json_tight", 2),
        ("<think>well</think>\n\n<answer>\n1main2other\n</answer>", "well", "\n\n", "tagged", 2),
        ("<answer>1main2other</answer><|eos|>", None, "", "tagged_tight", 2),
        ("<think>and so on", "and so on", "", None, 0),
        ("2main1other", None, "", None, 2),
        ("no answer", None, "", None, 0),
    ],
)
def test_free_answers_are_read(text: str, thinking: str | None, leading: str, form: str | None, labels: int) -> None:
    read = read_written(text)
    assert (read.thinking, read.leading, read.form, read.labels) == (thinking, leading, form, labels)


def test_separators_of_no_known_form_are_told() -> None:
    answer = '{ "1" : "main" , "2" : "other" , "3" : "main"'
    assert separators([answer]).most_common() == [(('" : "', '" , "'), 2)]
    report = Probe("tiny", "json", [read_written(answer)], {"json": -1.0, "compact": -2.0}).report()
    assert "no known form: 3 labels" in report
    assert """id '" : "' label '" , "' id, 2 times""" in report


def test_a_form_that_the_tokenizer_cannot_write_is_left_out() -> None:
    def other(text: str) -> list[int]:
        return list(text.encode()) if text.startswith("<answer>") else encode(text)

    encoder: Any = SimpleNamespace(**vars(ENCODER) | {"tokenizer": SimpleNamespace(encode=other)})
    found = probe(encoder, FreeDecoder(Engine("compact"), encoder), JOBS, 50)
    assert set(found.likelihoods) == {"json", "json_v0", "json_tight", "json_machine", "compact"}
    assert found.likeliest == "compact"


@pytest.mark.vllm
def test_the_command_tells_what_a_real_engine_writes(
    checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    given = ["--tokens", "8", "--set", "labels.lm.dtype=float32"]
    code = main(["lm", "probe", str(checkpoint), str(PAGE), *given])
    told = capsys.readouterr().out
    lines = [line.split() for line in told.splitlines() if line.startswith("  ") and "'" in line]
    scores = {words[0]: float(words[1]) for words in lines if words[0] in FORMS}
    assert set(scores) == set(FORMS)
    # A random model: some 12 for each token of 151,936.
    assert all(-12 * 12 < score < -12 for score in scores.values())
    assert (code == 0) == (max(scores, key=lambda name: scores[name]) == "json")
    assert np.isfinite(list(scores.values())).all()


def test_pages_without_blocks_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    from support.tiny_lm import copy_tokenizer, make_config, tokenizer_folder

    monkeypatch.undo()
    tokenizer_folder()
    make_config(tmp_path)
    copy_tokenizer(tmp_path)
    page = tmp_path / "page.html"
    page.write_text("<html></html>")
    assert main(["lm", "probe", str(tmp_path), str(page)]) == 2
    assert "none of the pages has a block" in capsys.readouterr().err
