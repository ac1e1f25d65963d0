"""Estimates pages a second of a checkpoint on a GPU from data sheets, as in docs/labeler_lm.md, for
comparison with measurements."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SUSTAINED = 0.5
"""Share of a data sheet's dense half-precision TFLOPS that a prefill reaches."""
MEMORY_SHARE = 0.9
BYTES = 2
"""Bytes of a weight, a key or a value: bfloat16."""
PASSES = 3.0
"""Passes of `parallel` if none were counted."""
MOST_IN_FLIGHT = 256


@dataclass(frozen=True, slots=True)
class Gpu:
    """A data sheet, and a rent."""

    tflops: float
    """Dense, bfloat16."""
    gigabytes_per_second: float
    gigabytes: float
    dollars_per_hour: float
    """A price offered in 2026; --dollars-per-hour overrides it."""


GPUS: Mapping[str, Gpu] = {
    "L4": Gpu(121, 300, 24, 0.39),
    "A10G": Gpu(70, 600, 24, 1.01),
    "A100": Gpu(312, 2_000, 40, 2.72),
    "H100": Gpu(989, 3_350, 80, 3.90),
    "H200": Gpu(989, 4_800, 141, 3.90),
}


def find_gpu(name: str) -> str | None:
    """Return the name in GPUS that a device's own name has.

    >>> find_gpu("NVIDIA A100-SXM4-40GB"), find_gpu("NVIDIA L4"), find_gpu("NVIDIA L40S")
    ('A100', 'L4', None)
    """
    words = name.replace("-", " ").split()
    return next((gpu for gpu in GPUS if gpu in words), None)


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a transformer, which determines the cost of a token."""

    layers: int
    query: int
    """Width of all heads' queries."""
    weights: int
    """Weights of a layer, which a token is multiplied with."""
    cached: int
    """Numbers that are kept of a token: keys and values of all layers."""
    vocabulary: int
    """Weights of the output matrix."""

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Shape":
        """Return the shape in a config.json."""
        width, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
        head = int(config.get("head_dim") or width // heads)
        key_width = int(config.get("num_key_value_heads") or heads) * head
        query, layers = heads * head, int(config["num_hidden_layers"])
        weights = width * (query + 2 * key_width) + query * width + 3 * width * int(config["intermediate_size"])
        return cls(layers, query, weights, 2 * layers * key_width, width * int(config["vocab_size"]))

    def flops(self, tokens: float, before: float = 0.0, *, both_ways: bool = False) -> float:
        """Return the operations of a pass over tokens of one page.

        Args:
            before: Tokens with cached keys and values.
            both_ways: Every token sees all others, as in an encoder.
        """
        context = tokens if both_ways else before + tokens / 2
        return self.layers * (2 * self.weights * tokens + 4 * self.query * tokens * context)


@dataclass(frozen=True, slots=True)
class Load:
    """The mean page: tokens of a prompt, and of the answer up to its last label."""

    prompt: float
    answer: float


def parallel_rate(shape: Shape, gpu: Gpu, load: Load, passes: float = PASSES) -> float:
    """Return pages a second of the decoder `parallel`: a first pass over all, later ones over the
    answer."""
    first = shape.flops(load.prompt + load.answer)
    later = shape.flops(load.answer, load.prompt)
    return gpu.tflops * 1e12 * SUSTAINED / (first + (passes - 1) * later)


def fsm_rate(shape: Shape, gpu: Gpu, load: Load) -> float:
    """Return pages a second of the decoder `fsm`: each token of an answer reads the keys and values
    of its page, and the weights once for all pages in flight."""
    page = (load.prompt + load.answer) * shape.cached * BYTES
    weights = (shape.layers * shape.weights + shape.vocabulary) * BYTES
    in_flight = min(MOST_IN_FLIGHT, max(1.0, (gpu.gigabytes * 1e9 * MEMORY_SHARE - weights) / page))
    step = (page + weights / in_flight) / (gpu.gigabytes_per_second * 1e9)
    return 1 / (load.answer * step + shape.flops(load.prompt) / (gpu.tflops * 1e12 * SUSTAINED))


def encoder_rate(shape: Shape, gpu: Gpu, tokens: float) -> float:
    """Return pages a second of the labeler `encoder`: one pass, without padding.

    Args:
        tokens: Of the mean page.
    """
    return gpu.tflops * 1e12 * SUSTAINED / shape.flops(tokens, both_ways=True)


def dollars_per_million(rate: float, dollars_per_hour: float) -> float:
    """Return the cost of a million pages.

    >>> round(dollars_per_million(4.0, 0.39), 2)
    27.08
    """
    return 1e6 / rate / 3600 * dollars_per_hour
