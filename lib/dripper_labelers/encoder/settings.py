"""Declares the settings of the labeler `encoder`, the section `labels.encoder`."""

from typing import Literal

from dripper.labels.torch_device import Device
from dripper.settings import Section

BATCH_TOKENS = {"cuda": 65_536, "cpu": 0}
"""Tokens of the chunks that share a forward pass, by device, one after the other without padding;
on a CPU each chunk goes alone, so that labels do not depend on company."""


class EncoderSettings(Section):
    """The labeler `encoder`: a bidirectional language model."""

    device: Device = "auto"
    """auto: a GPU if there is one."""
    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto"
    """Type of the arithmetic; auto: bfloat16 on a GPU, float32 on a CPU. int8 is for CPUs."""
    model: str = ""
    """A folder with a checkpoint (config.json, weights as safetensors, tokenizer), or its name on a
    model hub, from which each worker fetches it."""
    engine: Literal["transformers", "vllm"] = "transformers"
    """The engine that runs the model. transformers: PyTorch, any architecture; vllm: its pooling
    runner, which pads nothing, for the architectures that it has (BERT, RoBERTa, XLM-RoBERTa,
    ModernBERT)."""

    def precision_on(self, device: str) -> str:
        """Return the meaning of `precision` on a device, `cpu` or `cuda`."""
        if self.precision != "auto":
            return self.precision
        return "bfloat16" if device == "cuda" else "float32"
