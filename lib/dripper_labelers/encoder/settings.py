"""Defines the settings in the `labels.encoder` section."""

from typing import Literal

from dripper.labels.torch_device import Device
from dripper.settings import Section

BATCH_TOKENS = {"cuda": 65_536, "cpu": 0}
"""The maximum number of tokens in a forward pass, keyed by device. Chunks that share a pass are
joined without padding. On a CPU, each chunk has its own pass, so that labels do not depend on other
chunks."""


class EncoderSettings(Section):
    """Settings for the `encoder` labeler, a bidirectional language model."""

    device: Device = "auto"
    """auto: a GPU if there is one."""
    precision: Literal["auto", "float32", "bfloat16", "int8"] = "auto"
    """The data type of calculations. auto: bfloat16 on a GPU, float32 on a CPU. int8 is available
    only on CPUs."""
    model: str = ""
    """A folder with a checkpoint (config.json, safetensors weights, tokenizer), or the checkpoint's
    name on a model hub. Each worker downloads a checkpoint from the hub."""
    engine: Literal["transformers", "vllm"] = "transformers"
    """The engine that runs the model. transformers: PyTorch, for any architecture. vllm: vLLM's
    pooling runner, without padding, for BERT, RoBERTa, XLM-RoBERTa and ModernBERT."""

    def precision_on(self, device: str) -> str:
        """Return the precision for a device (`cpu`, `cuda`), with `auto` resolved."""
        if self.precision != "auto":
            return self.precision
        return "bfloat16" if device == "cuda" else "float32"
