"""A labeler that needs a GPU, reports it, and labels nothing before another engine has one too, so
that two are active at once."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from pyspark import TaskContext

from dripper.errors import MachineError
from dripper.labels import Labels, SimplifiedPage
from dripper.labels.entry import LabelerEntry
from support.stage_labelers import HashLabeler

MEETING = "GPU_MEETING"
"""The variable that names the folder in which engines meet."""
MEETING_SECONDS = 180


class GpuLabeler(HashLabeler):
    """Its version is `container told visible GPU`: YARN's container, the task's GPU addresses,
    CUDA_VISIBLE_DEVICES, and which GPU that is by nvidia-smi."""

    name = "gpu"

    def __init__(self) -> None:
        context = TaskContext.get()
        assert context is not None
        told = ",".join(context.resources()["gpu"].addresses)
        visible = os.environ["CUDA_VISIBLE_DEVICES"]
        query = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
        devices = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()
        container = os.environ["CONTAINER_ID"]
        self.version = f"{container} {told} {visible} {devices[int(visible)]}"
        self._meeting = Path(os.environ[MEETING])
        (self._meeting / container).touch()

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        deadline = time.monotonic() + MEETING_SECONDS
        while len(list(self._meeting.iterdir())) < 2:
            if time.monotonic() > deadline:
                raise MachineError(f"no second engine has started in {MEETING_SECONDS} seconds")
            time.sleep(0.1)
        # Long enough for the other to get its share.
        time.sleep(1)
        return super().label_simplified(pages)


ENTRY = LabelerEntry(name="gpu", load=lambda _: GpuLabeler(), fallback="body", gpus=True, staged=True)
