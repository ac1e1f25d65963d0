"""Archives read through a storage that misbehaves, and the result of each compared with its real
contents."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING

import boto3
import pytest
from moto.server import ThreadedMotoServer

from dripper.settings import ReadSettings, S3Settings
from dripper.warc import FileReport, Record, read_records
from dripper.warc.read.record import Span
from support.archives import http, page, store, warc
from support.fault_proxy import FaultProxy

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BUCKET = "nights"
Reading = tuple[list[Record], FileReport]


@dataclass(slots=True)
class Night:
    """The results of a number of readings. differences: sentences; a failed file's rows must be the
    first of the true ones."""

    files: int = 0
    rows: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def add(self, path: str, got: Reading, true: Reading) -> None:
        """Compare the reading of a file with its real contents."""
        records, report = got
        self.files += 1
        self.rows += len(records)
        if report.error is not None:
            self.failed[str(report.error_kind)] += 1
            self.reasons.append(str(report.error))
            if records != true[0][: len(records)]:
                self.differences.append(f"{path} failed, and its rows are not the first of the true ones")
        elif records != true[0]:
            self.differences.append(f"{path}: {len(records)} rows are not the {len(true[0])} true ones")
        elif asdict(report) != asdict(true[1]):
            self.differences.append(f"{path}: {json.dumps(asdict(report))} is not {json.dumps(asdict(true[1]))}")


@contextmanager
def storage(n_files: int, n_pages: int) -> Iterator[tuple[str, list[str]]]:
    """Run a real S3 server with archives that anybody may read; yield its address and their
    keys."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    _connect(endpoint).create_bucket(Bucket=BUCKET)
    keys = [f"{number:03d}.warc.gz" for number in range(n_files)]
    for number, key in enumerate(keys):
        numbers = range(number * n_pages, (number + 1) * n_pages)
        records = [warc(f"http://e.org/{i}", http(page(i, 20_000))) for i in numbers]
        put(endpoint, key, store(records, "gzip").data)
    try:
        yield endpoint, keys
    finally:
        server.stop()


def put(endpoint: str, key: str, content: bytes) -> None:
    """Store an archive that anybody may read."""
    _connect(endpoint).put_object(Bucket=BUCKET, Key=key, Body=content, ACL="public-read")


def _connect(endpoint: str) -> "S3Client":
    return boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )


def read(
    key: str, endpoint: str, scheme: str, timeout_seconds: float, max_attempts: int, span: Span | None = None
) -> Reading:
    """Read one archive, or a span of it, through S3's protocol or plain HTTP; its contents have the
    same names for every endpoint."""
    s3 = S3Settings(
        endpoint_url=endpoint,
        region="us-east-1",
        anonymous=True,
        timeout_seconds=timeout_seconds,
        max_attempts=max_attempts,
    )
    path = f"s3://{BUCKET}/{key}" if scheme == "s3" else f"{endpoint}/{BUCKET}/{key}"
    reader = read_records(path, ReadSettings(s3=s3), span)
    return list(reader), reader.report


def faults_done(proxy: FaultProxy) -> int:
    """Return how many requests went wrong."""
    return sum(proxy.faults.values())


def leave_out_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a reader try again at once. Threads of other tests in this process go on sleeping, as
    without their sleeps they would take the interpreter for themselves."""
    clock = SimpleNamespace(time=time.time, sleep=lambda _: None)
    monkeypatch.setattr("dripper.warc.open.remote.time", clock)
