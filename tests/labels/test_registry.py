"""Labelers by name."""

import pytest

from dripper.errors import SettingsError
from dripper.labels import load
from dripper.labels.registry import LABELERS


@pytest.mark.parametrize("name", sorted(set(LABELERS) - {"lm"}))
def test_every_name_loads_a_labeler_of_that_name(name: str) -> None:
    labeler = load(name)
    assert labeler.name == name
    assert labeler.version
    assert labeler.label([]) == []


def test_lm_without_a_model_says_what_to_set() -> None:
    with pytest.raises(SettingsError, match=r"set labels\.lm\.model to the folder of a checkpoint"):
        load("lm")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"modle": "x"}, r"unknown setting labels\.lm\.modle; did you mean labels\.lm\.model"),
        ({"decoder": "fast"}, r"labels\.lm\.decoder='fast': input should be 'parallel', 'fsm' or 'regex'"),
        ({"threshold": 1.0}, r"labels\.lm\.threshold=1\.0: input should be less than 1"),
    ],
)
def test_options_of_lm_are_its_settings(options: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        load("lm", **options)


def test_a_labeler_without_settings_takes_none() -> None:
    with pytest.raises(SettingsError, match="the labeler 'all' has no settings; given: model"):
        load("all", model="x")


def test_options_of_cpu_are_its_settings_and_stand_in_the_version() -> None:
    assert load("cpu", comments="auto").version == load("cpu").version
    assert load("cpu", comments="exclude", title="include").version.endswith("+comments=exclude+title=include")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"coments": "include"}, r"unknown setting labels\.cpu\.coments; did you mean labels\.cpu\.comments"),
        ({"title": "no"}, r"labels\.cpu\.title='no': input should be 'auto', 'include' or 'exclude'"),
    ],
)
def test_a_wrong_option_of_cpu_is_one_sentence(options: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        load("cpu", **options)


@pytest.mark.parametrize(("typo", "near"), [("cpi", "cpu"), ("trafilatur", "trafilatura"), ("al", "all")])
def test_a_typo_is_an_error_that_names_the_nearest(typo: str, near: str) -> None:
    with pytest.raises(SettingsError, match=f"no labeler '{typo}'; did you mean '{near}'"):
        load(typo)


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(SettingsError, match=r"no labeler 'xyz'.* There are: cpu, trafilatura, all, lm"):
        load("xyz")
