"""Labelers that sleep on every page, so that runs are long enough to be killed."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dripper.labels import Labels, SimplifiedPage
from dripper.labels.entry import LabelerEntry
from support.stage_labelers import BLOCK, HashLabeler

PAUSE_SECONDS = 0.05


class SlowLabeler(HashLabeler):
    """Labels as HashLabeler does, 20 pages a second."""

    name = "slow"

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        time.sleep(PAUSE_SECONDS * len(pages))
        return super().label_simplified(pages)


class SlowTrueLabeler(SlowLabeler):
    """Knows that paragraphs of articles are main, as slowly."""

    name = "slow_true"

    def of(self, page: SimplifiedPage) -> Labels:
        return Labels.certain(np.array(["Paragraph" in part for part in BLOCK.split(page.simplified_html)[1:]]))


ENTRY = LabelerEntry(name="slow", load=lambda _: SlowLabeler(), fallback="body")
TRUE_ENTRY = LabelerEntry(name="slow_true", load=lambda _: SlowTrueLabeler(), fallback="body")


def registered(folder: Path) -> Path:
    """Write files to `folder` that register the labelers like an installed package, if it is on a
    process's path; return it."""
    told = folder / "slow_labeler-1.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-labeler\nVersion: 1\n")
    entries = {"slow": "ENTRY", "slow_true": "TRUE_ENTRY"}
    lines = [f"{name} = support.slow_labeler:{entry}\n" for name, entry in entries.items()]
    (told / "entry_points.txt").write_text("[dripper.labelers]\n" + "".join(lines))
    return folder
