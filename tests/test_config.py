"""Settings: layers, and errors that name the nearest key."""

from pathlib import Path

import pytest
import yaml

import dripper
from dripper.__main__ import main
from dripper.errors import SettingsError
from dripper.labels.config import keys, load

CONF = Path(__file__).parents[1] / "conf"


def test_later_layers_win(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yml", tmp_path / "b.yml"
    first.write_text("limits: {page_cpu_seconds: 5, page_memory_bytes: 70000000}\n")
    second.write_text("limits: {page_cpu_seconds: 6}\n")
    settings = load([first, second], ["limits.page_memory_bytes=80000000"])
    assert (settings.limits.page_cpu_seconds, settings.limits.page_memory_bytes) == (6, 80_000_000)


def test_base_yml_is_what_dripper_settings_prints(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """After a change of a setting or its docstring: dripper settings > conf/base.yml."""
    assert main(["settings"]) == 0
    assert capfdbinary.readouterr().out.decode() == (CONF / "base.yml").read_text(encoding="utf-8")


def test_dripper_settings_prints_every_setting_with_its_default() -> None:
    assert load([CONF / "base.yml"]) == load()
    written = yaml.safe_load((CONF / "base.yml").read_text())
    for key in keys():
        section = written
        for part in key.split("."):
            assert part in section, f"{key} is missing in conf/base.yml"
            section = section[part]


def test_settings_of_a_closed_list_name_it_and_inherited_ones_say_what_they_mean() -> None:
    text = (CONF / "base.yml").read_text()
    assert "# One of keep, text.\n  links: keep\n" in text
    assert text.count("# auto: a GPU if there is one.\n") == 1


@pytest.mark.parametrize("file", sorted(CONF.rglob("*.yml")), ids=lambda file: file.name)
def test_every_settings_file_loads(file: Path) -> None:
    if "databricks" in file.parts:
        pytest.skip("a bundle's resource file, not settings")
    load([file])


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("limits.page_cpu_second=5", "unknown setting limits.page_cpu_second; did you mean limits.page_cpu_seconds?"),
        ("limit.page_cpu_seconds=5", "unknown setting limit.page_cpu_seconds; did you mean limits.page_cpu_seconds?"),
        ("fallback=body", "did you mean labeler.fallback?"),
        ("lables.cpu.title=auto", "did you mean labels.cpu.title?"),
        (
            "labels.cpu.processes=2",
            "unknown setting labels.cpu.processes; known are labels.cpu.comments, labels.cpu.title",
        ),
        ("html.keep=.article", "setting html.keep='.article': input should be a list, such as [a, b]"),
        ("reading.page_bytes=many", "setting reading.page_bytes='many': input should be a valid integer"),
        ("reading.page_bytes=3", "greater than or equal to 1024"),
        ("labeler.fallback=guess", "'trafilatura', 'body' or 'empty'"),
        ("labeler=cpu", "is a section: set one of labeler.name, labeler.escalate_below"),
        ("reading.page_bytes", "write key=value"),
        ("=3", "write key=value"),
        ("xyzzy=1", "known are profile, "),
    ],
)
def test_a_typo_gives_one_sentence(assignment: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(assignments=[assignment])
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("- a\n", "must hold `key: value` lines"),
        ("a: [\n", "is not YAML"),
        ("\x00", "is not YAML"),
        ("a: [\n", "at line 2, column 1"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "bad.yml"
    file.write_text(content)
    with pytest.raises(SettingsError, match=r"bad\.yml") as caught:
        load([file])
    assert words in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yml: No such file"):
        load([tmp_path / "nowhere.yml"])


def test_spark_properties_keep_their_dots_and_become_text() -> None:
    settings = load(assignments=["spark.properties.spark.ui.enabled=false", "spark.properties.spark.cores.max=4"])
    assert settings.spark.properties == {"spark.ui.enabled": "false", "spark.cores.max": "4"}


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.yml").write_text("# nothing\n")
    assert load([tmp_path / "empty.yml"]) == load()


def test_the_threshold_of_a_chain_is_an_option_of_extract() -> None:
    extraction = dripper.extract("<p>It rained all day.", labeler="cpu,trafilatura", escalate_below=0.0)
    assert extraction.method == "cpu"
    with pytest.raises(SettingsError, match=r"labeler\.escalate_below.*cpu,reader"):
        dripper.extract("<p>It rained all day.", labeler="cpu", escalate_below=0.9)
