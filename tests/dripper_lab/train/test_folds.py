"""Cross-validation by host."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from support.made_examples import made_example

pytest.importorskip("jax", reason="needs the extra [train]")

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.network import WEIGHT_STEPS, Shape
from dripper.labels.cpu.weights import load_weights
from dripper_lab.train import folds
from dripper_lab.train.by_site import fold_of
from dripper_lab.train.examples import Example
from dripper_lab.train.folds import compute_held_out_logits, fit, fold_networks
from dripper_lab.train.optimise import train_in_stages
from dripper_lab.train.recipe import GOING_ON, Recipe, Shares
from dripper_lab.train.weights import START

RECIPE = Recipe(
    width=6,
    pool_width=2,
    shape=Shape((1,), (0,)),
    epochs=1,
    batch_blocks=300,
    other_width=4,
    other_shares=(Shares(crowded=0.3, antique=0.3), Shares()),
    other_balances=(0.0, 0.5),
    other_shape=Shape((2,), (0,)),
)


def test_a_host_stays_in_one_fold_and_folds_are_of_similar_size() -> None:
    counts = np.bincount([fold_of(f"host{number}.example", 5) for number in range(2000)], minlength=5)
    assert len(counts) == 5
    assert counts.min() > 300
    assert fold_of("example.org", 5) == fold_of("example.org", 5)


def test_weights_are_on_the_grid_and_features_standardised() -> None:
    examples = [made_example(number) for number in range(4)]
    weights = fit(examples, RECIPE)
    for network in weights.networks:
        for matrix in network.matrices.values():
            assert np.array_equal(matrix * WEIGHT_STEPS, np.rint(matrix * WEIGHT_STEPS))
    features = np.concatenate([example.blocks.features for example in examples])
    assert np.allclose(weights.mean, features.mean(axis=0))
    assert (weights.scale > 0).all()


def test_a_site_that_no_network_left_out_is_refused() -> None:
    with pytest.raises(ValueError, match="no network was trained without the site host1"):
        compute_held_out_logits([made_example(1)], [None, None])


def test_no_page_is_scored_by_a_network_that_saw_its_site(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []
    real = folds.fit

    def watched(examples: list[Example], recipe: Recipe, start: object) -> object:
        assert start is None
        seen.append({example.host for example in examples})
        return real(examples, recipe)

    monkeypatch.setattr(folds, "fit", watched)
    examples = [made_example(number) for number in range(6)]
    logits = compute_held_out_logits(examples, fold_networks(examples, RECIPE, 3))
    assert [own.shape for own in logits] == [
        (1 + len(RECIPE.other_recipes), len(example.words)) for example in examples
    ]
    every = {example.host for example in examples}
    for fold in {fold_of(host, 3) for host in every}:
        held_out = {host for host in every if fold_of(host, 3) == fold}
        assert every - held_out in seen


def test_only_the_first_folds_are_held_out_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "fit", lambda examples, _recipe, _start: len(examples))
    examples = [made_example(number) for number in range(30)]
    of_fold = [sum(fold_of(example.host, 3) == fold for example in examples) for fold in range(3)]
    every: list[object] = [*fold_networks(examples, RECIPE, 3)]
    first: list[object] = [*fold_networks(examples, RECIPE, 3, scored=1)]
    assert every == [30 - n for n in of_fold]
    assert first == [30 - of_fold[0], None, None]


def test_what_goes_on_keeps_the_scale_and_the_other_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    start = load_weights(START)
    taught: list[object] = []

    def same(_examples: object, _blanks: object, recipe: Recipe, earlier: Mapping[str, FloatArray]) -> object:
        taught.append((recipe, earlier))
        return {name: value for name, value in earlier.items() if name not in ("kind", "switch")}

    monkeypatch.setattr(folds, "train_in_stages", same)
    weights = fit([made_example(number) for number in range(4)], GOING_ON, start)
    assert taught == [(GOING_ON.other_recipes[0], start.others[0].matrices), (GOING_ON, start.matrices)]
    assert np.array_equal(weights.mean, start.mean)
    assert np.array_equal(weights.scale, start.scale)
    assert weights.others[1:] == start.others[1:]
    assert weights.matrices["kind"].shape == load_weights().matrices["kind"].shape


def halved(page: Example) -> Example:
    return replace(page, blocks=page.blocks._replace(features=page.blocks.features.astype(np.float16)))


def test_variants_are_standardised_as_their_pages_and_each_network_has_its_shares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[Example] = []
    shares: list[Shares] = []

    def watched(examples: list[Example], blanks: object, recipe: Recipe, start: object) -> object:
        assert start is None
        given.extend(examples)
        shares.append(recipe.shares)
        return train_in_stages(examples, blanks, recipe)  # type: ignore[arg-type]

    monkeypatch.setattr(folds, "train_in_stages", watched)
    pages = [made_example(number) for number in range(4)]
    examples = [
        replace(page, variants={"crowded": (halved(page),), "antique": (halved(page), halved(page))}) for page in pages
    ]
    weights = fit(examples, RECIPE)
    assert shares == [*RECIPE.other_shares, RECIPE.shares]
    for example in given:
        assert [len(example.variants[kind]) for kind in ("crowded", "antique")] == [1, 2]
        for variant in (*example.variants["crowded"], *example.variants["antique"]):
            assert variant.blocks.features.dtype == np.float16
            assert np.allclose(variant.blocks.features, example.blocks.features, atol=0.02)
            assert np.abs(variant.blocks.features).max() <= 6
    assert [len(network.matrices["output"]) for network in weights.networks] == [3, 2, 2]
    first, second = weights.others
    assert not np.array_equal(first.matrices["input"], second.matrices["input"])
