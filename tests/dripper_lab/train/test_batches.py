"""Packing of pages."""

from dataclasses import replace

import numpy as np
import pytest

from dripper_lab.train.batches import PAGES_PER_BATCH, WINDOW_SHARE, group_examples, pack, training_batches
from dripper_lab.train.examples import Example
from dripper_lab.train.recipe import Shares
from support.made_examples import made_example

SIZE = 1000


def test_pages_stand_end_to_end_with_their_ranges() -> None:
    first, second = made_example(1, 30), made_example(2, 12)
    batch = pack([first, second], SIZE)
    assert np.allclose(batch.blocks.features[:30], first.blocks.features)
    assert np.allclose(batch.blocks.features[30:42], second.blocks.features)
    assert batch.page[:30].tolist() == [0] * 30
    assert batch.page[30:42].tolist() == [1] * 12
    assert batch.blocks.starts[30:42].tolist() == [[30] * 6] * 12
    assert batch.blocks.ends[30:42].tolist() == [[42] * 6] * 12
    assert batch.truth_words[:3].tolist() == [first.truth_words, second.truth_words, 0]
    assert batch.present.sum() == 2


def test_padding_belongs_to_no_page() -> None:
    batch = pack([made_example(1, 5)], SIZE)
    assert (batch.page[5:] == PAGES_PER_BATCH).all()
    assert batch.words[5:].sum() == batch.matched[5:].sum() == 0
    assert batch.blocks.features.shape[0] == SIZE


def test_too_much_for_one_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        pack([made_example(1, SIZE + 1)], SIZE)
    with pytest.raises(ValueError, match="do not fit"):
        pack([made_example(1, 1)] * (PAGES_PER_BATCH + 1), SIZE)


def test_groups_hold_every_page_once_in_order_and_fit() -> None:
    examples = [made_example(number, 1 + number * 37 % 900) for number in range(150)]
    groups = list(group_examples(examples, SIZE))
    assert [example for group in groups for example in group] == examples
    for group in groups:
        pack(group, SIZE)
    assert max(len(group) for group in group_examples([made_example(1, 1)] * 100, SIZE)) == PAGES_PER_BATCH
    assert list(group_examples([], SIZE)) == []


def test_an_epoch_has_every_page_once_in_an_order_of_its_own() -> None:
    examples = [made_example(number, 20) for number in range(9)]
    draw = np.random.default_rng(0)
    epochs = [
        [batch.truth_words[: len(examples)].tolist() for batch in training_batches(examples, SIZE, draw)] for _ in "ab"
    ]
    sizes = sorted(float(example.truth_words) for example in examples)
    assert [sorted(size for batch in epoch for size in batch) for epoch in epochs] == [sizes, sizes]
    assert epochs[0] != epochs[1]


def test_long_pages_come_as_a_window() -> None:
    (batch,) = training_batches([made_example(1, 30)], 40, np.random.default_rng(0))
    assert (batch.page == 0).sum() == 40 // WINDOW_SHARE


def lengths(examples: list[Example], shares: Shares) -> list[int]:
    batches = list(training_batches(examples, SIZE, np.random.default_rng(0), shares))
    pages = np.concatenate([np.bincount(batch.page[batch.page < PAGES_PER_BATCH]) for batch in batches])
    assert len(pages) == len(examples)
    return list(pages)


def test_variants_stand_in_for_their_pages_as_often_as_asked() -> None:
    crowded, antique = (tuple(made_example(number, blocks) for number in (1001, 1002)) for blocks in (11, 12))
    commented = made_example(1003, 13)
    examples = [
        replace(made_example(number, 10), variants={"crowded": crowded, "antique": antique, "commented": (commented,)})
        for number in range(400)
    ]
    assert lengths(examples, Shares()) == [10] * 400
    found = lengths(examples, Shares(crowded=0.4, antique=0.3, commented=0.1))
    assert 120 <= found.count(11) <= 200
    assert 85 <= found.count(12) <= 155
    assert 20 <= found.count(13) <= 60
    assert lengths(examples, Shares(antique=1.0)) == [12] * 400


def test_a_page_without_variants_stands_for_itself() -> None:
    examples = [
        replace(made_example(number, 10), variants={"antique": (made_example(7, 12),), "crowded": ()})
        for number in range(200)
    ]
    assert lengths(examples, Shares(crowded=1.0)) == [10] * 200
    assert lengths(examples, Shares(commented=1.0)) == [10] * 200
    found = lengths(examples, Shares(crowded=0.5, antique=0.5))
    assert 70 <= found.count(12) <= 130
