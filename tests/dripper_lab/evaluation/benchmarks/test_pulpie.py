import json
from pathlib import Path

import numpy as np
import pytest

from dripper.errors import InputError
from dripper_lab.evaluation.benchmarks.pulpie import (
    FALLBACK,
    PUBLISHED,
    PublishedScores,
    levels_of,
    main,
    means_by_level,
    published_lines,
    read_published,
)


def test_the_published_figures_come_back(shared: Path) -> None:
    scores = read_published(shared / "data")
    lines = {line.method: line for line in published_lines(scores, draws=200)}
    assert len(scores.pages) == 6647
    for method, (f1, empty) in PUBLISHED.items():
        assert (round(lines[method].f1.value, 3), lines[method].empty) == (f1, empty)
    assert round(lines[FALLBACK].f1.value, 3) == 0.876
    small = lines["pulpie-small"].gain
    assert round(small.value, 3) == -0.002
    assert not small.excludes_zero
    assert lines["pulpie-large"].gain.excludes_zero


def test_by_level_pages_are_found_by_their_number(tmp_path: Path) -> None:
    file = tmp_path / "bench.jsonl"
    file.write_text("".join(json.dumps({"meta": {"level": level}}) + "\n" for level in ("mid", "hard", "hard", None)))
    f1, empty = {"dripper": np.array([0.5, 1.0, 0.0])}, {"dripper": np.zeros(3, bool)}
    assert means_by_level(PublishedScores([0, 1, 2], f1, empty), levels_of(file)) == {
        "dripper": {"mid": 0.5, "hard": 0.5}
    }
    with pytest.raises(InputError, match="number pages up to 9, the file has 4 records"):
        means_by_level(PublishedScores([0, 1, 9], f1, empty), levels_of(file))


def test_a_folder_without_scores_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path)]) == 2
    assert "pulpie_webmainbench_scores.tar.xz cannot be read" in capsys.readouterr().err
