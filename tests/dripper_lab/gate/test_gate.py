"""The gate as a command: it passes on this checkout, and each part of it can fail."""

from dataclasses import replace
from pathlib import Path

import pytest

import dripper
from dripper_lab import house
from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.images import ADDRESS, ShownTruth
from dripper_lab.gate import __main__ as gate
from dripper_lab.gate import scores
from dripper_lab.gate.bounds import read_bounds
from support.small_set import labelled, write_set

BOUNDS = gate.ROOT / gate.BOUNDS


def run(data: Path, *arguments: str) -> int:
    return gate.main(["--data", str(data), *arguments])


def only_title(page: LabelledPage, url: str | None) -> dripper.Extraction:
    return dripper.extract("<p>A title")


def write_bounds(folder: Path, text: str) -> str:
    """Bounds for a test. The bounds of the checkout are for `make gate`, which measures
    everything."""
    (folder / "bounds.toml").write_text(text)
    return str(folder / "bounds.toml")


def test_the_price_of_a_page_is_held_against_its_ceiling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bounds = write_bounds(tmp_path, "[ceilings.price]\nall = {functions = 1000, calls = 1000000, passes = 1000}\n")
    assert run(tmp_path, "--only", "price", "--bounds", bounds) == 1
    broken = [line for line in capsys.readouterr().out.splitlines() if line.startswith("BROKEN")]
    assert broken[0].startswith("BROKEN: price.dev-0412.functions is ")
    assert [line for line in broken if "price.all" in line] == [next(line for line in broken if "over 1000" in line)]


def test_a_labeler_that_keeps_titles_alone_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = write_bounds(tmp_path, "[floors.scores.repository]\nall = 0.7\n")
    assert run(tmp_path, "--only", "scores", "--bounds", bounds) == 0
    said = capsys.readouterr()
    assert "left out: scores on cleaneval-en, cleanportaleval, dragnet" in said.err
    assert "make gate DATA=FOLDER" in said.err
    monkeypatch.setattr(scores, "extract", only_title)
    assert run(tmp_path, "--only", "scores", "--bounds", bounds) == 1
    assert "BROKEN: scores.repository.all is 0" in capsys.readouterr().out


def test_lines_over_the_budget_are_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "long.py").write_text('"""Long."""\n\n' + "x = 1  # one\n" * 100_000)
    (tmp_path / "labels" / "lm").mkdir(parents=True)
    (tmp_path / "labels" / "lm" / "engine.py").write_text("x = 1\n# two\n\ny = 2\n")
    monkeypatch.setattr(house, "PRODUCT", tmp_path)
    assert run(tmp_path, "--only", "house") == 1
    said = capsys.readouterr().out
    assert "BROKEN: house.product is 100000, over" in said
    assert house.count_rooms(tmp_path) == {"page": 100_000, "labels/lm": 2}
    house.main()
    assert "100,000 lines of code in lib/dripper, and 2 for foreign weights" in capsys.readouterr().out


def test_a_file_of_bounds_that_cannot_be_read_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "floors.toml").write_text("floors")
    assert run(tmp_path, "--only", "house", "--bounds", str(tmp_path / "floors.toml")) == 2
    assert capsys.readouterr().err.startswith("gate: the file of floors and ceilings cannot be read")


def test_sets_and_kinds_of_enough_pages_have_a_figure(tmp_path: Path) -> None:
    pages = [*(labelled(number) for number in range(scores.FEWEST)), replace(labelled(99), page_type="forum")]
    figures = scores.average(pages)
    assert figures.keys() == {"scores.evaluation.all", "scores.evaluation.cleaneval-en", "scores.evaluation.article"}
    assert 0.9 < figures["scores.evaluation.article"] <= 1


def test_every_evaluation_set_has_to_be_there(tmp_path: Path) -> None:
    for name in scores.SAMPLE.keys() - {"web-kinds-evaluation"}:
        write_set(tmp_path, name, range(2))
    assert scores.missing_sets(tmp_path) == ["web-kinds-evaluation"]


MARKUP = (
    '<article><figure><img src="/a.png"><figcaption>A boat</figcaption></figure><p>Text</p><img src="/b.png"></article>'
)


@pytest.fixture
def shown() -> ShownTruth:
    return ShownTruth(replace(labelled(1), html=MARKUP.encode(), truth_html=MARKUP))


def test_images_and_captions_of_markup_are_counted(shown: ShownTruth) -> None:
    count = shown.count(MARKUP)
    assert (count["images"], count["right"], count["found"]) == (2, 2, 2)
    assert (count["captions"], count["told"], count["figures"], count["captioned"]) == (1, 1, 1, 1)


def test_lost_images_and_captions_are_seen(shown: ShownTruth) -> None:
    count = shown.count(f'<p>Text <img src="{ADDRESS.removesuffix("test/page.html")}b.png"><img src="/c.png"></p>')
    assert (count["right"], count["found"], count["told"], count["figures"]) == (1, 2, 0, 0)


def test_the_bounds_of_this_checkout_can_be_read() -> None:
    bounds = read_bounds(BOUNDS.read_text(encoding="utf-8"))
    assert {name.split(".")[0] for name in bounds.floors} == {"scores", "images"}
    assert {name.split(".")[0] for name in bounds.ceilings} == {"price", "house", "prose", "time"}
