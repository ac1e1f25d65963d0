"""From a page to tokens, with the real tokenizer and without weights."""

import logging
from pathlib import Path

import pytest

from dripper.errors import MachineError, SettingsError
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.prompt import PUBLIC
from dripper.labels.lm.settings import LmSettings
from support.tiny_lm import HUNYUAN, copy_tokenizer, make_config, tokenizer_folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint without weights: all that a CPU machine needs."""
    tokenizer_folder()
    folder = tmp_path_factory.mktemp("encoder") / "some-model"
    folder.mkdir()
    make_config(folder)
    copy_tokenizer(folder)
    return folder


def encoder(model: Path, **options: object) -> PageEncoder:
    return PageEncoder.load(LmSettings.model_validate({"model": str(model), **options}))


@pytest.mark.parametrize("context", [900, 1500, 4000, 32768])
@pytest.mark.parametrize("answer", ["json", "compact", "tagged"])
def test_prompt_and_answer_always_fit_the_context(
    model: Path, simplified: list[SimplifiedPage], context: int, answer: str
) -> None:
    made = encoder(model, context_tokens=context, answer=answer)
    cut = 0
    for page in simplified:
        windows = made.windows(page)
        cut += len(windows) > 1
        assert (windows[0].start, windows[-1].end) == (0, page.n_blocks)
        for window in windows:
            job = made.job(window)
            assert job.n_blocks == window.end - window.start
            assert len(job.prompt_ids) + len(made.templates.of(job.n_blocks).tokens) < context
    assert (cut > 0) == (context < 5000)


def test_the_context_is_the_models_where_it_is_shorter(model: Path) -> None:
    assert encoder(model, context_tokens=100_000).context == 40_960
    assert encoder(model).context == 32_768


def test_pages_are_cut_as_the_authors_of_a_checkpoint_run_it(tmp_path: Path) -> None:
    """MinerU-HTML v1.1, a Hunyuan, reads 262,144 tokens at once; v1.0 has the paper's 32,768."""
    for version, changes, context in (("v1.1-hunyuan", HUNYUAN, 262_144), ("v1.0", {}, 32_768)):
        folder = tmp_path / f"MinerU-HTML-{version}"
        folder.mkdir()
        make_config(folder, **changes)
        copy_tokenizer(folder)
        made = encoder(folder, prompt="own")
        assert made.context == context
        made.limit_context(5000)
        assert made.context == 5000
        with pytest.raises(SettingsError, match="the prompt takes"):
            made.limit_context(50)


def test_a_context_without_room_for_the_prompt_is_named(model: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"the prompt takes \d+ tokens, .* must fit 200: raise labels\.lm\.context_tokens"
    ):
        encoder(model, context_tokens=200)


def test_a_page_without_blocks_asks_nothing(model: Path) -> None:
    assert encoder(model).windows(SimplifiedPage("<html><body></body></html>", 0)) == []


def test_tokens_are_counted_as_the_model_reads_them(model: Path, simplified: list[SimplifiedPage]) -> None:
    made = encoder(model)
    page = simplified[0]
    (window,) = made.windows(page)
    frame = len(made.job(window).prompt_ids) - made.count_tokens(page.simplified_html)
    assert abs(frame - len(made.tokenizer.prompt_ids(made.prompt.text("")))) <= 2
    assert made.count_tokens("") == 0


def test_versions_name_all_that_can_change_a_label(model: Path) -> None:
    seen = {encoder(model).version, encoder(model, answer="compact").version}
    name, prompt, answer = encoder(model).version.split("/")
    assert name.startswith("some-model@")
    assert prompt.startswith("own:")
    assert answer == "json"
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("name", "architecture", "prompt", "answer", "chat"),
    [
        ("MinerU-HTML-v1.1-hunyuan0.5B-compact", "HunYuanDenseV1ForCausalLM", "short_compact", "tagged", "twice"),
        ("MinerU-HTML", "Qwen3ForCausalLM", "v0", "json", "none"),
        ("another", "Qwen3ForCausalLM", "own", "json", "once"),
    ],
)
def test_what_a_checkpoint_was_trained_on_is_chosen(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    architecture: str,
    prompt: str,
    answer: str,
    chat: str,
) -> None:
    asked: list[tuple[str, str]] = []

    def find(prompt_name: str, form: str, _folder: Path) -> object:
        from dripper.labels.lm.prompt import own_prompt

        asked.append((prompt_name, form))
        return own_prompt(form)

    monkeypatch.setattr("dripper.labels.lm.encoder.find_prompt", find)
    folder = tmp_path / name
    folder.mkdir()
    copy_tokenizer(folder)
    make_config(folder)
    monkeypatch.setattr("dripper.labels.lm.checkpoint.read_config", lambda _: config)
    config = {"architectures": [architecture], "max_position_embeddings": 40_960}
    with caplog.at_level(logging.INFO, logger="dripper.labels.lm.encoder"):
        encoder(folder)
    assert asked == [(prompt, answer)]
    assert f"answer {answer}, chat template {chat}" in caplog.text


def test_a_public_prompt_brings_its_answer_form(model: Path, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="dripper prompts fetch"):
        encoder(model, prompt="short_compact", prompt_folder=str(tmp_path))
    assert PUBLIC["short_compact"].answer == "compact"


def test_a_checkpoint_that_is_not_known_is_said_to_get_our_prompt(
    model: Path, caplog: pytest.LogCaptureFixture
) -> None:
    encoder(model)
    assert "some-model is not known by name as a public Dripper model" in caplog.text
    caplog.clear()
    encoder(model, prompt="own")
    assert "our own prompt" not in caplog.text
