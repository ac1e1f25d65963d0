from pathlib import Path

import numpy as np
import pytest

from dripper_lab.evaluation.tokens import RAW, Load, flops, main, measure, stand_in, table
from support.small_set import labelled, write_set


def test_the_papers_equation() -> None:
    """Table 1: 3.206e13 FLOPs for the median page, which need not have the median lengths."""
    assert flops(np.array([31987.0]), np.array([675.0]))[0] == pytest.approx(3.206e13, rel=0.04)
    # L d (9 + 6 + 4) + L d² (3 + 2)
    assert flops(np.array([3.0]), np.array([2.0]))[0] == 28 * 1024 * 19 + 28 * 1024**2 * 5


def test_profiles_read_less_than_the_raw_page_and_write_a_label_a_block() -> None:
    loads, left_out = measure([labelled(number) for number in range(3)], stand_in)
    assert left_out == 0
    assert set(loads) == {RAW, "dripper", "paper", "mineru-1.1", "mineru-1.0"}
    assert (loads["paper"].read < loads[RAW].read).all()
    # {"1": "main", "2": "main", "3": "main"}: braces, commas, seven a block.
    assert loads["paper"].written.tolist() == [25, 25, 25]
    assert loads[RAW].written.tolist() == [stand_in(labelled(number).truth_text) for number in range(3)]


def test_shares_are_of_means_of_medians_and_by_page() -> None:
    raw, paper = np.array([10, 100, 1000]), np.array([10, 20, 100])
    out = np.array([1, 1, 1])
    lines = table({RAW: Load(raw, out), "paper": Load(paper, out)}).splitlines()
    assert [line.split(" | ")[2] for line in lines[4:7]] == ["11.71 % |", "20.00 % |", "43.33 % |"]


def test_the_command_prints_a_column_for_each_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_set(tmp_path, "cleaneval-en", range(4))
    assert main(["--data", str(tmp_path), "--sample", "3"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("3 pages of 1 sets, 0 left out; words, digits and signs in place of tokens")
    assert printed.splitlines()[2] == "| input | raw HTML | dripper | mineru-1.0 | mineru-1.1 | paper |"


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tokenizers")
    wrong = tmp_path / "tokenizer.json"
    wrong.write_text("{}")
    assert main(["--data", str(tmp_path), "--tokenizer", str(wrong)]) == 2
    assert f"--tokenizer {wrong} cannot be read" in capsys.readouterr().err
