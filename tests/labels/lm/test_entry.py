"""The entry of the labeler `lm`, before it is loaded."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from dripper.errors import SettingsError
from dripper.labels import Use
from dripper.labels.lm.entry import LM
from dripper.labels.lm.settings import LmSettings


@pytest.mark.parametrize(
    ("settings", "stages", "words"),
    [
        (LmSettings(model="m"), (), r"stage of its own .*labels\.lm\.endpoint"),
        (LmSettings(), ("label",), r"needs a checkpoint: set labels\.lm\.model"),
    ],
)
def test_what_cannot_work_is_said_before_the_run(settings: LmSettings, stages: Sequence[str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        LM.check(settings, Use("dripper", stages))


@pytest.mark.parametrize("stages", [("preprocess",), ("extract",), ("preprocess", "label", "extract")])
def test_what_can_work_is_not_held_up(stages: Sequence[str]) -> None:
    assert not LM.check(LmSettings(model=("label" in stages and "owner/name") or ""), Use("dripper", stages))


def test_a_checkpoint_of_another_profile_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.labels.lm.checkpoint.foreign_profile", lambda model, profile: "mineru-1.1")
    settings = LmSettings(model="m")
    (warning,) = LM.check(settings, Use("dripper", ("preprocess",)))
    assert "profile mineru-1.1, and this run makes dripper: --set profile=mineru-1.1" in warning
    assert not LM.check(settings, Use("dripper", ("label",))), "pages are split by then"


def test_without_a_model_tokens_are_estimated() -> None:
    assert LM.count_tokens(LmSettings()) is None


def test_the_entry_loads_nothing_heavy(tmp_path: Path) -> None:
    heavy = ("vllm", "torch", "transformers", "pyspark")
    code = f"import sys; from dripper.labels.config import load; load(); print([name for name in {heavy} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
