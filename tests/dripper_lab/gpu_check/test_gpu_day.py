"""The commands that a GPU is lent for, on the CPU with tiny models: every step runs, writes what it
found as it ends, and is not run twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.tiny_base import write_base
from support.tiny_encoder import WHY_NOT, make_tokenizer
from support.tiny_lm import tokenizer_folder
from support.tiny_neuscraper import make_base

ROOT = Path(__file__).parents[3]
COMMANDS = ("laws", "encoder_rates", "lm_rates", "reader_0", "encoder")


def gpu_day(out: Path, *flags: str) -> tuple[int, dict[str, dict[str, object]]]:
    """Return the exit code, and what was found."""
    command = [sys.executable, str(ROOT / "benchmarks/gpu_day.py"), "--tiny", "--device", "cpu", "--out", str(out)]
    code = subprocess.run([*command, *flags], check=False, capture_output=True, timeout=3000).returncode
    return code, json.loads((out / "gpu_day.json").read_text())


def test_every_step_on_a_cpu(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    tokenizer_folder()
    write_base(tmp_path / "e5.bin")
    base = make_base(tmp_path / "base")
    make_tokenizer(base, cls_token="[CLS]", sep_token="[SEP]")
    flags = ["--reader-base", str(tmp_path / "e5.bin"), "--minilm", str(base)]
    out = tmp_path / "out"

    code, found = gpu_day(out, *flags, "--minutes", "0")
    assert code == 1
    assert [found["laws"]["code"], str(found["laws"]["said"])[:7]] == [None, "no time"]

    code, found = gpu_day(out, *flags, "--minutes", "600")
    logs = "".join((out / f"{name}.log").read_text()[-1500:] for name in found if found[name]["code"])
    assert (code, tuple(found)) == (0, COMMANDS), logs
    laws = [json.loads(line) for line in (out / "laws.jsonl").read_text().splitlines()]
    assert {line["differing"] for line in laws if line["precision"] == "float32"} == {0}
    rates = [json.loads(line) for line in (out / "encoder_rates.jsonl").read_text().splitlines()]
    assert [line["way"] for line in rates] == ["padded", "alone", "packed"]
    assert {line["labels_differing"] for line in rates} == {0}
    lm = json.loads((out / "lm_rates.jsonl").read_text())
    assert (lm["pages"], lm["labels_differing"]) == (2, 0)
    assert lm["labels_compared"] > 0
    assert lm["peak_gb"] > 0
    for name in ("reader_0", "encoder"):
        assert json.loads((out / name / "scores.json").read_text())

    before = (out / "laws.log").stat().st_mtime_ns
    assert gpu_day(out, *flags)[0] == 0
    assert (out / "laws.log").stat().st_mtime_ns == before, "what ended well is not run again"
