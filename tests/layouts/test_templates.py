"""Labels of a layout's representatives for its other pages, and when they are not used."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dripper.labels import Labels
from dripper.layouts import Fingerprints, PageBlocks
from dripper.layouts.templates import (
    LEAST_CONSISTENT,
    MOST_ODDS,
    Template,
    choose_representatives,
    fill,
    learn,
    measure_consistency,
)

Kept = tuple[PageBlocks, Labels]


def kept(paths: list[int], texts: list[int], odds: list[float], words: int = 10) -> Kept:
    """A page with its own labels: main if the log odds are above 0."""
    numbers = np.array(odds, np.float32)
    prints = Fingerprints(np.array(paths, np.int64), np.array(texts, np.int64))
    page = PageBlocks(prints, np.full(len(paths), words, np.int32), numbers)
    return page, Labels(numbers > 0, (1 / (1 + np.exp(-numbers))).astype(np.float32), 0.8)


def template(*pages: tuple[PageBlocks, list[bool]]) -> Template:
    return learn((page, np.array(main)) for page, main in pages)


def test_paths_that_representatives_agree_on_decide() -> None:
    one, _ = kept([1, 2, 3], [11, 12, 13], [1.0, 1.0, -1.0])
    made = fill(template((one, [False, True, True])), *kept([1, 2, 3, 3], [21, 22, 23, 24], [1.0, 2.0, -1.0, -1.0]))
    assert made.labels.main.tolist() == [False, True, True, True]
    assert (made.covered, made.agreed) == (1.0, 0.25)
    assert not made.fits


def test_a_text_that_repeats_says_more_than_its_path() -> None:
    pages = [kept([1, 1, 1], [7, 10 + i, 20 + i], [2.0, 2.0, 2.0])[0] for i in range(2)]
    made = fill(
        template(*((page, [False, True, True]) for page in pages)), *kept([1, 1, 1], [7, 30, 31], [2.0, 2.0, 2.0])
    )
    assert made.labels.main.tolist() == [False, True, True]
    assert made.fits


def test_of_what_no_representative_has_the_page_itself_decides_and_much_of_it_fits_not() -> None:
    made = fill(template((kept([1], [1], [1.0])[0], [True])), *kept([1, 5, 6], [2, 3, 4], [3.0, 3.0, -3.0]))
    assert made.labels.main.tolist() == [True, True, False]
    assert abs(made.covered - 1 / 3) < 1e-9
    assert not made.fits


def test_representatives_show_what_the_others_lack() -> None:
    pages = {
        "a": kept([1, 2], [1, 2], [1.0, 1.0])[0],
        "b": kept([1, 2, 3], [1, 2, 3], [1.0, 1.0, 1.0])[0],
        "c": kept([1, 4, 4, 4], [1, 2, 3, 4], [1.0] * 4)[0],
        "d": kept([1, 2, 3], [1, 2, 3], [1.0, 1.0, 1.0])[0],
    }
    assert choose_representatives(pages, 2) == ["b", "c"]
    assert choose_representatives(pages, 3) == ["b", "c", "d"]
    assert choose_representatives(pages, 1) == ["b"]
    assert choose_representatives({}, 3) == []


def test_representatives_that_contradict_each_other_are_told_from_those_that_agree() -> None:
    page, labels = kept([1, 2, 3], [1, 2, 3], [0.0, 0.0, 0.0])
    first, second = np.array([True, False, False]), np.array([False, True, True])
    assert measure_consistency([(page, labels, first)]) == 1
    assert measure_consistency([(page, labels, first)] * 3) == 1
    assert measure_consistency([(page, labels, first), (page, labels, second)]) < LEAST_CONSISTENT


BLOCKS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5), st.floats(-5, 5, width=32)), min_size=1, max_size=7)


@given(st.lists(BLOCKS, min_size=1, max_size=5), st.integers(1, 4), st.randoms())
def test_the_order_of_pages_does_not_matter(made: list[list[tuple[int, int, float]]], k: int, chance: object) -> None:
    pages = {str(i): kept(*(list(part) for part in zip(*blocks, strict=True))) for i, blocks in enumerate(made)}
    names = list(pages)
    chance.shuffle(names)  # type: ignore[attr-defined]
    chosen = choose_representatives({name: pages[name][0] for name in names}, k)
    assert chosen == choose_representatives({name: page for name, (page, _) in pages.items()}, k)
    assert len(set(chosen)) == len(chosen) == min(k, len(names))
    one, other = (
        learn((pages[name][0], pages[name][1].main) for name in order) for order in (chosen, list(reversed(chosen)))
    )
    for page, labels in pages.values():
        filled = fill(one, page, labels)
        assert filled.labels.main.tolist() == fill(other, page, labels).labels.main.tolist()
        assert 0 <= filled.covered <= 1
        assert 0 <= filled.agreed <= 1
    assert all(abs(vote.log_odds) <= MOST_ODDS for vote in one.paths.values())
