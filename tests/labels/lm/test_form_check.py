"""A warning if a checkpoint prefers another form to the configured one."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dripper.labels.base import SimplifiedPage
from dripper.labels.lm import generating, parallel
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.form_check import FormCheck, Rival, find_rivals
from dripper.labels.lm.generating import FsmDecoder
from dripper.labels.lm.parallel import ParallelDecoder
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Templates
from support.rows import Rows


def encode(text: str) -> list[int]:
    """Letters are tokens, except for the two labels."""
    return [ord(one) for one in text.replace("main", "\1").replace("other", "\2")]


def rivals(form: str) -> dict[str, tuple[int, str, str]]:
    found = find_rivals(form, Templates(FORMS[form], encode).of(1), encode)
    return {rival.name: (rival.at, chr(rival.set_token), chr(rival.token)) for rival in found}


def test_forms_part_where_their_texts_do() -> None:
    assert rivals("json") == {
        "json_tight": (5, " ", '"'),
        "json_machine": (5, " ", '"'),
        "compact": (0, "{", "1"),
        "tagged": (0, "{", "<"),
        "tagged_tight": (0, "{", "<"),
    }
    assert rivals("json_v0") == rivals("json"), "these two part after the first label"
    assert rivals("tagged")["tagged_tight"] == (8, "\n", "1")
    assert set(rivals("compact")) == set(FORMS) - {"compact"}


RIVALS = [Rival("json", 0, 1, 5), Rival("tagged", 1, 2, 6)]


@pytest.mark.parametrize(("odds", "told"), [((3.0, -9.0), "json"), ((-8.0, 2.0), "tagged"), ((0.5, -1.0), None)])
def test_the_mean_of_the_first_pages_counts(
    odds: tuple[float, float], told: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    check = FormCheck("tiny@1", "compact", RIVALS, pages=2)
    for more in (-0.25, 0.25):
        assert check.wants
        assert not caplog.records
        check.add({rival.name: value + more for rival, value in zip(RIVALS, odds, strict=True)})
    assert not check.wants
    assert len(caplog.records) == (told is not None)
    if told:
        assert (
            f"answer=compact is set, and on the first 2 pages the model would rather begin to write {told},"
            in caplog.text
        )
        assert "tiny@1" in caplog.text


class Engine:
    """Writes answers of one form: the logit of its next token is 4, of all others -4."""

    def __init__(self, form: str, tokens: list[int]) -> None:
        self.wanted = encode(FORMS[form].text([False]))
        self.tokens = tokens

    def encode(self, inputs: list[dict[str, Any]], parameters: Any, **options: Any) -> list[Any]:
        return [self._scored(one["prompt_token_ids"]) for one in inputs]

    def _scored(self, ids: list[int]) -> Any:
        # Prompts are of three tokens.
        answer = [self.wanted[at] if at < len(self.wanted) else 0 for at in range(-2, len(ids) - 2)]
        rows = np.array([[0.0, 1.0, *(4.0 if token == wanted else -4.0 for token in self.tokens)] for wanted in answer])
        return SimpleNamespace(prompt_token_ids=ids, outputs=SimpleNamespace(data=Rows(rows)))

    def generate(self, prompts: list[dict[str, Any]], parameters: Any, use_tqdm: bool) -> list[Any]:
        return [self._written(one["prompt_token_ids"], parameters) for one in prompts]

    def _written(self, ids: list[int], parameters: Any) -> Any:
        if not hasattr(parameters, "logprobs"):
            said = encode(FORMS["compact"].text([False]))
            return SimpleNamespace(prompt_token_ids=ids, num_cached_tokens=0, outputs=[SimpleNamespace(token_ids=said)])
        likely = {self.wanted[len(ids) - 3]: SimpleNamespace(logprob=-0.1), 7: SimpleNamespace(logprob=-6.0)}
        return SimpleNamespace(outputs=[SimpleNamespace(logprobs=[likely])])


JOBS = [Job([9, 9, number], 1) for number in range(4)]


def set_to_compact(form: str) -> tuple[FormCheck, Templates, Any]:
    templates = Templates(FORMS["compact"], encode)
    check = FormCheck("tiny@1", "compact", find_rivals("compact", templates.of(1), encode), pages=3)
    return check, templates, Engine(form, check.tokens)


@pytest.mark.parametrize(("form", "told"), [("json", True), ("tagged", True), ("compact", False)])
def test_parallel_tells_from_its_first_pass(
    form: str, told: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "import_extra", lambda _: SimpleNamespace(PoolingParams=SimpleNamespace))
    check, templates, engine = set_to_compact(form)
    ParallelDecoder(engine, templates, 1 << 30, check).decode(JOBS)
    assert not check.wants
    assert ("would rather begin to write" in caplog.text) == told
    assert (f" {form}" in caplog.text) == told


@pytest.mark.parametrize(("form", "told"), [("json", True), ("compact", False)])
def test_the_state_machine_asks_for_the_next_token(
    form: str, told: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    vllm = SimpleNamespace(SamplingParams=SimpleNamespace)
    monkeypatch.setattr(generating, "import_extra", lambda _: vllm)
    check, templates, engine = set_to_compact(form)
    decoder = FsmDecoder(engine, templates, check)
    assert [one.main.tolist() for one in decoder.decode(JOBS)] == [[False]] * 4
    assert not check.wants
    assert ("would rather begin to write" in caplog.text) == told


@pytest.mark.vllm
def test_the_logits_are_the_models(checkpoint: Path, simplified: list[SimplifiedPage], caplog: Any) -> None:
    """The output matrix has several rows instead of two: the check sees the same logits as
    transformers."""
    import torch
    import transformers

    settings = LmSettings(model=str(checkpoint), dtype="float32")
    encoder = PageEncoder.load(settings)
    jobs = [job for page in simplified[:2] for _, job in encoder.read(page)]
    caplog.set_level(logging.WARNING)
    decoder = ParallelDecoder.start(encoder, settings)
    seen = list[dict[str, float]]()
    check = decoder.form_check
    assert check is not None
    check.add = seen.append  # type: ignore[method-assign, assignment]
    try:
        decoder.decode(jobs)
    finally:
        decoder.close()
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(checkpoint).float().eval()
    begun = encoder.templates.of(1).tokens.tolist()
    assert len(seen) == len(jobs) == 2
    for job, odds in zip(jobs, seen, strict=True):
        assert set(odds) == {"json_tight", "json_machine", "compact", "tagged", "tagged_tight"}
        for rival in check.rivals:
            with torch.inference_mode():
                logits = model(torch.tensor([[*job.prompt_ids, *begun[: rival.at]]])).logits[0, -1]
            assert odds[rival.name] == pytest.approx(float(logits[rival.token] - logits[rival.set_token]), abs=1e-3)
