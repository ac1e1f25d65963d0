from pathlib import Path

import pytest

from dripper_lab.evaluation.nodes import Counts, main, score_nodes, table
from support.small_set import fake, labelled, write_set


def _fail(task: object) -> str:
    raise ValueError("no such page")


def test_a_node_is_taken_where_the_text_holds_it() -> None:
    page = labelled(1)
    counts = score_nodes(
        [page],
        [
            fake("truth", lambda task: task.page.truth_text.replace(" ", "\n ")),
            fake("menu", lambda task: "rain fell on the old harbour while boats"),
            fake("fails", _fail),
        ],
    )
    assert (counts["truth"].recall, counts["truth"].main) == (1, 3)
    assert counts["truth"].precision < 1, "the menu's words stand in the story, too"
    assert counts["menu"].recall == 0
    assert counts["menu"].chosen == 8
    assert (counts["fails"].chosen, counts["fails"].f1) == (0, 0)


def test_figures_by_hand() -> None:
    counts = Counts()
    counts.add([True, True, False, False, False], [True, False, True, False, False])
    counts.add([True], [True])
    assert counts.accuracy == pytest.approx(4 / 6)
    assert (counts.precision, counts.recall, counts.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert table({"one": counts}).splitlines()[2] == "| one | 66.67 | 66.67 | 66.67 | 66.67 |"


def test_the_command_reads_data_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_set(tmp_path, "cleaneval-en", range(3))
    assert main(["--data", str(tmp_path), "--extractors", "dripper-cpu", "--sample", "2"]) == 0
    assert "| dripper-cpu | " in capsys.readouterr().out


def test_what_a_person_has_to_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--extractors", "dripper-cpu"]) == 2
    assert "no labelled pages in" in capsys.readouterr().err
    assert main(["--data", str(tmp_path), "--extractors", "nobody"]) == 2
    assert "unknown extractor 'nobody'" in capsys.readouterr().err
