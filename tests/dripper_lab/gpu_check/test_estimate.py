"""The estimates match docs/labeler_lm.md."""

import re
from pathlib import Path

import pytest

from dripper_lab.gpu_check.estimate import GPUS, Load, Shape, encoder_rate, fsm_rate, parallel_rate

DOCUMENT = Path(__file__).parents[3] / "docs" / "labeler_lm.md"
QWEN3 = {
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_hidden_layers": 28,
    "intermediate_size": 3072,
    "vocab_size": 151_936,
}
MEAN = Load(prompt=5_111, answer=666)
"""Of the 300 pages of the document: 199,641 passes of `fsm`."""


def test_a_qwen3_has_its_shape() -> None:
    shape = Shape.of(QWEN3)
    assert shape.layers * shape.weights + shape.vocabulary == pytest.approx(0.596e9, rel=0.01)
    assert shape.cached * 2 == 114_688, "bytes a token"


@pytest.mark.parametrize(("gpu", "fsm", "parallel"), [("L4", 1.6, 0.17), ("A100", 0.28, 0.07)])
def test_seconds_a_page_are_those_of_the_document(gpu: str, fsm: float, parallel: float) -> None:
    text = re.sub(r"\s+", " ", DOCUMENT.read_text(encoding="utf-8"))
    assert "`fsm` then takes 1.6 s per page on an L4 and 0.28 on an A100" in text
    assert "`parallel` with three passes takes 0.17 and 0.07" in text
    shape = Shape.of(QWEN3)
    assert 1 / fsm_rate(shape, GPUS[gpu], MEAN) == pytest.approx(fsm, rel=0.1)
    assert 1 / parallel_rate(shape, GPUS[gpu], MEAN, 3.0) == pytest.approx(parallel, rel=0.2)


def test_more_passes_and_longer_pages_cost_more() -> None:
    shape, gpu = Shape.of(QWEN3), GPUS["L4"]
    assert parallel_rate(shape, gpu, MEAN, 4.0) < parallel_rate(shape, gpu, MEAN, 3.0)
    longer = Load(2 * MEAN.prompt, MEAN.answer)
    assert parallel_rate(shape, gpu, longer) < parallel_rate(shape, gpu, MEAN) / 2
    assert fsm_rate(shape, gpu, longer) < fsm_rate(shape, gpu, MEAN)
    assert encoder_rate(shape, gpu, 5_000) > parallel_rate(shape, gpu, Load(5_000, 700))
