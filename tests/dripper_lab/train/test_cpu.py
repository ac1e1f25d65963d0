"""The training command, end to end on a few pages and with small networks, and its model card."""

import re
from dataclasses import fields, replace
from functools import partial
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from support.labelled import FOLDER, labelled_pages, pages

pytest.importorskip("jax", reason="needs the extra [train]")

from dripper.labels.cpu.labeler import CpuLabeler
from dripper.labels.cpu.network import Shape
from dripper.labels.cpu.weights import load_weights
from dripper_lab.train.cpu import KEPT, main, makers
from dripper_lab.train.examples import read_examples
from dripper_lab.train.recipe import Recipe, Shares

pytestmark = pytest.mark.slow

ARGUMENTS = ["--data", str(FOLDER), "--sets", "wcxb-dev", "--folds", "2", "--epochs", "1"]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "new"
    keep = str(files("dripper.labels.cpu").joinpath("cpu_weights.npz"))
    # tests/dripper_lab/train/test_optimise.py trains the networks of the recipe.
    small = partial(
        Recipe, width=8, pool_width=2, shape=Shape((1, 2), (1,)), other_width=6, other_shape=Shape((2,), (0,))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dripper_lab.train.cpu.Recipe", small)
        assert main([*ARGUMENTS, "--from-scratch", "--keep", keep, "--output", str(folder)]) == 0
    return folder


def test_the_weights_label_pages(output: Path) -> None:
    labeler = CpuLabeler.load(output / "cpu_weights.npz")
    assert len(load_weights(output / "cpu_weights.npz").others) == len(Recipe().other_recipes) + KEPT
    for page, labels in zip(pages(), labeler.label(pages()), strict=True):
        assert len(labels.main) == len(page.blocks)


def test_the_card_says_what_it_was_made_of(output: Path) -> None:
    card = (output / "model_card_cpu.md").read_text(encoding="utf-8")
    assert CpuLabeler.load(output / "cpu_weights.npz").version in card
    assert "| wcxb-dev | CC-BY-4.0 | 11 |" in card
    assert re.search(r"Digest of the examples.*`[0-9a-f]{16}`", card)
    assert '"seed": 0' in card
    assert '"folds": 2' in card
    assert re.search(r"All pages: \*\*0\.\d{4}\*\* \(11 pages", card)
    assert "## Limits" in card
    assert re.search(r"\| auto \| include \| 0\.\d{3} \| 0\.\d{3} \|", card)


def test_every_kind_of_variant_has_makers_and_comes_out() -> None:
    kinds = {each.name for each in fields(Shares)}
    recipe = replace(Recipe(), antique_variants=2, other_shares=(Shares(0.2, 0.2, 0.2, 0.2, 0.2),))
    assert set(makers(recipe)) == kinds
    assert set(makers(Recipe())) == {"commented"}
    examples = list(read_examples(labelled_pages(), makers(recipe)))
    assert {kind for example in examples for kind, made in example.variants.items() if made} == kinds
    for example in examples:
        assert len(example.variants["antique"]) == recipe.antique_variants
        for made in (each for of in example.variants.values() for each in of):
            assert made.key == example.key
            assert made.blocks.features.dtype == np.float16


def test_the_reliability_plot_is_a_picture(output: Path) -> None:
    assert (output / "reliability_cpu.png").read_bytes().startswith(b"\x89PNG")


def test_a_missing_set_is_one_sentence_and_exit_code_2(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert main(["--data", str(tmp_path), "--output", str(tmp_path / "out"), "--sets", "fundus"]) == 2
    assert "no data set 'fundus'" in caplog.text
    assert not (tmp_path / "out").exists()


def test_too_few_sites_are_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    arguments = ["--data", str(FOLDER), "--sets", "wcxb-dev", "--folds", "50", "--output", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "too few to validate on" in caplog.text


def test_what_earlier_weights_saw_cannot_score_what_goes_on_from_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert main([*ARGUMENTS, "--output", str(tmp_path / "out")]) == 2
    assert "nothing can be scored: name other sets too, or train with --from-scratch" in caplog.text


def test_networks_are_kept_from_scratch_only(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main([*ARGUMENTS, "--output", str(tmp_path), "--keep", "weights.npz"])


def test_sets_that_do_not_ship_cannot_be_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(FOLDER), "--sets", "dragnet", "--output", str(tmp_path)])
