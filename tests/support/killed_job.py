"""A staged run to be killed in the stage `label`: two cores, an engine that reports its place and
then waits.

Arguments: WARC files, an output folder, the file in which the engine writes its process id, and a
checkpoint for the labeler lm or nothing.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dripper.labels import Labels, SimplifiedLabeler, SimplifiedPage
from dripper.labels.config import load
from dripper.labels.engine import load_labeler
from dripper.labels.registry import labeler_settings
from dripper.settings import Settings
from dripper.spark import cli
from dripper.spark.run.run import run
from support.stage_labelers import HashLabeler

ROOT = Path(__file__).parents[2]


class SlowLabeler(HashLabeler):
    """Long enough at work to be killed there."""

    def __init__(self, told: Path, engine: SimplifiedLabeler | None = None) -> None:
        self.told = told
        self.engine = engine

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        # Complete when it is there at all.
        begun = self.told.with_suffix(".begun")
        begun.write_text(str(os.getpid()))
        begun.rename(self.told)
        time.sleep(600)
        return super().label_simplified(pages)


def load_slow(settings: Settings) -> HashLabeler:
    """In the worker; the driver only looks whether there is such a labeler."""
    lm = labeler_settings("lm", settings.labels)
    engine = load_labeler(settings) if lm.model else None
    if engine is not None:
        engine.label_simplified([SimplifiedPage('<html><body><p _item_id="1">One.</p></body></html>', 1)])
    return SlowLabeler(Path(lm.prompt_folder), engine)


def main(archives: str, output: str, told: str, model: str) -> int:
    """Run until killed; 3, the jobs' exit code, if the run ends early."""
    fixed = ["spark.master=local[2]", "labeler.staged=true", f"labeler.name={'lm' if model else 'all'}"]
    fixed += [f"labels.lm.model={model}", "labels.lm.dtype=float32"]
    settings = load([ROOT / "conf" / "local.yml"], [*fixed, f"labels.lm.prompt_folder={told}"])
    with cli.session(settings) as spark:
        outcome = run(spark, archives, output, settings, loader=load_slow)
        sys.stdout.write("\n".join(outcome.complaints))
    return 3 if outcome.complaints else 0


if __name__ == "__main__":
    sys.exit(cli.run_guarded(lambda: main(*sys.argv[1:])))
