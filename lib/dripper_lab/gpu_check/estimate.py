"""Estimates the pages per second of a checkpoint on a GPU from its data sheet, as in
docs/labeler_lm.md, for comparison with measurements."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SUSTAINED = 0.5
"""The fraction of a data sheet's dense half-precision TFLOPS that a prefill achieves."""
MEMORY_SHARE = 0.9
BYTES = 2
"""The size of a weight, key or value in bytes (bfloat16)."""
PASSES = 3.0
"""The assumed number of passes of `parallel` if none were counted."""
MOST_IN_FLIGHT = 256


@dataclass(frozen=True, slots=True)
class Gpu:
    """The data sheet and rental price of a GPU."""

    tflops: float
    """TFLOPS for dense bfloat16 operations."""
    gigabytes_per_second: float
    gigabytes: float
    dollars_per_hour: float
    """A price offered in 2026. --dollars-per-hour overrides it."""


GPUS: Mapping[str, Gpu] = {
    "L4": Gpu(121, 300, 24, 0.39),
    "A10G": Gpu(70, 600, 24, 1.01),
    "A100": Gpu(312, 2_000, 40, 2.72),
    "H100": Gpu(989, 3_350, 80, 3.90),
    "H200": Gpu(989, 4_800, 141, 3.90),
}


def find_gpu(name: str) -> str | None:
    """Return the name in GPUS that occurs in a device's name, or None.

    >>> find_gpu("NVIDIA A100-SXM4-40GB"), find_gpu("NVIDIA L4"), find_gpu("NVIDIA L40S")
    ('A100', 'L4', None)
    """
    words = name.replace("-", " ").split()
    return next((gpu for gpu in GPUS if gpu in words), None)


@dataclass(frozen=True, slots=True)
class Shape:
    """The dimensions of a transformer that determine its cost per token."""

    layers: int
    query: int
    """The total width of the queries of all heads."""
    weights: int
    """The number of weights per layer that are multiplied with each token."""
    cached: int
    """The number of values cached per token: keys and values of all layers."""
    vocabulary: int
    """The number of weights in the output matrix."""

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Shape":
        """Read the dimensions from a config.json."""
        width, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
        head = int(config.get("head_dim") or width // heads)
        key_width = int(config.get("num_key_value_heads") or heads) * head
        query, layers = heads * head, int(config["num_hidden_layers"])
        weights = width * (query + 2 * key_width) + query * width + 3 * width * int(config["intermediate_size"])
        return cls(layers, query, weights, 2 * layers * key_width, width * int(config["vocab_size"]))

    def flops(self, tokens: float, before: float = 0.0, *, both_ways: bool = False) -> float:
        """Return the operations of a forward pass over tokens of one page.

        Args:
            before: The number of tokens with cached keys and values.
            both_ways: Whether every token attends to all others, as in an encoder.
        """
        context = tokens if both_ways else before + tokens / 2
        return self.layers * (2 * self.weights * tokens + 4 * self.query * tokens * context)


@dataclass(frozen=True, slots=True)
class Load:
    """The mean number of tokens per page: in the prompt, and in the answer up to its last label."""

    prompt: float
    answer: float


def parallel_rate(shape: Shape, gpu: Gpu, load: Load, passes: float = PASSES) -> float:
    """Return the pages per second of the decoder `parallel`. The first pass covers the prompt and
    the answer, later passes only the answer."""
    first = shape.flops(load.prompt + load.answer)
    later = shape.flops(load.answer, load.prompt)
    return gpu.tflops * 1e12 * SUSTAINED / (first + (passes - 1) * later)


def fsm_rate(shape: Shape, gpu: Gpu, load: Load) -> float:
    """Return the pages per second of the decoder `fsm`. Each token of an answer reads the keys and
    values of its page; the weights are read once for all pages in flight."""
    page = (load.prompt + load.answer) * shape.cached * BYTES
    weights = (shape.layers * shape.weights + shape.vocabulary) * BYTES
    in_flight = min(MOST_IN_FLIGHT, max(1.0, (gpu.gigabytes * 1e9 * MEMORY_SHARE - weights) / page))
    step = (page + weights / in_flight) / (gpu.gigabytes_per_second * 1e9)
    return 1 / (load.answer * step + shape.flops(load.prompt) / (gpu.tflops * 1e12 * SUSTAINED))


def encoder_rate(shape: Shape, gpu: Gpu, tokens: float) -> float:
    """Return the pages per second of the `encoder` labeler: one pass, without padding.

    Args:
        tokens: The mean number of tokens per page.
    """
    return gpu.tflops * 1e12 * SUSTAINED / shape.flops(tokens, both_ways=True)


def dollars_per_million(rate: float, dollars_per_hour: float) -> float:
    """Return the cost of a million pages.

    >>> round(dollars_per_million(4.0, 0.39), 2)
    27.08
    """
    return 1e6 / rate / 3600 * dollars_per_hour
