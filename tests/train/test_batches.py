"""Packing of pages."""

from dataclasses import replace

import numpy as np
import pytest

from dripper.train.batches import PAGES_PER_BATCH, WINDOW_SHARE, grouped, pack, training_batches
from train.made import made_example

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
    groups = list(grouped(examples, SIZE))
    assert [example for group in groups for example in group] == examples
    for group in groups:
        pack(group, SIZE)
    assert max(len(group) for group in grouped([made_example(1, 1)] * 100, SIZE)) == PAGES_PER_BATCH
    assert list(grouped([], SIZE)) == []


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


def test_crowded_variants_stand_in_for_their_pages_as_often_as_asked() -> None:
    crowded = tuple(made_example(number, 11) for number in (1001, 1002))
    examples = [replace(made_example(number, 10), crowded=crowded) for number in range(400)]

    def lengths(share: float) -> list[int]:
        draw = np.random.default_rng(0)
        batches = list(training_batches(examples, SIZE, draw, share))
        pages = np.concatenate([np.bincount(batch.page[batch.page < PAGES_PER_BATCH]) for batch in batches])
        assert len(pages) == 400
        return list(pages)

    assert lengths(0.0).count(11) == 0
    assert 120 <= lengths(0.4).count(11) <= 200
    assert lengths(1.0).count(11) == 400


def test_pages_without_variants_are_left_as_they_are() -> None:
    examples = [made_example(number, 10) for number in range(20)]
    (batch,) = training_batches(examples, SIZE, np.random.default_rng(0), 1.0)
    assert batch.words.sum() == sum(example.words.sum() for example in examples)
