"""Labelers by name."""

from collections.abc import Callable

import pytest

from dripper import doors
from dripper.errors import MachineError, SettingsError
from dripper.labels import load
from dripper.labels.registry import find_entry, labeler_settings, names, own_names, resolve_fallback, runs_staged
from dripper.settings import LabelerSettings, LabelsSettings


@pytest.mark.parametrize("name", sorted(name for name in own_names() if not find_entry(name).staged))
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
        ({"decoder": "fast"}, r"labels\.lm\.decoder='fast': input should be 'parallel' or 'fsm'"),
        ({"gpu_memory_share": 2.0}, r"labels\.lm\.gpu_memory_share=2\.0: input should be less than or equal to 1"),
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


@pytest.mark.parametrize(
    ("typo", "near"),
    [("cpi", "cpu"), ("trafilatur", "trafilatura"), ("al", "all"), ("unoin:cpu,all", "union")],
)
def test_a_typo_is_an_error_that_names_the_nearest(typo: str, near: str) -> None:
    with pytest.raises(SettingsError, match=f"no labeler '{typo}'; did you mean '{near}'"):
        load(typo)


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(
        SettingsError,
        match=r"no labeler 'xyz'.* There are: cpu, trafilatura, all, lm, web2text, encoder, reader, neuscraper, "
        r"vote:A,B,…, union:A,B,…",
    ):
        load("xyz")


@pytest.mark.parametrize("name", own_names())
def test_every_entry_has_the_name_it_is_found_by(name: str) -> None:
    assert find_entry(name).name == name
    assert name in names()


def test_what_is_not_set_is_as_the_entry_says() -> None:
    assert [name for name in own_names() if runs_staged(LabelerSettings(name=name))] == [
        "lm",
        "encoder",
        "neuscraper",
    ]
    assert runs_staged(LabelerSettings(name="cpu", staged=True))
    assert resolve_fallback(LabelerSettings(name="lm", fallback="body")) == "body"


def test_a_section_is_of_the_class_of_its_labeler() -> None:
    labels = LabelsSettings.model_validate({"cpu": {"title": "include"}})
    assert labeler_settings("cpu", labels).title == "include"
    assert labeler_settings("lm", labels).decoder == "parallel"


class Plugin:
    """The entry point in importlib.metadata of a package that registers a labeler."""

    value = "other_package.labeler:ENTRY"

    def __init__(self, name: str, loaded: object) -> None:
        self.name, self.loaded = name, loaded

    def load(self) -> object:
        if isinstance(self.loaded, Exception):
            raise self.loaded
        return self.loaded


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, object], None]:
    def install(name: str, loaded: object) -> None:
        found = Plugin(name, loaded)
        monkeypatch.setattr(doors, "entry_points", lambda group, name=found.name: [found] * (name == found.name))
        find_entry.cache_clear()

    return install


def test_a_package_that_registers_something_else_is_named(plugin: Callable[[str, object], None]) -> None:
    plugin("strange", object())
    with pytest.raises(
        MachineError, match=r"'strange' of the group dripper\.labelers is not a LabelerEntry of that name"
    ):
        load("strange")
    plugin("broken", ImportError("no torch"))
    with pytest.raises(
        MachineError, match=r"'broken' of other_package\.labeler:ENTRY cannot be loaded: ImportError: no torch"
    ):
        load("broken")
    with pytest.raises(SettingsError, match="no labeler 'brokn'; did you mean 'broken'"):
        load("brokn")
