"""The labeler `encoder` on vLLM's pooling runner, compared with the same checkpoints in PyTorch."""

from pathlib import Path

import numpy as np
import pytest

from dripper.errors import ErrorCode, MachineError, PageError, SettingsError
from dripper.labels import Use
from dripper_labelers.encoder.entry import ENCODER
from dripper_labelers.encoder.labeler import EncoderLabeler
from dripper_labelers.encoder.settings import EncoderSettings
from support.in_company import assert_company_changes_nothing
from support.tiny_encoder import WHY_NOT, make_encoder, rename_weights, simplified

pytest.importorskip("torch", reason=WHY_NOT)
pytestmark = pytest.mark.vllm


def encoder(model: Path, **options: object) -> EncoderLabeler:
    return EncoderLabeler.load(EncoderSettings(model=str(model), device="cpu", **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(("architecture", "form"), [("bert", "outline"), ("modernbert", "html")])
def test_labels_are_those_of_pytorch(architecture: str, form: str, tmp_path: Path) -> None:
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    # vLLM's kernels for CPUs need heads of 32 or more.
    model = make_encoder(tmp_path / architecture, architecture, form, hidden_size=64)
    some = simplified()[:5]
    expected = encoder(model).label_simplified(some)
    pooling = encoder(model, engine="vllm")
    try:
        assert pooling.version != encoder(model).version
        for labels, known in zip(pooling.label_simplified(some), expected, strict=True):
            np.testing.assert_allclose(labels.probability, known.probability, atol=1e-4)
            assert (labels.main == known.main)[np.abs(known.probability - 0.5) > 1e-3].all()
            assert labels.windows == known.windows
        assert_company_changes_nothing(pooling, some)
    finally:
        pooling.close()


def test_an_architecture_that_vllm_lacks_is_refused_before_it_starts(tmp_path: Path) -> None:
    model = make_encoder(tmp_path / "eurobert", "eurobert")
    with pytest.raises(MachineError, match=r"is EuroBertForTokenClassification: .*engine=transformers"):
        encoder(model, engine="vllm")


def test_weights_that_are_missing_are_told(tmp_path: Path) -> None:
    pytest.importorskip("vllm", reason="needs vLLM: make test-vllm installs it")
    whole = make_encoder(tmp_path / "whole", hidden_size=64)
    other = rename_weights(
        whole, tmp_path / "other", {"classifier.weight": "score.weight", "classifier.bias": "score.bias"}
    )
    with pytest.raises(MachineError, match=r"vLLM .* cannot start .*engine=transformers"):
        encoder(other, engine="vllm")


class Failing:
    """A fake network with failing passes."""

    precision, batch_tokens = "float32", 0

    def margins(self, chunks: object) -> list[np.ndarray]:
        raise RuntimeError("out of memory")

    def close(self) -> None:
        pass


def test_a_pass_that_fails_fails_the_page(tmp_path: Path) -> None:
    made = make_encoder(tmp_path / "bert")
    labeler = encoder(made)
    labeler._network = Failing()
    with pytest.raises(PageError, match="out of memory") as raised:
        labeler.label_simplified(simplified()[:1])
    assert raised.value.code == ErrorCode.LABELER_FAILED


def test_where_it_cannot_run_is_told_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    stage = Use(profile="mineru-1.1", stages=("preprocess", "label", "extract"))
    vllm = EncoderSettings(model=str(tmp_path), engine="vllm")
    assert list(ENCODER.check(vllm, stage)) == []
    with pytest.raises(SettingsError, match="stage of its own"):
        ENCODER.check(vllm, Use(profile="mineru-1.1"))
    with pytest.raises(SettingsError, match="int8"):
        ENCODER.check(vllm.model_copy(update={"precision": "int8"}), stage)
