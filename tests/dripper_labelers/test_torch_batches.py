"""Chunks in forward passes."""

from hypothesis import given
from hypothesis import strategies as st

from dripper_labelers.torch_batches import split_into_batches


@given(st.lists(st.integers(1, 100), max_size=50), st.integers(0, 300))
def test_each_chunk_once_within_the_budget_by_length(lengths: list[int], budget: int) -> None:
    batches = split_into_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[index] for index in batch) * len(batch) <= budget
    flat = [lengths[index] for batch in batches for index in batch]
    assert flat == sorted(flat)


def test_no_budget_no_company() -> None:
    assert split_into_batches([3, 3, 3], 0) == [[0], [1], [2]]
