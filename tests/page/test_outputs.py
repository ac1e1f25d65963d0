"""Outputs that are not requested are not computed, and nothing else changes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dripper
from dripper.__main__ import main
from dripper.errors import SettingsError
from dripper.page.extraction import Extractor
from dripper.page.finish import Finisher
from dripper.page.rows import extraction_columns
from dripper.settings import ALL_OUTPUTS, OUTPUTS, Output, Settings
from support.labelled import labelled_pages

EMPTY = {"main_html": "", "markdown": "", "images": (), "posts": (), "metadata": None}


@pytest.mark.parametrize("left_out", OUTPUTS)
def test_an_output_that_is_left_out_is_empty_and_the_others_are_equal(left_out: Output) -> None:
    asked = [name for name in OUTPUTS if name != left_out]
    for page in labelled_pages()[:3]:
        whole, some = (dripper.extract(page.html, page.url, outputs=each) for each in (OUTPUTS, asked))
        expected = replace(whole, **{left_out: EMPTY[left_out]}, outputs=tuple(asked))
        if left_out == "markdown":
            expected = replace(expected, images=tuple(replace(image, place=None) for image in whole.images))
        if left_out == "posts":
            expected = replace(expected, comments=None)
        assert some == expected


@pytest.mark.parametrize("name", ["main_html", "markdown", "metadata"])
def test_an_output_alone_is_as_beside_the_others(name: Output) -> None:
    page = "<h1>Rain in Bergen</h1>" + 3 * "<p>It rained all day. <img src=rain.jpg alt=Rain width=600 height=400>"
    whole, alone = (dripper.extract(page, "https://a.example/b", outputs=each) for each in (OUTPUTS, [name]))
    assert whole.images
    assert getattr(alone, name) == getattr(whole, name)


def test_work_for_an_output_that_is_left_out_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Finisher, "_write_markdown", None)
    for name in ("find_page_posts", "cut_content"):
        monkeypatch.setattr(f"dripper.page.finish.{name}", lambda *_: ())
    monkeypatch.setattr("dripper.facts.metadata.read._find_published", None)
    assert Extractor(Settings(outputs=())).extract("<title>Rain</title><p>It rained all day.").title == "Rain"


def test_text_is_made_of_main_html() -> None:
    assert dripper.extract("<p>It rained all day.", outputs="text,metadata").text == "It rained all day."
    with pytest.raises(SettingsError, match="add it there"):
        _ = dripper.extract("<p>It rained all day.", outputs=["markdown"]).text


def test_rows_have_null_and_say_what_was_asked() -> None:
    extractor = Extractor(Settings(outputs=("markdown", "main_html")))
    row = extraction_columns(extractor.extract("<p>It rained all day."))
    null = ("images", "posts", "comments", "metadata", "published_date")
    assert {name for name in null if row[name] is not None} == set()
    assert None not in (row["markdown"], row["text_sha256"])
    assert extractor.versions["profile"] == "dripper (main_html, markdown)"


def test_schema_org_is_the_page_s_json_ld_if_it_is_named() -> None:
    scripts = (
        '[{"@type": "Recipe",}, 3]',
        '{"name": "Tea\nand milk"}',
        r'{"name": "\ud83d"}',
        "{",
        '{"x": NaN}',
        f'{{"a": "{"a" * 1_000_000}"}}',
    )
    page = "<p>It rained all day." + "".join(f'<script type="Application/LD+json">{each}</script>' for each in scripts)
    asked = dripper.extract(page, outputs=ALL_OUTPUTS)
    assert json.loads(asked.schema_org) == [{"@type": "Recipe"}, {"name": "Tea\nand milk"}, {"name": "\ufffd" * 3}]
    assert extraction_columns(asked)["schema_org"] == asked.to_dict()["schema_org"] == asked.schema_org
    unasked = dripper.extract(page)
    assert unasked == replace(asked, schema_org="", outputs=OUTPUTS)
    assert extraction_columns(unasked)["schema_org"] is unasked.to_dict()["schema_org"] is None


@pytest.mark.parametrize("outputs", [["markdwon"], "markdwon"])
def test_a_wrong_name_is_one_sentence(outputs: list[str] | str) -> None:
    with pytest.raises(SettingsError, match="markdwon"):
        dripper.extract("<p>a", outputs=outputs)
    with pytest.raises(SettingsError, match="write it there"):
        dripper.extract("<p>a", settings=Settings(), outputs=["text"])


@pytest.mark.parametrize("outputs", [5, [{"text": 1}], [["text"]]])
def test_another_type_is_one_sentence(outputs: Any) -> None:
    with pytest.raises(SettingsError, match="outputs"):
        dripper.extract("<p>a", outputs=outputs)


def test_the_command_makes_only_what_its_columns_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>Rain</title><p>It rained all day.")
    assert main(["extract", str(page), "--columns", "title,text,versions"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["title"], row["text"], row["versions"]["profile"]) == (
        "Rain",
        "It rained all day.",
        "dripper (main_html)",
    )
