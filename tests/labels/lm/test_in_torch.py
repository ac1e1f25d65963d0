"""The decoder `parallel` in plain PyTorch, on the CPU in float32: the same labels as the state
machine's on real pages."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import ErrorCode, MachineError, PageError, SettingsError
from dripper.labels import Labels, Use, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm import row_model
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.entry import LM
from dripper.labels.lm.labeler import LmLabeler
from dripper.labels.lm.row_model import Piece, cut_rows
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.windows import merge_windows
from support.tiny_lm import MODELS
from support.torch_fsm import write_answer


def labeler(checkpoint: Path, **options: Any) -> LmLabeler:
    made = load("lm", model=str(checkpoint), **{"engine": "transformers", "device": "cpu"} | options)
    assert isinstance(made, LmLabeler)
    return made


def label(checkpoint: Path, pages: Sequence[SimplifiedPage], **options: Any) -> list[Labels]:
    made = labeler(checkpoint, **options)
    try:
        return made.label_simplified(pages)
    finally:
        made.close()


def by_state_machine(checkpoint: Path, pages: Sequence[SimplifiedPage], **options: Any) -> list[list[bool]]:
    import transformers

    settings = LmSettings.model_validate({"model": str(checkpoint), **options})
    encoder = PageEncoder.load(settings)
    library: Any = transformers
    model = library.AutoModelForCausalLM.from_pretrained(checkpoint, dtype="float32").eval()
    found = []
    for page in pages:
        windows, jobs = zip(*encoder.read(page), strict=True)
        answers = [np.array(write_answer(model, job, encoder.templates)) for job in jobs]
        found.append(merge_windows(windows, answers).tolist())
    return found


def mains(labels: Sequence[Labels]) -> list[list[bool]]:
    return [one.main.tolist() for one in labels]


@pytest.mark.parametrize("form", FORMS)
def test_the_state_machines_labels_in_every_answer_form(
    checkpoint: Path, simplified: list[SimplifiedPage], form: str
) -> None:
    some = simplified[:3]
    labels = label(checkpoint, some, answer=form)
    assert mains(labels) == by_state_machine(checkpoint, some, answer=form)
    assert len({main for one in mains(labels) for main in one}) == 2, "labels that are worth comparing"
    assert not any(np.isnan(one.probability).any() for one in labels)


@pytest.mark.parametrize("architecture", MODELS)
def test_the_state_machines_labels_of_pages_in_windows_and_rows(
    tiny: Callable[[str], Path], simplified: list[SimplifiedPage], architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows, pages that are split within a row, a cache with room for few of them."""
    model = tiny(architecture)
    options = {"answer": "compact", "context_tokens": 1000}
    some = simplified[:4]
    expected = by_state_machine(model, some, **options)
    monkeypatch.setattr(row_model, "ROW_TOKENS", {"cpu": 700})
    made = labeler(model, **options)
    labels = made.label_simplified(some)
    assert mains(labels) == expected
    assert max(one.windows for one in labels) > 2
    made._decoder._cache_tokens = 2_500
    assert mains(made.label_simplified(some)) == expected
    assert mains([made.label_simplified([page])[0] for page in reversed(some)]) == expected[::-1]
    made.close()


def test_what_is_known_is_not_read_again(checkpoint: Path, simplified: list[SimplifiedPage]) -> None:
    made, simplified = labeler(checkpoint), simplified[:6]
    jobs = [job for page in simplified for _, job in made.encoder.read(page)]
    labels = made.label_simplified(simplified)
    stats = made.stats()
    prompts = sum(len(job.prompt_ids) for job in jobs)
    answers = sum(len(made.encoder.templates.of(job.n_blocks).tokens) for job in jobs)
    prefix = len(made.encoder.tokenizer.prompt_ids(made.encoder.prompt.text("")))
    passes = max(one.passes for one in labels)
    assert passes > 2
    assert stats["tokens"] < prompts - (len(jobs) * prefix) // 2 + passes * answers
    # Again, twice in a batch, and from labels that are right: the same, in one pass.
    assert mains(made.label_simplified([*simplified[:2], *simplified[:2]])) == [*mains(labels[:2]), *mains(labels[:2])]
    drafted = [
        SimplifiedPage(page.simplified_html, page.n_blocks, one) for page, one in zip(simplified, labels, strict=True)
    ]
    again = made.label_simplified(drafted)
    assert {one.passes for one in again} == {1}
    assert mains(again) == mains(labels)
    assert "labels.lm.answer" in made.warnings or made._decoder.form_check.wants == 0  # type: ignore[union-attr]
    made.close()


def test_what_the_form_check_sees_is_what_the_model_says(checkpoint: Path, simplified: list[SimplifiedPage]) -> None:
    import torch
    import transformers

    made, seen = labeler(checkpoint), list[dict[str, float]]()
    check = made._decoder.form_check
    assert check is not None
    check.add = seen.append  # type: ignore[method-assign, assignment]
    made.label_simplified(simplified[:2])
    library: Any = transformers
    model = library.AutoModelForCausalLM.from_pretrained(checkpoint, dtype="float32").eval()
    begun = made.encoder.templates.of(1).tokens.tolist()
    assert len(seen) == 2
    for page, odds in zip(simplified, seen, strict=False):
        ((_, job),) = made.encoder.read(page)
        for rival in check.rivals:
            with torch.inference_mode():
                logits = model(torch.tensor([[*job.prompt_ids, *begun[: rival.at]]])).logits[0, -1]
            assert odds[rival.name] == pytest.approx(float(logits[rival.token] - logits[rival.set_token]), abs=1e-3)
    made.close()


def test_a_page_that_fails_takes_nothing_with_it(checkpoint: Path, simplified: list[SimplifiedPage]) -> None:
    made = labeler(checkpoint)
    right = mains(made.label_simplified(simplified[:3]))
    model, read = made._decoder._engine, made._decoder._engine._read

    def fail(row: Sequence[Piece]) -> Any:
        model._read = read
        raise MemoryError("no room for this row")

    model._read = fail
    with pytest.raises(PageError, match="MemoryError: no room for this row") as caught:
        made.label_simplified(simplified[:3])
    assert caught.value.code is ErrorCode.LABELER_FAILED
    assert mains(made.label_simplified(simplified[:3])) == right
    made.close()


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 9)), max_size=12), st.integers(1, 40))
def test_rows_hold_each_token_once_in_order(pages: list[tuple[int, int]], tokens: int) -> None:
    pieces = [
        Piece(100 * at, first, np.arange(length), first + np.arange(0, length, 3))
        for at, (length, first) in enumerate(pages)
    ]
    rows = list(cut_rows(pieces, tokens))
    assert all(sum(len(piece.ids) for piece in row) == tokens for row in rows[:-1])
    assert all(len({piece.slot for piece in row}) == len(row) for row in rows)
    parts = [piece for row in rows for piece in row]
    for whole in pieces:
        own = [piece for piece in parts if piece.slot == whole.slot]
        assert [int(token) for piece in own for token in piece.ids] == whole.ids.tolist()
        assert [int(place) for piece in own for place in piece.wanted] == whole.wanted.tolist()
        assert [piece.first for piece in own] == [whole.first + int(piece.ids[0]) for piece in own]


def test_a_device_that_is_not_there(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(MachineError, match=r"labels\.lm\.device=cuda: PyTorch .* sees no GPU here"):
        labeler(checkpoint, device="cuda")


def test_a_context_that_memory_has_no_room_for(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        row_model.RowModel, "make_room", lambda self, *_: setattr(self, "cache", row_model.PageCache(3000))
    )
    with pytest.raises(
        MachineError, match=r"context_tokens=20000: on this cpu there is memory for \d+ tokens: lower it"
    ):
        labeler(checkpoint, context_tokens=20_000)
    made = labeler(checkpoint)
    assert made.encoder.context < 3000
    assert "for which there is memory" in caplog.text
    made.close()


def test_a_model_that_cannot_share_rows_is_refused(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attend = row_model.attend_causally

    def blur(query: Any, key: Any, *rest: Any) -> Any:
        return attend(query, key.roll(1, 2), *rest)

    monkeypatch.setattr(row_model, "attend_causally", blur)
    with pytest.raises(MachineError, match=r"gives other logits where pages share a row\. labels\.lm\.engine=vllm"):
        labeler(checkpoint)


def test_a_checkpoint_that_lacks_weights(checkpoint: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for file in checkpoint.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(checkpoint / "model.safetensors")
    weights.pop("model.layers.1.mlp.up_proj.weight")
    save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(
        MachineError, match=r"lacks 1 weights of Qwen3ForCausalLM, first model\.layers\.1\.mlp\.up_proj"
    ):
        labeler(tmp_path)


@pytest.mark.parametrize("stages", [(), ("label",)])
def test_the_decoders_of_vllm_are_refused_before_a_run(stages: Sequence[str]) -> None:
    settings = LmSettings(model="m", engine="transformers", device="cpu", decoder="fsm")
    with pytest.raises(SettingsError, match=r"labels\.lm\.decoder=fsm is vLLM's: .* labels\.lm\.decoder=parallel"):
        LM.check(settings, Use("dripper", stages))


def test_in_one_pass_on_a_cpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.labels.lm.entry.check_packages", lambda *_: [])
    assert not LM.check(LmSettings(engine="transformers", device="cpu"), Use("dripper"))
    with pytest.raises(SettingsError, match=r"labels\.lm\.engine=transformers with labels\.lm\.device=cpu"):
        LM.check(LmSettings(engine="transformers"), Use("dripper"))


def test_a_missing_package_is_said_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.labels.entry.find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(MachineError, match=r"torch is not installed: pip install '\.\[lm,encoder\]'"):
        LM.check(LmSettings(engine="transformers", device="cpu"), Use("dripper"))


ONE_PASS = """
import sys
import dripper
from support.labelled import pages
settings = {"labels": {"lm": {"model": sys.argv[1], "engine": "transformers", "device": "cpu"}}}
extraction = dripper.extract(sys.stdin.read(), labeler="lm", settings=settings, guard=True)
print(extraction.method, extraction.error_code)
"""


def test_a_guarded_page_in_one_pass(checkpoint: Path) -> None:
    """In a process forked from the one that loaded the model."""
    html = (Path(__file__).parents[2] / "data/labelled").glob("*/html/*.html")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "2"}
    told = subprocess.run(
        [sys.executable, "-c", ONE_PASS, str(checkpoint)],
        input=min(html, key=lambda file: file.stat().st_size).read_text(errors="replace"),
        env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert told.stdout.strip() == "lm None", told.stderr


@pytest.fixture(autouse=True)
def _few_threads() -> Iterator[None]:
    torch: Any = pytest.importorskip("torch", reason="needs PyTorch: make test-vllm installs it")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
