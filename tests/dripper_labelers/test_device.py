"""PyTorch in the guard of single pages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.tiny_encoder import WHY_NOT, make_encoder

pytest.importorskip("torch", reason=WHY_NOT)

CODE = """
import sys
from dripper.guard import Guard, GuardLimits
from dripper.labels import load
from support.labelled import pages
labeler = load("encoder", model=sys.argv[1], device="cpu")
here = labeler.label(pages()[:1])[0].main.tolist()
with Guard(lambda page: labeler.label([page])[0].main.tolist(), GuardLimits(60, 90.0, 4 << 30)) as guard:
    assert guard.call(pages()[0]) == here
print("labelled")
"""


def test_a_guarded_page_is_labelled_after_one_that_was_not(tmp_path: Path) -> None:
    """With several threads: a child that waits for its parent's would run into its time limit."""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "PYTHONPATH": os.pathsep.join(sys.path)}
    model = make_encoder(tmp_path / "tiny", hidden_size=256, intermediate_size=1024)
    told = subprocess.run(
        [sys.executable, "-c", CODE, str(model)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=80,
        check=False,
    )
    assert told.stdout.strip() == "labelled", told.stderr
