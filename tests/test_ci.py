"""The tiers of tests that .ci/run chooses for a change."""

import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
CHOOSE: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "choose.py"))
TIERS: tuple[str, ...] = CHOOSE["TIERS"]


@pytest.mark.parametrize(
    ("file", "tiers"),
    [
        ("lib/dripper_lab/train/cpu.py", ("lab",)),
        ("lib/dripper_lab/train/reader/optimise.py", ("lab", "vllm")),
        ("lib/dripper/labels/cpu/network.py", ("lab",)),
        ("lib/dripper/labels/lm/engine.py", ("lab", "vllm")),
        ("lib/dripper/blocks/segment.py", ("lab", "vllm")),
        ("lib/dripper/write/markdown/convert.py", ()),
        ("tests/write/test_text.py", ()),
        ("lib/dripper/spark/run/run.py", ("vllm",)),
        ("lib/dripper/spark/cli.py", ()),
        ("lib/dripper/spark/tables/store.py", ("lab", "runtimes")),
        ("lib/dripper/adapters/ray.py", ("adapters",)),
        ("docs/labels.md", ()),
        ("setup.py", TIERS),
        ("lib/dripper/settings.py", TIERS),
        ("tests/support/warcs.py", TIERS),
        ("lib/dripper/a_room_that_nobody_knows/page.py", TIERS),
        ("jobs/run.py", ()),
        ("jobs/evaluate.py", ("lab",)),
    ],
)
def test_a_file_needs_the_tiers_of_its_folder_and_an_unknown_one_all(file: str, tiers: tuple[str, ...]) -> None:
    assert CHOOSE["tiers_of"](file) == tiers


def choose(*arguments: str, base: str | None = None) -> "subprocess.CompletedProcess[str]":
    from os import environ

    mine = {key: value for key, value in environ.items() if key != "CI_BASE"} | ({"CI_BASE": base} if base else {})
    command = ["python3", str(ROOT / ".ci" / "choose.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=mine)


def test_before_a_release_all_tiers_run() -> None:
    told = choose("all")
    assert tuple(told.stdout.split()) == TIERS
    assert "all tiers" in told.stderr


def test_where_it_is_not_known_what_changed_what_is_left_out_is_said() -> None:
    told = choose(base="no-such-commit")
    assert told.stdout.split() == ["lab", "vllm"]
    assert "left out: runtimes adapters" in told.stderr


def test_it_is_said_what_was_chosen_and_what_was_left_out() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    told = choose(base="HEAD")
    assert re.search(r"^\d+ files changed; left out: ", told.stderr, re.MULTILINE)


def test_every_tier_is_a_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [tier for tier in TIERS if not re.search(rf"^test-{tier}:", makefile, re.MULTILINE)] == []
