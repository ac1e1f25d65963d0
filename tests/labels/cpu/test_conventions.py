"""Conventions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dripper.errors import SettingsError
from dripper.labels import config, load
from dripper.labels.cpu.entry import AS_LEARNED, Conventions, CpuSettings
from dripper.labels.registry import load_from_settings
from dripper.settings import LabelerSettings

SHARES = st.floats(0, 1)
MAIN, PARTS = arrays(float, 6, elements=SHARES), arrays(float, (6, 2), elements=SHARES)


@given(MAIN, PARTS)
def test_the_default_changes_nothing(main: np.ndarray, parts: np.ndarray) -> None:
    assert Conventions() == AS_LEARNED
    assert AS_LEARNED.suffixes() == []
    assert np.array_equal(AS_LEARNED.apply(main, parts), main)


@given(MAIN, PARTS)
def test_include_only_adds_and_exclude_only_takes(main: np.ndarray, parts: np.ndarray) -> None:
    before = main.copy()
    included, excluded = (Conventions(comments=wish).apply(main, parts) for wish in ("include", "exclude"))
    assert (included >= main).all()
    assert (excluded <= main).all()
    assert ((included >= 0) & (included <= 1) & (excluded >= 0)).all()
    nothing = parts[:, 0] == 0
    assert np.array_equal(included[nothing], main[nothing])
    assert np.array_equal(excluded[nothing], main[nothing])
    assert np.array_equal(main, before), "its input stays"


@pytest.mark.parametrize("number", [0, 1])
def test_each_convention_has_its_own_part(number: int) -> None:
    parts = np.eye(2)
    name = Conventions._fields[number]
    assert Conventions(**{name: "include"}).apply(np.zeros(2), parts).tolist() == parts[number].tolist()
    assert Conventions(**{name: "exclude"}).apply(np.ones(2), parts).tolist() == (1 - parts[number]).tolist()


def test_the_settings_are_the_conventions() -> None:
    assert tuple(CpuSettings.model_fields) == (*Conventions._fields, "focus")
    default = CpuSettings()
    assert Conventions(default.comments, default.title) == AS_LEARNED


@pytest.mark.parametrize(("focus", "version"), [("balanced", ""), ("recall", "+focus=recall"), (0.25, "+focus=0.25")])
def test_the_focus_stands_in_the_version(focus: str | float, version: str) -> None:
    labeler = load_from_settings(LabelerSettings(), config.from_values({"labels.cpu.focus": focus}).labels)
    assert labeler.version == load("cpu").version + version


def test_a_wrong_focus_is_told() -> None:
    with pytest.raises(SettingsError, match=r"labels\.cpu\.focus"):
        config.from_values({"labels.cpu.focus": "both"})
    with pytest.raises(SettingsError, match=r"labels\.cpu\.focus"):
        config.from_values({"labels.cpu.focus": 1.5})


def test_what_is_set_stands_in_the_version_in_order() -> None:
    assert Conventions("include", "exclude").suffixes() == ["+comments=include", "+title=exclude"]
