"""Labelers by name."""

import pytest

from dripper.errors import SettingsError
from dripper.labels import load
from dripper.labels.registry import LABELERS


@pytest.mark.parametrize("name", sorted(LABELERS))
def test_every_name_loads_a_labeler_of_that_name(name: str) -> None:
    labeler = load(name)
    assert labeler.name == name
    assert labeler.version
    assert labeler.label([]) == []


@pytest.mark.parametrize(("typo", "near"), [("cpi", "cpu"), ("trafilatur", "trafilatura"), ("al", "all")])
def test_a_typo_is_an_error_that_names_the_nearest(typo: str, near: str) -> None:
    with pytest.raises(SettingsError, match=f"no labeler '{typo}'; did you mean '{near}'"):
        load(typo)


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(SettingsError, match=r"no labeler 'lm'.* There are: cpu, trafilatura, all"):
        load("lm")
