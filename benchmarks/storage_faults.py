"""Faults of storage, injected: archives are read from a real S3 server through a proxy that misbehaves, and rows compared.

    python benchmarks/storage_faults.py --faults 1000 --seed 1

The proxy answers 503, 429, 500 and expired credentials, resets connections, stalls, ends bodies early, and gives wrong
lengths and ranges. Half of the faults meet S3's protocol, half plain HTTP. A file that gave up is read once more without
faults, as the next run would. Exit code 1 where any row differs.
"""

import argparse
import logging
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.fault_proxy import Fault, faulty, seeded
from support.storage_night import Night, faults_done, read, storage


def night(scheme: str, n_faults: int, share: float, seed: int) -> tuple[Counter[Fault], Night]:
    """Read archives until so many requests went wrong."""
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


def main() -> int:
    """Print faults by kind, rows compared and differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=1000, help="requests that go wrong, at least")
    parser.add_argument("--share", type=float, default=0.5, help="of requests that go wrong")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(seconds / 100)  # pauses are not what is compared, and a night of them is long
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
