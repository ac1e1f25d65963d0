"""Estimates the cost of labelling from a sample before a run, and computes a language model's
actual cost after the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dripper.settings import DeviceSettings

BYTES_PER_TOKEN = 2.8
"""UTF-8 bytes of simplified HTML per token of Qwen3's tokenizer. On 389 pages from mixed WARC
files, the ratio over all text is 2.72, and the median of the pages' ratios is 2.98."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Measurements on a few pages of the input."""

    bytes_read: int
    """Bytes of the archives that were read, including pages that could not be split into blocks."""
    pages: int
    tokens: Sequence[int]
    blocks: Sequence[int]
    """`tokens` and `blocks` have one number per page that the labeler would label. In a chain,
    these are the pages that the first labelers pass on."""
    split: int = 0
    """Number of pages that could be split into blocks."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate for a whole run."""

    pages: int
    """Number of pages to label."""
    tokens: int
    """Number of tokens that the model reads."""
    passes: int
    """Number of decoder passes."""


@dataclass(frozen=True, slots=True)
class CpuSample:
    """The measured cost of splitting and labelling a few pages on this machine."""

    bytes_read: int
    """Bytes of the archives that were read, including pages that could not be split into blocks."""
    pages: int
    seconds: Mapping[str, float]
    """Total CPU seconds of each step. The steps are `split` and the names of the labelers."""


def estimate_tokens(simplified_html: str) -> int:
    """Estimate the number of tokens in text without a tokenizer.

    >>> estimate_tokens("<p>" * 28)
    30
    """
    return round(len(simplified_html.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def estimate(sample: Sample, total_bytes: int, decoder: str) -> Estimate:
    """Scale a sample to `total_bytes` of archives. If the sample has no bytes, the estimate is
    0."""
    scale = total_bytes / sample.bytes_read if sample.bytes_read else 0.0
    passes = sum(_estimate_passes(n_blocks, decoder) for n_blocks in sample.blocks)
    return Estimate(round(len(sample.tokens) * scale), round(sum(sample.tokens) * scale), round(passes * scale))


def _estimate_passes(n_blocks: int, decoder: str) -> float:
    """Estimate the number of forward passes over one page.

    With random weights, the parallel decoder took 4, 5 and 13 passes over pages with 50, 200 and
    800 blocks. Decoding JSON token by token took 342, 1493 and 6296 passes: 5 per block, plus 1 per
    digit of the block's number.
    """
    if decoder == "parallel":
        return 3 + n_blocks / 80
    return sum(len(str(number)) + 5 for number in range(1, n_blocks + 1))


def describe_estimate(
    sample: Sample, estimate: Estimate, devices: Mapping[str, DeviceSettings], decoder: str | None
) -> list[str]:
    """Format an estimate as lines to print.

    Args:
        decoder: The name of the decoder, or None for a labeler without a decoder. The speed of such
            labelers has not been measured.
    """
    if not sample.tokens:
        return ["cost      no estimate: the sample has no page with text"]
    mean = sum(sample.tokens) / len(sample.tokens)
    lines = [
        f"cost      from a sample of {sample.pages} pages, {mean:,.0f} tokens each",
        f"  pages   about {estimate.pages:,} to label, {estimate.tokens / 1e6:,.1f} M tokens",
        f"  passes  about {estimate.passes:,} (decoder {decoder})"
        if decoder is not None
        else "  speeds  below are those of cost.devices, by default the labeler lm's: set them to what this labeler does",
    ]
    return lines + [_describe_device(name, device, estimate.pages) for name, device in devices.items()]


def _describe_device(name: str, device: DeviceSettings, pages: int) -> str:
    hours = pages / device.pages_per_second / 3600
    return (
        f"  {name:<7} {hours:,.2f} GPU hours at {device.pages_per_second:g} pages/s, "
        f"${hours * device.dollars_per_hour:,.2f} at ${device.dollars_per_hour:g}/h"
    )


def describe_cpu(sample: CpuSample, total_bytes: int) -> list[str]:
    """Estimate the cost of splitting and labelling `total_bytes` of archives, as lines to print.

    >>> sample = CpuSample(1000, 10, {"split": 0.01, "cpu": 0.05})
    >>> describe_cpu(sample, 1000 * 360_000)[2]  # doctest: +NORMALIZE_WHITESPACE
    '  whole   about 3,600,000 pages, 6.0 CPU hours to split and label; reading and writing come on
    top'
    """
    if not sample.seconds:
        return ["cost      no estimate: the sample has no page with text"]
    each = {step: 1000 * seconds / sample.pages for step, seconds in sample.seconds.items()}
    pages = sample.pages * total_bytes / sample.bytes_read
    hours = pages * sum(each.values()) / 1000 / 3600
    return [
        f"cost      from a sample of {sample.pages} pages on this machine, {sum(each.values()):.1f} ms of CPU a page",
        f"  steps   {', '.join(f'{step} {ms:.1f} ms' for step, ms in each.items())}",
        f"  whole   about {pages:,.0f} pages, {hours:,.1f} CPU hours to split and label; reading and writing come on top",
    ]


def describe_actual(
    pages: int, tokens: int, passes: int, engine_seconds: float, devices: Mapping[str, DeviceSettings]
) -> list[str]:
    """Return the cost of labelling 1,000 pages, as lines to print. If there are no pages, return no
    lines.

    Args:
        engine_seconds: Wall-clock seconds of the stage times the number of engines.
    """
    if not pages:
        return []
    per = 1000 / pages
    hours = engine_seconds / 3600 * per
    prices = ", ".join(f"${hours * device.dollars_per_hour:,.4f} on {name}" for name, device in devices.items())
    return [
        f"  1,000 pages took {tokens * per:,.0f} tokens, {passes * per:,.0f} passes, {engine_seconds * per:,.1f} engine seconds; "
        f"at the rent of a GPU: {prices}"
    ]
