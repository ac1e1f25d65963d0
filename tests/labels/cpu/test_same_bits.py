"""Labels are the same bits on every processor: tested by disabling features of this one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
DIGEST = """
import hashlib
from support.labelled import pages
from dripper.labels import load
digest = hashlib.sha256()
for labels in load("cpu").label(pages()):
    digest.update(labels.main.tobytes() + labels.probability.tobytes() + repr((labels.confidence, labels.page_kind)).encode())
print(digest.hexdigest())
"""


def digest_with(**environment: str) -> str:
    path = os.pathsep.join(str(ROOT / folder) for folder in ("lib", "tests"))
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DIGEST],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.fixture(scope="module")
def plain() -> str:
    return digest_with()


# Kernels of OpenBLAS for other processors; a name that it does not know, or that a machine cannot
# run, changes nothing.
@pytest.mark.parametrize("kernel", ["Prescott", "Haswell"])
def test_with_the_blas_of_another_processor(plain: str, kernel: str) -> None:
    assert digest_with(OPENBLAS_CORETYPE=kernel, OPENBLAS_NUM_THREADS="1") == plain


def test_with_numpy_without_its_vector_instructions(plain: str) -> None:
    found = np.show_config("dicts")["SIMD Extensions"]["found"]
    if not found:
        pytest.skip("numpy uses no optional vector instructions on this machine")
    assert digest_with(NPY_DISABLE_CPU_FEATURES=" ".join(found)) == plain
