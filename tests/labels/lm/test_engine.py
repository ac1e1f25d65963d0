"""Starting vLLM: its arguments, and the message if it does not start. vLLM itself is a fake
here."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dripper.errors import MachineError
from dripper.labels.lm import engine
from dripper.labels.lm.engine import (
    AS_FITS,
    DEFAULTS,
    call_engine,
    prepare_environment,
    require,
    start_engine,
    stop_engine,
    summarize,
    weights,
)
from dripper.labels.lm.entry import ENVIRONMENT
from dripper.labels.lm.settings import LmSettings, import_extra


class Platform(SimpleNamespace):
    def is_cpu(self) -> bool:
        return True


@pytest.fixture
def encoder(tmp_path: Path) -> Any:
    checkpoint = SimpleNamespace(name="tiny", version="tiny@0", folder=tmp_path, context=4096)
    made = SimpleNamespace(checkpoint=checkpoint, context=1234)
    made.limit_context = lambda tokens: setattr(made, "context", min(made.context, tokens))
    return made


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Fake modules of vLLM; keeps the arguments of `LLM`."""
    made = SimpleNamespace(current_platform=Platform(), given=None, fails=None)

    def start(**options: object) -> object:
        if made.fails:
            raise made.fails
        made.given = options
        return made

    model = SimpleNamespace(max_model_len=4096)
    made.llm_engine = SimpleNamespace(vllm_config=SimpleNamespace(model_config=model))
    made.LLM = start
    monkeypatch.setattr(engine, "import_extra", lambda _: made)
    for name in (*ENVIRONMENT, *DEFAULTS, "VLLM_CPU_KVCACHE_SPACE"):
        monkeypatch.setenv(name, "before")
        monkeypatch.delenv(name)
    return made


def test_the_engine_runs_in_this_process_and_sends_nothing_home(fake: SimpleNamespace) -> None:
    prepare_environment(3)
    assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    assert os.environ["VLLM_NO_USAGE_STATS"] == "1"
    assert os.environ["VLLM_CPU_KVCACHE_SPACE"] == "3"


def test_what_a_user_set_stays_but_for_the_process(fake: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    prepare_environment(4)
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"


def test_options_come_from_settings_and_a_decoders_own_win(fake: SimpleNamespace, encoder: Any, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    settings = LmSettings.model_validate({"model": str(tmp_path), "dtype": "float32", "gpu_memory_share": 0.5})
    start_engine(encoder, settings, runner="pooling", enforce_eager=False)
    given = fake.given
    assert (given["model"], given["dtype"], given["max_model_len"]) == (str(tmp_path), "float32", 1234)
    assert (given["gpu_memory_utilization"], given["runner"], given["enforce_eager"]) == (0.5, "pooling", False)
    assert "trust_remote_code" not in given


def test_a_context_that_nobody_asked_for_is_what_the_memory_holds(
    fake: SimpleNamespace, encoder: Any, caplog: pytest.LogCaptureFixture
) -> None:
    encoder.context = 4096
    fake.llm_engine.vllm_config.model_config.max_model_len = 900
    start_engine(encoder, LmSettings.model_validate({"model": "m"}))
    assert (fake.given["max_model_len"], encoder.context) == (AS_FITS, 900)
    assert "windows of 900 tokens, for which there is memory" in caplog.text
    start_engine(encoder, LmSettings.model_validate({"model": "m", "context_tokens": 4096}))
    assert fake.given["max_model_len"] == 900, "who asks gets that, or the reason why not"


@pytest.mark.parametrize(("decoder", "other"), [("parallel", "fsm"), ("fsm", "parallel")])
def test_an_engine_that_does_not_start_says_why_and_what_else_there_is(
    fake: SimpleNamespace, encoder: Any, decoder: str, other: str
) -> None:
    fake.fails = TypeError("unexpected keyword 'convert'\nlong trace")
    with pytest.raises(MachineError) as caught:
        start_engine(encoder, LmSettings.model_validate({"model": "m", "decoder": decoder}))
    told = str(caught.value)
    assert f"cannot start tiny with decoder {decoder}: TypeError: unexpected keyword 'convert'. " in told
    assert f"labels.lm.decoder={other}" in told
    assert "long trace" not in told


@pytest.mark.parametrize("name", ["PoolingParams.skip_reading_prefix_cache", "Nothing"])
def test_an_engine_that_lacks_something_names_it_and_another_decoder(fake: SimpleNamespace, name: str) -> None:
    fake.PoolingParams = SimpleNamespace()
    with pytest.raises(MachineError) as caught:
        require(LmSettings.model_validate({"decoder": "parallel"}), "vllm.params", name)
    assert f"has no vllm.params.{name}, which labels.lm.decoder=parallel needs" in str(caught.value)
    assert "labels.lm.decoder=fsm" in str(caught.value)
    fake.PoolingParams.skip_reading_prefix_cache = None
    assert require(LmSettings(), "vllm.params", "PoolingParams.skip_reading_prefix_cache") is None


def test_weights_are_the_folders_or_the_hubs(encoder: Any, tmp_path: Path) -> None:
    settings = LmSettings.model_validate({"model": "owner/name"})
    assert weights(encoder, settings) == "owner/name"
    (tmp_path / "model-00001.safetensors").write_bytes(b"")
    assert weights(encoder, settings) == str(tmp_path)


@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("vllm.no_such_module", "pip install '\\.\\[gpu\\]' .*labels.lm.endpoint"),
        ("transformers_no_such", "pip install '\\.\\[lm\\]'"),
    ],
)
def test_a_package_that_is_missing_says_how_to_install_it(package: str, words: str) -> None:
    with pytest.raises(MachineError, match=words):
        import_extra(package)


def test_engines_are_stopped_where_they_can_be() -> None:
    stopped: list[bool] = []
    core = SimpleNamespace(shutdown=lambda: stopped.append(True))
    stop_engine(SimpleNamespace(llm_engine=SimpleNamespace(engine_core=core)))
    stop_engine(SimpleNamespace(llm_engine=SimpleNamespace()))
    assert stopped == [True]


@pytest.mark.parametrize(("error", "line"), [(ValueError("a\nb"), "ValueError: a"), (KeyError(), "KeyError")])
def test_an_error_in_one_line(error: Exception, line: str) -> None:
    assert summarize(error) == line


class Broken:
    """An engine that fails; `mends` is whether it forgets its requests."""

    def __init__(self, mends: bool) -> None:
        self.requests = {"1-a": None, "2-b": None}
        self.cached = True
        self.mends = mends
        self.llm_engine = self
        self.output_processor = SimpleNamespace(request_states=self.requests)

    def abort_request(self, requests: list[str], internal: bool) -> None:
        assert internal
        for request in requests if self.mends else ():
            del self.requests[request]

    def has_unfinished_requests(self) -> bool:
        return bool(self.requests)

    def reset_prefix_cache(self) -> bool:
        self.cached = False
        return True


def fail() -> list[object]:
    raise ValueError("too long")


def test_a_failed_step_leaves_nothing_in_the_engine() -> None:
    broken = Broken(mends=True)
    with pytest.raises(ValueError, match="too long"):
        call_engine(broken, fail)
    assert not broken.requests
    assert not broken.cached
    assert call_engine(broken, lambda: [1]) == [1]


@pytest.mark.parametrize("broken", [Broken(mends=False), SimpleNamespace()], ids=["does not forget", "has gone"])
def test_an_engine_beyond_repair_ends_the_work(broken: object) -> None:
    with pytest.raises(MachineError, match="engine stopped working: ValueError: too long"):
        call_engine(broken, fail)
