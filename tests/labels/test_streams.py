"""Making things in a thread: order, limits, exceptions, the end of the thread. Packs."""

import threading
from collections.abc import Iterator
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels.streams import ahead, pack


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ahead")]


@pytest.mark.parametrize("most", [1, 3, 100])
def test_all_items_come_in_order_from_another_thread(most: int) -> None:
    makers = set[str]()

    def make() -> Iterator[int]:
        for item in range(50):
            makers.add(threading.current_thread().name)
            yield item

    assert list(ahead(make(), most)) == list(range(50))
    assert makers == {"ahead_0"}
    assert threads() == []


def test_items_are_made_before_they_are_asked_for_and_no_more_than_told() -> None:
    made = list[int]()
    full = threading.Event()

    def make() -> Iterator[int]:
        for item in count():
            made.append(item)
            if item == 4:
                full.set()
            yield item

    items = ahead(make(), 3)
    assert next(items) == 0
    # One is consumed, three wait, and the next one is made before it finds no room.
    assert full.wait(30)
    assert next(items) == 1
    items.close()  # type: ignore[attr-defined]
    assert threads() == []
    assert max(made) <= 8


def test_what_making_one_raises_is_raised_in_its_place() -> None:
    def make() -> Iterator[int]:
        yield 1
        raise ValueError("no second")

    items = ahead(make(), 5)
    assert next(items) == 1
    with pytest.raises(ValueError, match="no second"):
        next(items)
    assert threads() == []


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(0, 80))
def test_packs_hold_every_chunk_once_in_order_within_the_budget(sizes: list[int], budget: int) -> None:
    packs = list(pack(sizes, lambda size: size, budget))
    assert [size for packed in packs for size in packed] == sizes
    assert all(len(packed) == 1 or sum(packed) <= budget for packed in packs)
    joined = [first + second[:1] for first, second in pairwise(packs)]
    assert all(sum(packed) > budget for packed in joined), "no pack could have taken the next chunk"
