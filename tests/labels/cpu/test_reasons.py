"""Reasons: every feature has a group, and a group's reason is the change without it."""

import numpy as np

from dripper.html import preprocess
from dripper.labels import ExplainingLabeler, load
from dripper.labels.cpu.features.page_features import NAMES
from dripper.labels.cpu.reasons import GROUPS, find_group
from support.warcs import page

MENU = preprocess(page(1)[1].decode())


def test_every_feature_has_a_group_and_every_group_a_feature() -> None:
    assert {find_group(name) for name in NAMES} == set(GROUPS)


def test_features_stand_where_people_look_for_them() -> None:
    groups = {"links0": "links", "named_side": "class names", "in_nav": "tags", "list_links": "links"}
    groups |= {
        "same_class_links": "links",
        "page_links": "kind of page",
        "top_links": "links",
        "cue_legal": "cue words",
    }
    assert {name: find_group(name) for name in groups} == groups


def test_each_group_says_something_of_every_block() -> None:
    labeler = load("cpu")
    assert isinstance(labeler, ExplainingLabeler)
    said = labeler.reasons(MENU)
    assert list(said) == list(GROUPS)
    for values in said.values():
        assert values.shape == (len(MENU.blocks),)
        assert np.isfinite(values).all()
    assert np.abs(np.stack(list(said.values()))).max() > 0.5


def test_reasons_are_the_same_each_time_and_leave_the_labels_alone() -> None:
    labeler = load("cpu")
    assert isinstance(labeler, ExplainingLabeler)
    before = labeler.label([MENU])[0].probability
    first, second = labeler.reasons(MENU), labeler.reasons(MENU)
    assert all(np.array_equal(first[group], second[group]) for group in GROUPS)
    assert np.array_equal(labeler.label([MENU])[0].probability, before)


def test_a_page_without_blocks_has_no_reasons() -> None:
    labeler = load("cpu")
    assert isinstance(labeler, ExplainingLabeler)
    assert {len(values) for values in labeler.reasons(preprocess("")).values()} == {0}


def test_a_rule_cannot_say_why() -> None:
    assert not isinstance(load("all"), ExplainingLabeler)
