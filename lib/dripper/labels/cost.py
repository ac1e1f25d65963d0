"""Estimates the cost of labelling from a sample before a run, and computes the cost of a language
model after it. Pure functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dripper.settings import DeviceSettings

BYTES_PER_TOKEN = 2.8
"""UTF-8 bytes of simplified HTML per token of Qwen3's tokenizer: 2.72 over all 389 pages of mixed
WARC files, 2.98 for the median page."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Measurements on a few pages of the input."""

    bytes_read: int
    """Archive bytes for `pages` pages, whether these could be split or not."""
    pages: int
    tokens: Sequence[int]
    blocks: Sequence[int]
    """Both: one number for each page to label. Such a page could be split and, in a chain, goes to
    the next labeler."""
    split: int = 0
    """Pages that could be split."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of a whole run."""

    pages: int
    """Pages to label."""
    tokens: int
    """Tokens that the model reads."""
    passes: int
    """Decoder passes."""


@dataclass(frozen=True, slots=True)
class CpuSample:
    """The measured cost of splitting and labelling a few pages of the input here."""

    bytes_read: int
    """Archive bytes for `pages` pages, whether these could be split or not."""
    pages: int
    seconds: Mapping[str, float]
    """CPU seconds of all pages together, by step: `split`, then each labeler's name."""


def estimate_tokens(simplified_html: str) -> int:
    """Return the estimated number of tokens in a text, without a tokenizer.

    >>> estimate_tokens("<p>" * 28)
    30
    """
    return round(len(simplified_html.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def estimate(sample: Sample, total_bytes: int, decoder: str) -> Estimate:
    """Return the estimate for `total_bytes` of archives, scaled from the sample; a sample without
    bytes gives zeros."""
    scale = total_bytes / sample.bytes_read if sample.bytes_read else 0.0
    passes = sum(_estimate_passes(n_blocks, decoder) for n_blocks in sample.blocks)
    return Estimate(round(len(sample.tokens) * scale), round(sum(sample.tokens) * scale), round(passes * scale))


def _estimate_passes(n_blocks: int, decoder: str) -> float:
    """Return the number of forward passes over one page.

    With random weights, pages of 50, 200 and 800 blocks took 4, 5 and 13 passes in parallel. Token
    by token in JSON, they took 342, 1,493 and 6,296: for each block, the digits of its number and 5
    more.
    """
    if decoder == "parallel":
        return 3 + n_blocks / 80
    return sum(len(str(number)) + 5 for number in range(1, n_blocks + 1))


def describe_estimate(
    sample: Sample, estimate: Estimate, devices: Mapping[str, DeviceSettings], decoder: str | None
) -> list[str]:
    """Return the estimate as lines to print.

    Args:
        decoder: None for a labeler without a decoder; its speed has not been measured.
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
    """Return the expected cost of splitting and labelling `total_bytes` of archives, as lines to
    print.

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
    """Return the cost of labelling 1,000 pages, as lines to print; no lines if there are no pages.

    Args:
        engine_seconds: Wall-clock seconds of the stage, times the number of engines.
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
