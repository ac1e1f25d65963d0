from pathlib import Path

import pytest

from dripper_lab.evaluation.__main__ import main
from support.small_set import write_set


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_set(tmp_path / "data", "dragnet", range(3))
    return tmp_path / "data"


def test_report_of_two_extractors(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    arguments = ["--data", str(data), "--output", str(tmp_path / "report"), "--extractors", "trafilatura,beautifulsoup"]
    assert main([*arguments, "--metrics", "rouge5_words,word", "--sets", "evaluation"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'report' / 'report.html'}\n"
    assert "beautifulsoup" in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "no comparison with published scores" in caplog.text


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--sets", "dragon"], "no data set 'dragon'"),
        (["--metrics", "bleu"], "unknown metric 'bleu'"),
        (["--extractors", "gnu"], "unknown extractor 'gnu'"),
        (["--extractors", "gne,readability-lxml"], "add it to --extractors"),
        (["--labelers", "encoder"], "set labels.encoder.model to its folder"),
        (["--set", "labels.encoder.modle=x"], "did you mean labels.encoder.model"),
        (["--webmainbench", "absent.jsonl"], r"absent.jsonl: No such file"),
    ],
)
def test_wrong_usage_is_one_sentence(
    data: Path, tmp_path: Path, extra: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["--data", str(data), "--output", str(tmp_path / "report"), "--extractors", "gne,trafilatura", *extra])
        == 2
    )
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("dripper_lab.evaluation: ")
    assert message in error


def test_no_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path / "absent")]) == 2
    assert main(["--data", str(tmp_path)]) == 2
    assert "is not a folder" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["--data", str(tmp_path), "--sample", "0"])
