"""The whole job over a storage that misbehaves, and its tables compared with a run on a reliable
storage."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from support.fault_proxy import Fault, faulty
from support.storage_night import BUCKET, storage
from support.torture import content, differences

Work = Callable[[str, Path, Sequence[str]], int]
"""Runs the job over an input into an output with settings, and returns its exit code."""


@dataclass(slots=True)
class Nights:
    """The outcome. codes: exit codes of the runs, until all was done."""

    faults: Counter[Fault] = field(default_factory=Counter)
    codes: list[int] = field(default_factory=list)
    rows: int = 0
    differences: list[str] = field(default_factory=list)


def nights(
    work: Work, folder: Path, n_files: int, n_pages: int, choose: Callable[[str, str], Fault | None], most_runs: int = 6
) -> Nights:
    """Run the job once without faults, and into another output with them until all is done; the
    last of `most_runs` has none.

    choose: as in `FaultProxy`, by the method and the path of a request.
    """
    told = Nights()
    with storage(n_files, n_pages) as (endpoint, _), faulty(endpoint, lambda *_: None) as proxy:
        settings = [f"reading.s3.{name}" for name in ("region=us-east-1", "anonymous=true", "max_attempts=8")]
        settings += [f"reading.s3.endpoint_url={proxy.endpoint}", "batch.files=4"]
        patient, hasty = ([*settings, f"reading.s3.timeout_seconds={seconds}"] for seconds in (20, 1))
        assert work(f"s3://{BUCKET}/", folder / "whole", patient) == 0
        for left in reversed(range(most_runs)):
            proxy.choose = choose if left else lambda *_: None
            told.codes.append(work(f"s3://{BUCKET}/", folder / "out", hasty if left else patient))
            if told.codes[-1] == 0:
                break
        told.faults = proxy.faults
    expected, got = content(folder / "whole"), content(folder / "out")
    told.rows = sum(map(len, got))
    told.differences = differences(expected, got)
    return told
