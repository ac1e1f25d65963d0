"""Networks of earlier weights read the features as before."""

from dataclasses import replace

import numpy as np
import pytest

from dripper.labels.cpu.decide import KINDS
from dripper.labels.cpu.labeler import CpuLabeler, normalize_page, score_by_others
from dripper.labels.cpu.weights import load_weights
from dripper_lab.train.weights import (
    KINDS_OF_START,
    START,
    UNUSED,
    fold_network,
    load_start,
    take_confidence,
    without_unused,
)
from support.labelled import pages
from support.made_examples import made_example


def test_a_kept_network_says_what_it_said() -> None:
    earlier = load_weights()
    now = replace(earlier, mean=earlier.mean + 0.1 * earlier.scale, scale=earlier.scale * 1.25)
    now = replace(now, others=tuple(fold_network(earlier, network, now) for network in earlier.others))
    for number in range(3):
        # Features near their means: none is clipped.
        blocks = made_example(number).blocks
        blocks = blocks._replace(features=(earlier.mean + 0.5 * blocks.features * earlier.scale).astype(np.float32))
        before, after = (score_by_others(weights, normalize_page(weights, blocks)) for weights in (earlier, now))
        for one, other in zip(before, after, strict=True):
            assert one == pytest.approx(other, abs=0.35)
            assert np.corrcoef(one, other)[0, 1] > 0.99


def test_unused_features_are_taken_for_zero() -> None:
    start, cut = load_weights(START), without_unused(load_weights(START))
    columns = [start.feature_names.index(name) for name in UNUSED]
    features = (start.mean + 0.5 * made_example(0).blocks.features * start.scale).astype(np.float32)
    features[:, columns] = 0
    zero = made_example(0).blocks._replace(features=features)
    other = zero._replace(features=features.copy())
    other.features[:, columns] = 0.9
    before, after, of_other = (
        score_by_others(weights, normalize_page(weights, blocks))
        for weights, blocks in ((start, zero), (cut, zero), (cut, other))
    )
    for one, two, three in zip(before, after, of_other, strict=True):
        assert one == pytest.approx(two, abs=0.05)
        assert np.array_equal(two, three)


def test_other_features_are_refused() -> None:
    weights = load_weights()
    with pytest.raises(ValueError, match="other features"):
        fold_network(replace(weights, feature_names=("a", "b")), weights.others[0], weights)


def test_collections_are_as_sure_as_listings_were() -> None:
    earlier = load_weights(START).matrices["confidence"].reshape(2, -1)
    now = take_confidence(load_weights(START)).reshape(2, -1)
    for kind in KINDS:
        before = "listing" if kind == "collection" else kind
        assert np.array_equal(now[:, KINDS.index(kind)], earlier[:, KINDS_OF_START.index(before)])


def test_a_labeler_of_today_reads_the_start() -> None:
    start, now = load_weights(START), load_start()
    changed = {name for name, values in start.matrices.items() if not np.array_equal(values, now.matrices[name])}
    assert changed == {"kind", "kind_bias", "confidence"}
    page = pages()[0]
    (labels,) = CpuLabeler(now).label([page])
    assert len(labels.main) == len(page.blocks)
    assert labels.page_kind in KINDS
