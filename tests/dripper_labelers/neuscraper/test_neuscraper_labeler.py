"""The labeler `neuscraper` on a tiny random checkpoint."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import MachineError, PageError, SettingsError
from dripper.labels import SimplifiedPage, Use, load
from dripper_labelers.neuscraper.checkpoint import FILE
from dripper_labelers.neuscraper.entry import NEUSCRAPER, NeuScraperSettings
from dripper_labelers.neuscraper.labeler import NeuScraperLabeler, average_over_blocks
from dripper_labelers.neuscraper.nodes import Node, find_nodes
from support.in_company import assert_company_changes_nothing
from support.labelled import pages
from support.tiny_encoder import WHY_NOT, simplified
from support.tiny_neuscraper import make_neuscraper


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason=WHY_NOT)
    return make_neuscraper(tmp_path_factory.mktemp("neuscraper") / "tiny")


def neuscraper(model: Path) -> NeuScraperLabeler:
    return NeuScraperLabeler.load(NeuScraperSettings(model=str(model)))


def test_a_label_a_block_of_real_pages(model: Path) -> None:
    labeler = neuscraper(model)
    assert isinstance(labeler.name, str)
    assert isinstance(labeler.version, str)
    labelled = labeler.label(pages())
    assert NEUSCRAPER.tells_confidence == (not np.isnan(labelled[0].confidence))
    assert [len(labels.main) for labels in labelled] == [len(page.blocks) for page in pages()]
    assert 0.02 < np.concatenate([labels.main for labels in labelled]).mean() < 0.98, "a random model says both"
    for labels, page in zip(labelled, simplified(), strict=True):
        assert labels.windows == -(-len(find_nodes(page)) // 40)


def test_on_a_cpu_labels_do_not_depend_on_company(model: Path) -> None:
    assert_company_changes_nothing(neuscraper(model), simplified()[:5])


def test_in_padded_batches_they_are_the_same_up_to_rounding(model: Path) -> None:
    some = simplified()[:5]
    labeler = neuscraper(model)
    labeler._batch_nodes = 200
    batched = labeler.label_simplified(some[::-1])[::-1]
    for labels, expected in zip(batched, neuscraper(model).label_simplified(some), strict=True):
        np.testing.assert_allclose(labels.probability, expected.probability, atol=1e-4)


def test_nodes_see_each_other(model: Path) -> None:
    def page(last: str) -> SimplifiedPage:
        return SimplifiedPage(f'<html><body><p _item_id="1">It rained.</p><p _item_id="2">{last}</p></body></html>', 2)

    one, other = neuscraper(model).label_simplified([page("Share"), page("All day in Rome.")])
    assert one.probability[0] != other.probability[0]


def changed(model: Path, folder: Path, **changes: object) -> Path:
    """Return a copy of a checkpoint with another shape."""
    copy = shutil.copytree(model, folder)
    (copy / FILE).write_text(json.dumps(json.loads((copy / FILE).read_text()) | changes))
    return copy


def test_a_nodes_vector_may_be_that_of_its_first_token(model: Path, tmp_path: Path) -> None:
    copy = changed(model, tmp_path / "copy", pooling="first")
    mean, first = (neuscraper(each).label_simplified([simplified()[0]])[0] for each in (model, copy))
    assert not (mean.probability == first.probability).all()


def test_a_checkpoint_may_read_the_whole_page(model: Path, tmp_path: Path) -> None:
    copy = changed(model, tmp_path / "copy", reads="page")
    page = max(pages(), key=lambda split: split.mapping_html.count("<li") - split.simplified_html.count("<li"))
    whole, simple = (neuscraper(each).label([page])[0] for each in (copy, model))
    assert not (whole.probability == simple.probability).all()
    with pytest.raises(MachineError, match=r"reads whole pages.*labeler\.staged=false"):
        neuscraper(copy).label_simplified(simplified()[:1])
    with pytest.raises(MachineError, match="reads whole pages"):
        NEUSCRAPER.check(NeuScraperSettings(model=str(copy)), Use("dripper", ("label",)))
    NEUSCRAPER.check(NeuScraperSettings(model=str(copy)), Use("dripper", ()))


def test_two_nodes_in_a_row_may_share_a_position(model: Path, tmp_path: Path) -> None:
    same = SimplifiedPage(
        "<html><body>" + "".join(f'<p _item_id="{i}">Rain.</p>' for i in (1, 2, 3)) + "</body></html>", 3
    )
    single, pairs = (
        neuscraper(each).label_simplified([same])[0].probability
        for each in (model, changed(model, tmp_path / "copy", positions="pairs"))
    )
    assert len(set(single.tolist())) == 3
    assert pairs[0] == pairs[1] != pairs[2]


def test_of_six_outputs_the_first_labels(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    from safetensors.torch import load_file, save_file

    six = make_neuscraper(tmp_path / "six", outputs=6)
    weights = load_file(six / "model.safetensors")
    assert weights["classifier.head.weight"].shape[0] == 6
    before = neuscraper(six).label_simplified(simplified()[:1])[0]
    weights["classifier.head.weight"][1:] = 0
    save_file(weights, six / "model.safetensors")
    assert (neuscraper(six).label_simplified(simplified()[:1])[0].probability == before.probability).all()


def test_pages_without_blocks_or_texts(model: Path) -> None:
    none = SimplifiedPage("<html><body></body></html>", 0)
    image = SimplifiedPage('<html><body><img src="a" _item_id="1"></body></html>', 1)
    empty, pictures = neuscraper(model).label_simplified([none, image])
    assert len(empty.main) == 0
    assert pictures.main.tolist() == [False]


def test_the_threshold_moves_labels(model: Path, tmp_path: Path) -> None:
    copies = [changed(model, tmp_path / str(threshold), threshold=threshold) for threshold in (0.1, 0.9)]
    counts = [neuscraper(copy).label_simplified([simplified()[0]])[0].main.sum() for copy in copies]
    assert counts[0] > counts[1]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 9), st.floats(-40, 40)), max_size=20))
def test_a_blocks_probability_lies_between_those_of_its_texts(said: list[tuple[int, int, float]]) -> None:
    said.sort(key=lambda each: each[0])
    nodes, logits = [Node(block, "", size) for block, size, _ in said], np.array([each[2] for each in said])
    found = average_over_blocks(8, nodes, logits)
    for block in range(8):
        own = [1 / (1 + np.exp(-min(30, max(-30, logit)))) for number, size, logit in said if number == block and size]
        if own:
            assert min(own) - 1e-9 <= found[block] <= max(own) + 1e-9
        else:
            texts = {number for number, size, _ in said if size}
            before, after = [t for t in texts if t < block], [t for t in texts if t > block]
            between = min(found[max(before)], found[min(after)]) if before and after else 0.0
            assert found[block] == pytest.approx(between)


def test_what_is_missing_is_said(model: Path, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="there is no such folder"):
        load("neuscraper", model=str(tmp_path / "none"))
    with pytest.raises(MachineError, match=r"not a checkpoint of the labeler neuscraper: neuscraper\.json"):
        load("neuscraper", model=str(tmp_path))
    copy = shutil.copytree(model, tmp_path / "copy")
    said = json.loads((copy / FILE).read_text())
    (copy / FILE).write_text(json.dumps(said | {"width": 64}))
    with pytest.raises(MachineError, match="is not a checkpoint of the labeler neuscraper"):
        load("neuscraper", model=str(copy))
    (copy / FILE).write_text(json.dumps(said))
    weights = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(MachineError, match=r"is not a checkpoint of the labeler neuscraper: .*incomplete"):
        load("neuscraper", model=str(copy))
    (copy / FILE).write_text(json.dumps(said | {"pooling": "last"}))
    with pytest.raises(MachineError, match="none of first, mean"):
        load("neuscraper", model=str(copy))
    (copy / FILE).write_text(json.dumps(said | {"outputs": 2}))
    with pytest.raises(MachineError, match="outputs=2 is none of 1, 6"):
        load("neuscraper", model=str(copy))


def test_a_pass_that_fails_is_a_page_error(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr("dripper_labelers.neuscraper.labeler.compute_logits", no_memory)
    with pytest.raises(PageError, match="out of memory"):
        neuscraper(model).label_simplified([simplified()[0]])


def test_no_model_is_said_before_the_run() -> None:
    with pytest.raises(SettingsError, match=r"set labels\.neuscraper\.model"):
        NEUSCRAPER.check(NeuScraperSettings(), Use("dripper", ("label",)))
    with pytest.raises(SettingsError, match=r"set labels\.neuscraper\.model"):
        load("neuscraper")
    assert not NEUSCRAPER.check(NeuScraperSettings(), Use("dripper", ("extract",)))
    told = NEUSCRAPER.check(NeuScraperSettings(model="/nowhere"), Use("dripper", ("preprocess", "label")))
    assert "/nowhere: there is no such folder on this machine" in told[0]
    assert all("torch is not installed on this machine" in each for each in told[1:])
    assert not NEUSCRAPER.check(NeuScraperSettings(model="/nowhere"), Use("dripper", ("preprocess",)))
