"""A labeler that takes its time over every page and needs no core for it, so that runs are long
enough to be killed."""

import time
from collections.abc import Sequence
from pathlib import Path

from dripper.labels import Labels, SimplifiedPage
from dripper.labels.entry import LabelerEntry
from support.stage_labelers import HashLabeler

PAUSE_SECONDS = 0.05


class SlowLabeler(HashLabeler):
    """Labels as HashLabeler does, 20 pages a second."""

    name = "slow"

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        time.sleep(PAUSE_SECONDS * len(pages))
        return super().label_simplified(pages)


ENTRY = LabelerEntry(name="slow", load=lambda _: SlowLabeler(), fallback="body")


def registered(folder: Path) -> Path:
    """Make of `folder` what, on a process's path, registers the labeler as an installed package
    would; return it."""
    told = folder / "slow_labeler-1.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-labeler\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[dripper.labelers]\nslow = support.slow_labeler:ENTRY\n")
    return folder
