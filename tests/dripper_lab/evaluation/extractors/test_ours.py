"""This project's own extractors, and the bounds."""

from pathlib import Path

import pytest

from dripper.errors import MachineError, UsageError
from dripper.settings import LabelsSettings
from dripper_lab.evaluation.extractors.base import Form, Standing, Task, choose, own_version, split_installed
from dripper_lab.evaluation.extractors.ours import LABELERS, default_labelers, list_own_extractors
from support.small_set import fake, half, labelled, page_html, truth

TASK = Task(labelled(3), page_html(3))


def text(name: str) -> str:
    from dripper_lab.evaluation.extractors.base import plain_text

    (extractor,) = [one for one in list_own_extractors() if one.name == name]
    return plain_text(extractor.load()(TASK))


def test_the_oracle_keeps_what_the_truth_holds() -> None:
    assert text("oracle").split() == truth(3).split()


def test_all_blocks_keep_the_page() -> None:
    assert "imprint" in text("all-blocks")
    assert set(truth(3).split()) <= set(text("all-blocks").split())


def test_the_product_runs_as_users_run_it() -> None:
    from dripper import extract
    from dripper_lab.evaluation.extractors.base import plain_text

    assert text("dripper-cpu") == plain_text(extract(page_html(3), url=TASK.page.url).main_html)


def test_kinds_names_versions() -> None:
    made = list_own_extractors(("cpu", "all"))
    assert [one.name for one in made] == ["dripper-cpu", "dripper-all", "oracle", "all-blocks"]
    assert {one.form for one in made} == {Form.HTML}
    assert [one.kind for one in made] == [Standing.OURS, Standing.OURS, Standing.BOUND, Standing.BOUND]
    assert {one.version for one in made} == {own_version()}


def test_outputs_of_other_settings_and_checkpoints_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")

    def version(**sections: dict[str, object]) -> str:
        labels = LabelsSettings.model_validate(sections)
        (one,) = [one for one in list_own_extractors(("vote:cpu,encoder",), labels) if one.kind is Standing.OURS]
        return one.version

    first = version(encoder={"model": str(tmp_path)})
    assert version() == version(cpu={"title": "auto"}) == own_version()
    assert first.startswith(f"{own_version()}-")
    assert len({first, version(cpu={"title": "include"}), version(encoder={"precision": "int8"})}) == 3
    (tmp_path / "config.json").write_text('{"trained": "again"}')
    assert version(encoder={"model": str(tmp_path)}) != first


def test_labelers_with_checkpoints_join_a_run_where_these_are_named() -> None:
    named = LabelsSettings.model_validate({"encoder": {"model": "folder"}, "neuscraper": {"model": ""}})
    assert default_labelers(named) == (*LABELERS, "encoder")
    assert default_labelers(LabelsSettings()) == LABELERS


def test_unknown_names_and_missing_packages() -> None:
    from dataclasses import replace

    there = fake("there", half)
    gone = replace(fake("gone", half), package="no-such-package-anywhere")
    with pytest.raises(UsageError, match=r"unknown extractor 'their'; there are: there, gone"):
        choose(["their"], {"there": there, "gone": gone})
    with pytest.raises(MachineError, match="pip install no-such-package-anywhere"):
        _ = gone.version
    assert split_installed([there, gone]) == ([there], ["gone"])
    assert choose(["gone", "there"], {"there": there, "gone": gone}) == [gone, there]
