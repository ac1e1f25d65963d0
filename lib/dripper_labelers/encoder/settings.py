"""Declares the settings of the labeler `encoder`, the section `labels.encoder`."""

from typing import Literal

from pydantic import Field

from dripper.labels.entry import ProfileName
from dripper.labels.torch_device import Device
from dripper.settings import Section

GPU_BATCH_TOKENS = 65_536


class EncoderSettings(Section):
    """The labeler `encoder`: a bidirectional language model."""

    device: Device = "auto"
    """auto: a GPU where there is one."""
    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto"
    """Numbers of the arithmetic; auto: bfloat16 on a GPU, float32 on a CPU. int8 is for CPUs."""
    batch_tokens: int | None = Field(default=None, ge=1)
    """Tokens of the chunks that share a forward pass, one after the other without padding. null:
    65,536 on a GPU; on a CPU each chunk goes alone, as it always does with int8."""
    model: str = ""
    """A folder with a checkpoint (config.json, weights as safetensors, tokenizer), or its name on a
    model hub, from where each worker fetches it."""
    profile: ProfileName = "auto"
    """The profile that its blocks have to be of; auto: by the checkpoint, where it is one of
    Pulpie's."""
    engine: Literal["transformers", "vllm"] = "transformers"
    """The engine that runs the model. transformers: PyTorch, any architecture; vllm: its pooling
    runner, which pads nothing, for the architectures that it has (BERT, RoBERTa, XLM-RoBERTa,
    ModernBERT)."""

    def precision_on(self, device: str) -> str:
        """Return what `precision` means on a device, `cpu` or `cuda`."""
        if self.precision != "auto":
            return self.precision
        return "bfloat16" if device == "cuda" else "float32"

    def batch_tokens_on(self, device: str) -> int:
        """Return what `batch_tokens` means on a device; 0: each chunk goes alone."""
        return self.batch_tokens or (GPU_BATCH_TOKENS if device == "cuda" else 0)
