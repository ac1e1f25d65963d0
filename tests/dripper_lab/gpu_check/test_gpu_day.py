"""The commands for a borrowed GPU, on the CPU with tiny models: every step runs, writes its
findings as it ends, and is not run twice; a stopped run leaves nothing behind."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.processes import of_session, parent, require_proc, wait_for
from support.tiny_base import write_base
from support.tiny_encoder import WHY_NOT, make_tokenizer
from support.tiny_lm import tokenizer_folder
from support.tiny_neuscraper import make_base

ROOT = Path(__file__).parents[3]
COMMANDS = ("laws", "encoder_rates", "lm_rates", "reader_0", "encoder")


def gpu_day(out: Path, *flags: str) -> tuple[int, dict[str, dict[str, object]]]:
    """Run `make gpu-day`; return the exit code and the findings."""
    told = [f"GPU_DAY_PYTHON={sys.executable}", f"GPU_DAY={out}"]
    told.append(f"GPU_DAY_FLAGS={shlex.join(['--tiny', '--device', 'cpu', *flags])}")
    ended = subprocess.run(["make", "gpu-day", *told], cwd=ROOT, check=False, capture_output=True, timeout=3000)
    return int(ended.returncode > 0), json.loads((out / "gpu_day.json").read_text())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
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


NAPS = """
import sys
import gpu_day
out, step = sys.argv[1], "import subprocess; subprocess.run(['sleep', '600'])"
gpu_day.plan = lambda _: [gpu_day.Step("naps", 0.01, [gpu_day.Command(f"nap_{n}", ["-c", step]) for n in range(2)])]
sys.exit(gpu_day.main(["--out", out, *sys.argv[2:]]))
"""
"""A day with two commands at once, and each has started a process."""


def start_naps(out: Path, *flags: str) -> subprocess.Popen[bytes]:
    """Start such a day."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "benchmarks")}
    return subprocess.Popen([sys.executable, "-c", NAPS, str(out), *flags], env=environment)


def started_by(process: int) -> list[int]:
    """Return the leaders of the sessions that a process has started."""
    entries = (entry.name for entry in Path("/proc").iterdir() if entry.name.isdecimal())
    return [one for one in map(int, entries) if parent(one) == process and len(of_session(one)) == 2]


@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_day_that_is_stopped_ends_what_it_has_started(tmp_path: Path, signal_: signal.Signals) -> None:
    require_proc()
    day = start_naps(tmp_path)
    naps = wait_for(lambda: len(found := started_by(day.pid)) == 2 and found, 30)
    assert naps
    day.send_signal(signal_)
    assert day.wait(30) not in (0, None)
    assert not any(of_session(nap) for nap in naps)
    assert not (tmp_path / "gpu_day.json").exists(), "what was stopped is run again"


def test_a_day_whose_time_is_over_ends_what_it_has_started(tmp_path: Path) -> None:
    require_proc()
    day = start_naps(tmp_path, "--minutes", "0.1")
    naps = wait_for(lambda: len(found := started_by(day.pid)) == 2 and found, 30)
    assert naps
    assert day.wait(60) == 1
    assert not any(of_session(nap) for nap in naps)
    found = json.loads((tmp_path / "gpu_day.json").read_text())
    assert [one["code"] for one in found.values()] == [-signal.SIGKILL] * 2
