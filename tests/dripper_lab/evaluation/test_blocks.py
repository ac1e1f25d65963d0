from pathlib import Path

import numpy as np
import pytest

from dripper.blocks.page import Page
from dripper.labels.base import Labels
from dripper_lab.evaluation.blocks import main, score_blocks, table
from support.small_set import labelled, write_set

RECORD = Path(__file__).parents[2] / "data" / "webmainbench" / "record.jsonl"


class Everything:
    """Labels all blocks main."""

    name, version = "everything", "1"

    def label(self, pages: list[Page]) -> list[Labels]:
        return [Labels(np.ones(len(page.blocks), bool), np.ones(len(page.blocks), np.float32)) for page in pages]


def test_scores_are_of_blocks_and_of_each_page() -> None:
    scores = score_blocks([labelled(1), labelled(2)], {"everything": Everything()})
    assert [round(page.recall, 3) for page in scores["everything"]] == [1.0, 1.0]
    assert all(0 < page.precision <= 1 for page in scores["everything"])
    assert table(scores).splitlines()[2].startswith("| everything | 2 | ")


def test_the_command_reads_data_sets_and_webmainbench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_set(tmp_path, "cleaneval-en", range(3))
    assert main(["--data", str(tmp_path), "--labelers", "cpu", "--sample", "2"]) == 0
    assert "| cpu | 2 | " in capsys.readouterr().out
    assert main(["--webmainbench", str(RECORD), "--labelers", "cpu"]) == 0
    assert "| cpu | 1 | " in capsys.readouterr().out


def test_no_pages_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path)]) == 2
    assert "no labelled pages in" in capsys.readouterr().err
