"""The study's figures: the data of their boxes and bars, computed by hand, and the command."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper_lab.evaluation.benchmarks import study_figures
from dripper_lab.evaluation.benchmarks.study_figures import Scored, boxes, main, means, published_scores, scores_of_run
from dripper_lab.evaluation.benchmarks.wceb import Reference
from support.small_set import write_set

SCORES = [
    Scored("dragnet", "a", "Goose3", 0.2),
    Scored("dragnet", "b", "Goose3", 0.6),
    Scored("cetd", "c", "Goose3", 1.0),
    Scored("dragnet", "a", "BS4", 0.9),
]


def test_panels_of_simple_and_of_complex_pages() -> None:
    panels = boxes(SCORES, {("dragnet", "a"): 0.1, ("dragnet", "b"): 0.596})
    assert panels["all pages"] == {"BS4": [0.9], "Goose3": [0.2, 0.6, 1.0]}
    assert panels["low complexity"] == {"BS4": [0.9], "Goose3": [0.2]}
    assert panels["high complexity"] == {"Goose3": [0.6]}
    assert list(panels["all pages"]) == ["BS4", "Goose3"], "the best median first"


def test_bars_are_means_of_the_parts() -> None:
    bars = means(SCORES)
    assert list(bars) == ["BS4", "Goose3"]
    assert bars["Goose3"] == pytest.approx(((0.4 + 1) / 2, (0.3 + 1) / 2, (0.5 + 1) / 2))


def test_extractors_that_the_study_has_not_are_left_out() -> None:
    reference = Reference({}, {("dragnet", "crawl4ai"): {"a": 1.0}, ("dragnet", "go_domdistiller"): {"a": 0.5}})
    assert list(published_scores(reference)) == [Scored("dragnet", "a", "DOM Distiller", 0.5)]


def test_scores_of_a_run_are_of_its_pages_in_wceb(tmp_path: Path) -> None:
    reference = Reference({"dragnet": {"1": "a"}}, {})
    rows = [
        {"id": "1", "scores": {"goose3": {"wceb_f1": 0.5}, "cpu": {"wceb_f1": 1.0}, "bte": {"rouge5_words_f1": 1.0}}},
        {"id": "2", "scores": {"goose3": {"wceb_f1": 0.9}}},
    ]
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "dragnet.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(scores_of_run(tmp_path, reference)) == [Scored("dragnet", "a", "Goose3", 0.5)]
    with pytest.raises(InputError, match="no scores of WCEB's pages"):
        list(scores_of_run(tmp_path / "elsewhere", reference))


def test_the_command_draws_three_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra [eval]")
    write_set(tmp_path, "dragnet", range(8))
    _write_reference(tmp_path / "wceb_reference.tar.xz")
    assert main(["--data", str(tmp_path), "--output", str(tmp_path / "figures")]) == 0
    said = capsys.readouterr().out
    assert "| Goose3 | 0.350 | 0.175 to 0.525 | 0.350 |" in said
    assert "| dragnet | 8 |" in said
    assert "Median F1 of the baselines" not in said
    for number in (1, 2, 3):
        picture = (tmp_path / "figures" / f"figure-{number}.png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) > 5000


def test_what_a_person_has_to_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--output", str(tmp_path / "figures")]) == 2
    assert "wceb_reference.tar.xz" in capsys.readouterr().err
    assert not (tmp_path / "figures").exists()


def test_ensembles_and_baselines_have_colours_of_their_own() -> None:
    colours = {study_figures.colour_of(name) for name in ("(Best only)", "BS4", "Goose3")}
    assert len(colours) == 3


def _write_reference(path: Path) -> None:
    """Write the published files of eight pages, the minimum."""
    ids = {"dragnet": {f"hash{number}": str(number) for number in range(8)}}
    rows = "".join(f"dragnet,goose3,hash{number},{number / 10}\n" for number in range(8))
    with tarfile.open(path, "w:xz") as tar:
        for name, text in (
            ("wceb_page_ids_to_normalized.json", json.dumps(ids)),
            ("goose3__rouge_.csv", f"dataset,model,hash_key,f1\n{rows}"),
        ):
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
