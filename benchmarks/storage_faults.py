"""Reads archives from a real S3 server through a proxy that injects faults, and compares the rows.

    python benchmarks/storage_faults.py --faults 1000 --seed 1
    python benchmarks/storage_faults.py --job --faults 200

The proxy answers with 503, 429, 500 or expired credentials, resets connections, stalls, truncates
bodies, and sends wrong lengths and ranges. Half of the faults occur in the S3 protocol, half in
plain HTTP. If reading a file fails, it is read once more without faults, as in the next run. With
--job, jobs/run.py reads the archives, and is repeated until its exit code is 0. The rows of its
tables and its ledger are then compared with those of a run without faults. The exit code is 1 if
any row differs.
"""

import argparse
import logging
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.fault_proxy import Fault, faulty, seeded
from support.storage_job import Nights, nights
from support.storage_night import Night, faults_done, read, storage

ROOT = Path(__file__).parents[1]
FILES, PAGES = 24, 30
"""The number of files, and of pages per file, with --job."""


def night(scheme: str, n_faults: int, share: float, seed: int) -> tuple[Counter[Fault], Night]:
    """Read archives until `n_faults` requests have failed. Return the faults by kind, and the
    comparison."""
    kinds = tuple(fault for fault in Fault if scheme == "s3" or fault != Fault.EXPIRED)
    outcome = Night()
    with storage(8, 30) as (endpoint, keys), faulty(endpoint, lambda *_: None, seed) as proxy:
        true = {key: read(key, proxy.endpoint, scheme, 5, 2) for key in keys}
        while faults_done(proxy) < n_faults:
            for key in keys:
                proxy.choose = seeded(seed + outcome.files, share, kinds)
                got = read(key, proxy.endpoint, scheme, 0.25, 8)
                outcome.add(key, got, true[key])
                if got[1].error is not None:
                    proxy.choose = lambda *_: None
                    outcome.add(key, read(key, proxy.endpoint, scheme, 5, 2), true[key])
    return proxy.faults, outcome


def job(warcs: str, output: Path, settings: Sequence[str]) -> int:
    """Run jobs/run.py in a separate process, and return its exit code."""
    command = [sys.executable, str(ROOT / "jobs/run.py"), "--conf", str(ROOT / "conf/local.yml")]
    command += ["--warcs", warcs, "--output", str(output), "--set", "spark.master=local[2,4]"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3, 4):
        sys.exit(f"exit code {done.returncode}: {done.stderr[-3000:]}")
    return done.returncode


def job_nights(n_faults: int, share: float, seed: int) -> Nights:
    """Run the whole job, each time with a new output, until `n_faults` requests have failed."""
    whole = Nights()
    while whole.faults.total() < n_faults:
        by_chance = seeded(seed + len(whole.codes), share)
        # Only requests for archives fail. Without the list of archives, there would be no run.
        choose = lambda method, path, by_chance=by_chance: by_chance(method, path) if ".warc.gz" in path else None  # noqa: E731
        with tempfile.TemporaryDirectory() as name:
            told = nights(job, Path(name), FILES, PAGES, choose)
        whole.faults += told.faults
        whole.codes += told.codes
        whole.rows += told.rows
        whole.differences += told.differences
    return whole


def job_main(n_faults: int, share: float, seed: int) -> int:
    """Run the whole job with faults, and print the results. Return 1 if a row differs."""
    started = time.monotonic()
    told = job_nights(n_faults, share, seed)
    print(f"jobs/run.py: {told.faults.total()} faults in {time.monotonic() - started:.0f} s")
    for fault, count in sorted(told.faults.items()):
        print(f"  {count:5} {fault}")
    print(f"  exit codes of the runs, one after the other: {told.codes}")
    print(f"  {told.rows} rows of extractions and of the ledger compared; differences: {len(told.differences)}")
    for difference in told.differences[:20]:
        print(f"    {difference}")
    return 1 if told.differences else 0


def main() -> int:
    """Print faults by kind, the number of rows compared, and differences. Return 1 if a row
    differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=1000, help="requests that go wrong, at least")
    parser.add_argument("--share", type=float, default=0.5, help="of requests that go wrong")
    parser.add_argument("--job", action="store_true", help="the whole job with its tables, instead of reading alone")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    if arguments.job:
        return job_main(arguments.faults, arguments.share, arguments.seed)
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(seconds / 100)  # real pauses would take all night
    differences = 0
    for scheme in ("s3", "http"):
        started = time.monotonic()
        faults, outcome = night(scheme, arguments.faults // 2, arguments.share, arguments.seed)
        print(f"{scheme}: {sum(faults.values())} faults in {time.monotonic() - started:.0f} s")
        for fault, count in sorted(faults.items()):
            print(f"  {count:5} {fault}")
        failed = ", ".join(f"{count} {kind}" for kind, count in sorted(outcome.failed.items())) or "none"
        print(f"  {outcome.files} readings, {outcome.rows} rows compared; gave up with a reason: {failed}")
        print(f"  differences: {len(outcome.differences)}")
        for difference in outcome.differences[:20]:
            print(f"    {difference}")
        differences += len(outcome.differences)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
