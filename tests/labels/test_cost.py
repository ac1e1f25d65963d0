"""Estimates and actual figures: arithmetic that a reader can check by hand."""

from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.cost import Sample, describe_actual, describe_estimate, estimate, estimate_tokens
from dripper.settings import CostSettings

SAMPLE = Sample(bytes_read=1000, pages=3, tokens=[100, 300], blocks=[80, 160])
DEVICES = CostSettings().devices


def test_a_sample_is_scaled_by_bytes() -> None:
    whole = estimate(SAMPLE, 500_000, "parallel")
    assert (whole.pages, whole.tokens, whole.passes) == (1000, 200_000, 4500)
    assert estimate(Sample(1000, 1, [10], [2]), 1000, "fsm").passes == 12


def test_the_measured_passes_are_met() -> None:
    for blocks, parallel, tokens in ((50, 4, 342), (200, 5, 1493), (800, 13, 6296)):
        one = Sample(1, 1, [1], [blocks])
        assert abs(estimate(one, 1, "parallel").passes - parallel) <= 1
        assert abs(estimate(one, 1, "fsm").passes - tokens) <= 5


def test_the_estimate_in_words() -> None:
    words = "\n".join(describe_estimate(SAMPLE, estimate(SAMPLE, 500_000, "parallel"), DEVICES, "parallel"))
    assert "from a sample of 3 pages, 200 tokens each" in words
    assert "about 1,000 to label, 0.2 M tokens" in words
    assert "about 4,500 (decoder parallel)" in words
    # 1000 pages at 0.68 a second are 0.408 hours.
    assert "L4      0.41 GPU hours at 0.68 pages/s, $0.16 at $0.39/h" in words
    assert "A100    0.08 GPU hours at 3.6 pages/s, $0.21 at $2.72/h" in words


def test_a_labeler_that_decodes_nothing_is_not_said_to() -> None:
    words = "\n".join(describe_estimate(SAMPLE, estimate(SAMPLE, 500_000, "parallel"), DEVICES, None))
    assert "decoder" not in words
    assert "below are those of cost.devices, by default the labeler lm's" in words
    assert "L4      0.41 GPU hours at 0.68 pages/s" in words


def test_a_sample_without_pages_gives_no_number() -> None:
    empty = Sample(0, 0, [], [])
    assert describe_estimate(empty, estimate(empty, 10, "parallel"), DEVICES, "parallel") == [
        "cost      no estimate: the sample has no page with text"
    ]


def test_actual_figures_are_per_thousand_pages() -> None:
    words = describe_actual(500, 1_000_000, 2000, 1800.0, DEVICES)
    assert words == [
        "  1,000 pages took 2,000,000 tokens, 4,000 passes, 3,600.0 engine seconds; at the rent of a GPU: "
        "$0.3900 on L4, $2.7200 on A100"
    ]
    assert describe_actual(0, 0, 0, 0.0, DEVICES) == []


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_has_an_estimate(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= len(text.encode("utf-8", "surrogatepass"))
