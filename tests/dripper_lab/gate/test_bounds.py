"""Figures that break a bound, and bounds that are loosened without a word."""

import pytest

from dripper.errors import InputError
from dripper_lab.gate.bounds import Bounds, find_broken, find_loosened, read_bounds

BOUNDS = Bounds({"scores.all": 0.8}, {"price.all.calls": 100.0})
KEPT = {"scores.all": 0.8, "price.all.calls": 100.0}


def test_figures_at_their_bounds_are_fine() -> None:
    assert find_broken(KEPT, BOUNDS) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scores.all": 0.79}, "scores.all is 0.79, under 0.8"),
        ({"price.all.calls": 101.0}, "price.all.calls is 101, over 100"),
        ({"scores.forum": 0.9}, "scores.forum is 0.9 and has no bound: give it one"),
    ],
)
def test_a_figure_that_breaks_its_bound_is_named(changed: dict[str, float], said: str) -> None:
    assert find_broken(KEPT | changed, BOUNDS) == [said]


def test_a_bound_that_is_not_measured_any_more_is_named() -> None:
    bounds = Bounds({"scores.all": 0.8, "scores.forum": 0.7}, {})
    assert find_broken({"scores.all": 0.9}, bounds) == [
        "scores.forum has a bound and was not measured: take the bound out"
    ]


def test_bounds_of_a_group_that_was_left_out_are_no_matter() -> None:
    assert find_broken({"scores.all": 0.8}, BOUNDS) == []


@pytest.mark.parametrize(
    "now",
    [
        Bounds({"scores.all": 0.79}, BOUNDS.ceilings),
        Bounds({}, BOUNDS.ceilings),
        Bounds({"scores.all": 0.79}, BOUNDS.ceilings, ("price.all.calls: another figure",)),
    ],
)
def test_a_floor_is_not_lowered_without_a_reason(now: Bounds) -> None:
    assert [sentence.split()[0] for sentence in find_loosened(BOUNDS, now)] == ["scores.all"]


def test_a_ceiling_is_not_raised_for_an_old_reason() -> None:
    reasons = ("price.all.calls: one more reader of dates",)
    before = Bounds(BOUNDS.floors, BOUNDS.ceilings, reasons)
    assert len(find_loosened(before, Bounds(BOUNDS.floors, {"price.all.calls": 120.0}, reasons))) == 1


def test_bounds_with_a_new_reason_may_be_loosened_and_all_may_be_tightened() -> None:
    reasons = ("scores.all: two truths were wrong",)
    assert find_loosened(BOUNDS, Bounds({"scores.all": 0.7}, {"price.all.calls": 90.0}, reasons)) == []


def test_lines_and_prose_only_fall() -> None:
    before = Bounds({}, {"house.product": 100.0, "prose.spark": 20.0})
    now = Bounds({}, {"house.product": 101.0, "prose.spark": 19.0}, ("house.product: three new readers",))
    assert find_loosened(before, now) == ["house.product was 100 and is 101: this ceiling only falls"]
    assert find_loosened(before, Bounds({}, {"house.product": 100.0})) == [], "a room that is gone has no prose"


def test_a_dearer_page_needs_a_new_reason_each_time() -> None:
    reasons = ("time.page: main content is read twice",)
    dear = {"time.page": 1.1}
    assert find_loosened(Bounds({}, {"time.page": 1.02}), Bounds({}, dear, reasons)) == []
    assert len(find_loosened(Bounds({}, dear, reasons), Bounds({}, dear, reasons))) == 1


@pytest.mark.parametrize(
    "text", ["floors = 1", "[floors]\na = 1\n[ceilings]\na = 2", "[roofs]\na = 1", "[floors]\na = 'x'"]
)
def test_a_file_that_is_not_one_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="floors and ceilings"):
        read_bounds(text)
