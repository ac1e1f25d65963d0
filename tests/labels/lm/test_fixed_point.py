"""The fixed point equals the greedy state machine, on random models without any engine."""

import hashlib
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.labels.arrays import FloatArray
from dripper.labels.lm.parallel import Draft, decode_to_fixed_point


def margin(seed: int, page: int, before: Sequence[bool]) -> float:
    """An autoregressive model: any function of the labels before, here a hash, so that every label
    turns on all of them."""
    digest = hashlib.blake2b(f"{seed} {page} {[bool(label) for label in before]}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**63 - 1.0


def greedy(seed: int, page: int, size: int) -> tuple[list[bool], list[float]]:
    """The state machine: one label after the other."""
    labels: list[bool] = []
    margins: list[float] = []
    for _ in range(size):
        margins.append(margin(seed, page, labels))
        labels.append(margins[-1] > 0)
    return labels, margins


class Model:
    """Scores drafts according to the contract, and counts."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.batches: list[list[int]] = []

    def __call__(self, drafts: Sequence[Draft]) -> list[FloatArray]:
        self.batches.append([draft.page for draft in drafts])
        return [
            np.array(
                [margin(self.seed, draft.page, draft.main[:k].tolist()) for k in range(draft.settled, len(draft.main))]
            )
            for draft in drafts
        ]


@settings(deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 40), max_size=6),
)
def test_labels_and_margins_are_those_of_the_state_machine(seed: int, sizes: list[int]) -> None:
    drafts = decode_to_fixed_point(sizes, Model(seed))
    assert len(drafts) == len(sizes)
    for page, (draft, size) in enumerate(zip(drafts, sizes, strict=True)):
        labels, margins = greedy(seed, page, size)
        assert draft.main.tolist() == labels
        assert draft.margins.tolist() == margins
        assert 1 <= draft.passes <= size


@settings(deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_a_page_takes_the_same_passes_in_company_and_none_when_done(seed: int, sizes: list[int]) -> None:
    model = Model(seed)
    drafts = decode_to_fixed_point(sizes, model)
    assert len(model.batches) == max(draft.passes for draft in drafts)
    for draft in drafts:
        assert sum(draft.page in batch for batch in model.batches) == draft.passes
        assert all(draft.page in batch for batch in model.batches[: draft.passes])


def test_labels_that_do_not_depend_on_each_other_take_two_passes() -> None:
    wanted = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    (draft,) = decode_to_fixed_point([5], lambda drafts: [wanted[one.settled :] for one in drafts])
    assert draft.main.tolist() == [True, False, True, True, False]
    assert draft.passes == 2


def test_the_first_draft_may_be_right() -> None:
    (draft,) = decode_to_fixed_point([9], lambda drafts: [np.full(9, -1.0)])
    assert not draft.main.any()
    assert draft.passes == 1


def test_the_worst_case_ends_after_as_many_passes_as_blocks() -> None:
    """Each label is main only if the previous one is."""

    def score(drafts: Sequence[Draft]) -> list[FloatArray]:
        return [np.where(np.concatenate([[True], one.main[:-1]]), 1.0, -1.0)[one.settled :] for one in drafts]

    (draft,) = decode_to_fixed_point([30], score)
    assert draft.main.all()
    assert draft.passes == 30


@settings(deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 25), min_size=1, max_size=4), st.data())
def test_the_first_draft_decides_the_passes_and_not_the_labels(
    seed: int, sizes: list[int], data: st.DataObject
) -> None:
    first = [
        data.draw(st.none() | st.lists(st.booleans(), min_size=size, max_size=size), label="first") for size in sizes
    ]
    drafts = decode_to_fixed_point(sizes, Model(seed), first)
    for page, (draft, size) in enumerate(zip(drafts, sizes, strict=True)):
        labels, margins = greedy(seed, page, size)
        assert (draft.main.tolist(), draft.margins.tolist()) == (labels, margins)
    right = [greedy(seed, page, size)[0] for page, size in enumerate(sizes)]
    assert {draft.passes for draft in decode_to_fixed_point(sizes, Model(seed), right)} == {1}


def test_no_pages() -> None:
    assert decode_to_fixed_point([], Model(0)) == []
