"""The labeler `encoder` on tiny random models of three architectures."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from dripper.errors import MachineError, PageError, SettingsError
from dripper.labels import SimplifiedPage, load
from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
from dripper_labelers.encoder.entry import ENCODER
from dripper_labelers.encoder.labeler import EncoderLabeler
from dripper_labelers.encoder.network import EncoderNetwork
from dripper_labelers.encoder.reading import Reading
from dripper_labelers.encoder.settings import BATCH_TOKENS, EncoderSettings
from support.in_company import assert_company_changes_nothing, equal
from support.labelled import pages
from support.tiny_encoder import CONTEXT, WHY_NOT, make_encoder, make_model, make_tokenizer, rename_weights, simplified

torch = pytest.importorskip("torch", reason=WHY_NOT)
pytest.importorskip("transformers", reason=WHY_NOT)
ARCHITECTURES = [("bert", "outline"), ("modernbert", "html"), ("eurobert", "html")]


@pytest.fixture(scope="module", params=ARCHITECTURES, ids=lambda param: param[0])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    architecture, form = request.param
    return make_encoder(tmp_path_factory.mktemp("encoder") / architecture, architecture, form)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("bert") / "bert")


def encoder(model: Path, **options: object) -> EncoderLabeler:
    return EncoderLabeler.load(EncoderSettings(model=str(model), device="cpu", **options))  # type: ignore[arg-type]


def five_short() -> list[SimplifiedPage]:
    return sorted(simplified(), key=lambda page: len(page.simplified_html))[:5]


def test_a_label_a_block_of_real_pages(model: Path) -> None:
    labeler = encoder(model)
    assert isinstance(labeler.name, str)
    assert isinstance(labeler.version, str)
    labelled = labeler.label(pages())
    assert ENCODER.tells_confidence == (not np.isnan(labelled[0].confidence))
    assert [len(labels.main) for labels in labelled] == [len(page.blocks) for page in pages()]
    said = np.concatenate([labels.main for labels in labelled])
    assert 0.02 < said.mean() < 0.98, "a random model says both"
    assert max(labels.windows for labels in labelled) > 1


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_on_a_cpu_labels_do_not_depend_on_company(model: Path, precision: str) -> None:
    assert_company_changes_nothing(encoder(model, precision=precision), five_short())


def test_packed_they_are_the_same_up_to_rounding(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = five_short()
    alone = encoder(model)
    monkeypatch.setitem(BATCH_TOKENS, "cpu", 4 * CONTEXT)
    packed = encoder(model)
    assert isinstance(packed._network, EncoderNetwork)
    assert packed._network.batch_tokens == 4 * CONTEXT, "it can pack"
    order = np.random.default_rng(1).permutation(len(some))
    shuffled = packed.label_simplified([some[index] for index in order])
    for index, labels in zip(order, shuffled, strict=True):
        expected = alone.label_simplified([some[index]])[0]
        np.testing.assert_allclose(labels.probability, expected.probability, atol=1e-5)
        clear = np.abs(expected.probability - 0.5) > 1e-4
        assert (labels.main == expected.main)[clear].all()


def test_a_page_that_has_no_blocks_where_it_says_so_ends_the_call(bert: Path) -> None:
    bad = SimplifiedPage("<html><body></body></html>", 3)
    with pytest.raises(PageError):
        encoder(bert).label_simplified([simplified()[0], bad, *simplified()[1:4]])


def test_the_model_reads_in_both_directions(bert: Path) -> None:
    """The same first block is labelled otherwise before another second one."""

    def page(last: str) -> str:
        return f'<html><body><p _item_id="1">It rained.</p><p _item_id="2">{last}</p></body></html>'

    labeler = encoder(bert)
    one, other = labeler.label_simplified([SimplifiedPage(page(last), 2) for last in ("Share", "All day in Rome.")])
    assert one.probability[0] != other.probability[0]


def test_labels_are_those_of_transformers_itself(bert: Path) -> None:
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    page = min(simplified(), key=lambda page: page.n_blocks)
    labeler = encoder(bert)
    chunks = labeler._sequencer.chunks(page, 0)
    model = AutoModelForTokenClassification.from_pretrained(bert)
    separator = AutoTokenizer.from_pretrained(bert).convert_tokens_to_ids("<|sep|>")
    said = []
    for chunk in chunks:
        ids = torch.tensor([chunk.ids])
        said.append(model(input_ids=ids).logits[ids == separator].softmax(1)[:, 1].detach().numpy())
    np.testing.assert_allclose(labeler.label_simplified([page])[0].probability, np.concatenate(said), atol=1e-5)


def test_the_threshold_of_the_checkpoint_moves_labels(bert: Path, tmp_path: Path) -> None:
    counts = []
    for threshold in (0.05, 0.5, 0.95):
        copy = shutil.copytree(bert, tmp_path / str(threshold))
        Reading(threshold=threshold).save(copy)
        labeler = encoder(copy)
        counts.append(labeler.label_simplified([simplified()[0]])[0].main.sum())
        assert labeler.version.endswith(f"/{threshold:g}")
    assert counts[0] > counts[1] > counts[2]


def test_int8_is_near_float32(bert: Path) -> None:
    page = simplified()[0]
    full, small = (encoder(bert, precision=each).label_simplified([page])[0] for each in ("float32", "int8"))
    assert not (full.probability == small.probability).all()
    # Random weights of this spread lose more to rounding than trained ones.
    assert (full.main == small.main).mean() > 0.75


def test_bfloat16_runs_where_asked(bert: Path) -> None:
    assert (
        len(encoder(bert, precision="bfloat16").label_simplified([simplified()[0]])[0].main) == simplified()[0].n_blocks
    )


def test_pages_without_blocks(bert: Path) -> None:
    (labels,) = encoder(bert).label_simplified([SimplifiedPage("<html><body></body></html>", 0)])
    assert (len(labels.main), len(labels.probability)) == (0, 0)


def test_the_head_may_have_any_name(bert: Path, tmp_path: Path) -> None:
    other = rename_weights(
        bert, tmp_path / "bert", {"classifier.weight": "score.weight", "classifier.bias": "score.bias"}
    )
    page = simplified()[0]
    assert equal(encoder(other).label_simplified([page])[0], encoder(bert).label_simplified([page])[0])


def test_eurobert_without_a_base_of_rotation_has_its_authors(tmp_path: Path) -> None:
    """transformers would take 10,000."""
    model = make_encoder(tmp_path / "eurobert", "eurobert")
    config = json.loads((model / "config.json").read_text())

    def frequencies(**changes: object) -> list[float]:
        changed = {
            key: value for key, value in config.items() if key not in ("rope_theta", "rope_parameters")
        } | changes
        (model / "config.json").write_text(json.dumps(changed))
        network = EncoderNetwork.load(EncoderCheckpoint.find(EncoderSettings(model=str(model))), EncoderSettings())
        found: list[float] = network._model.model.rotary_emb.inv_freq.tolist()
        return found

    size = 2 * len(frequencies())
    assert frequencies() == pytest.approx([250_000 ** (-2 * place / size) for place in range(size // 2)])
    for said in ({"rope_theta": 5000.0}, {"rope_parameters": {"rope_type": "default", "rope_theta": 5000.0}}):
        assert frequencies(**said) == pytest.approx([5000 ** (-2 * place / size) for place in range(size // 2)])


def test_a_checkpoint_without_a_head_is_refused(bert: Path, tmp_path: Path) -> None:
    without = rename_weights(bert, tmp_path / "bert", {"classifier.weight": "", "classifier.bias": ""})
    with pytest.raises(MachineError, match=r"lacks 2 weights of BertForTokenClassification, first classifier\.bias"):
        encoder(without)


def test_missing_layers_are_refused(bert: Path, tmp_path: Path) -> None:
    key = "bert.encoder.layer.0.attention.self.query.weight"
    with pytest.raises(MachineError, match=f"lacks 1 weights of .*{key}"):
        encoder(rename_weights(bert, tmp_path / "bert", {key: ""}))


def test_damaged_weights_are_refused(bert: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bert, tmp_path / "bert")
    weights = (copy / "model.safetensors").read_bytes()
    for damaged in (weights[: len(weights) // 2], b"no weights"):
        (copy / "model.safetensors").write_bytes(damaged)
        with pytest.raises(MachineError, match="cannot be loaded to label tokens: Error while deserializing"):
            encoder(copy)


def test_a_config_of_wrong_types_is_refused(bert: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bert, tmp_path / "bert")
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"max_position_embeddings": "512"}))
    with pytest.raises(MachineError, match="field 'max_position_embeddings'"):
        encoder(copy)


def test_one_logit_is_of_main(tmp_path: Path) -> None:
    made = make_encoder(tmp_path / "one", num_labels=1)
    labels = encoder(made).label_simplified([simplified()[0]])[0]
    assert 0 < labels.main.mean() < 1


@pytest.mark.parametrize("kind", ["gpt2_unknown_kind", "vit"])
def test_an_architecture_that_labels_no_tokens_is_refused(tmp_path: Path, kind: str) -> None:
    make_tokenizer(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    with pytest.raises(MachineError, match="cannot be loaded to label tokens"):
        encoder(tmp_path)


def test_no_code_of_a_checkpoint_is_run(tmp_path: Path) -> None:
    make_tokenizer(tmp_path)
    said = {"model_type": "unknown", "auto_map": {"AutoConfig": "evil.C", "AutoModelForTokenClassification": "evil.M"}}
    (tmp_path / "config.json").write_text(json.dumps(said))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nC = M = object\n")
    with pytest.raises(MachineError):
        encoder(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_gpu_that_is_not_there_is_said(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(MachineError, match=r"labels\.encoder\.device=cuda: PyTorch .* sees no GPU here"):
        load("encoder", model=str(bert), device="cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(SettingsError, match="int8 is for CPUs"):
        load("encoder", model=str(bert), precision="int8")


def test_a_model_that_overflows_fails_the_page(bert: Path, tmp_path: Path) -> None:
    model = make_model("bert", 2000)
    with torch.no_grad():
        model.classifier.bias.fill_(float("nan"))
    for file in bert.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    model.config.vocab_size = model.get_input_embeddings().weight.shape[0]
    model.save_pretrained(tmp_path)
    with pytest.raises(PageError, match="no numbers"):
        encoder(tmp_path).label_simplified([simplified()[0]])


def test_a_pass_that_fails_is_a_page_error(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(EncoderNetwork, "margins", no_memory)
    with pytest.raises(PageError, match="out of memory"):
        encoder(bert).label_simplified([simplified()[0]])
