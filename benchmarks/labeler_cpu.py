"""CPU time of the labeler `cpu` by stage and of `dripper.extract` as a whole, beside Trafilatura and rs-trafilatura (Rust) on the
same pages in the same run.

    python benchmarks/labeler_cpu.py --data DIR [--sets wcxb-dev ...] [--sample 60]

Every page goes through everything before the next page starts, so that a busy machine slows all alike. `dripper.extract` takes the
bytes and gives main HTML, Markdown and language; the peers take the decoded text and give plain text. Says nothing about quality,
nor about reading archives. Times are `process_time` of one thread: set OPENBLAS_NUM_THREADS=1.
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import numpy as np
import trafilatura

import dripper
from dripper.datasets import Role, names_with, read_pages
from dripper.html import preprocess
from dripper.labels.cpu import CpuLabeler
from dripper.labels.features import page_features
from dripper.warc import decode

Result = TypeVar("Result")
WARM_UP = 5
WHOLE = "dripper.extract"
TARGETS = {"trafilatura": 3.0, "rs-trafilatura": 1.5}
PEERS: dict[str, Callable[[str], object]] = {"trafilatura": trafilatura.extract}
# Not everywhere: see the Makefile.
with suppress(ModuleNotFoundError):
    PEERS["rs-trafilatura"] = import_module("rs_trafilatura").extract


def main(arguments: list[str]) -> int:
    """Time the stages and print means, medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--sets", nargs="+", default=names_with(Role.TRAIN_SHIPS))
    parser.add_argument("--sample", type=int, default=60, help="pages a set")
    options = parser.parse_args(arguments)
    labeler = CpuLabeler.load()
    # As page processes do (`dripper.guard`); else full collections walk over all that is imported, in whatever runs just then.
    gc.freeze()
    times: dict[str, list[float]] = {}
    blocks = []
    for data_set in options.sets:
        for labelled in read_pages(options.data, data_set, sample=options.sample):
            text = decode(labelled.html, labelled.content_type).text
            page = timed(times, "preprocess", lambda text=text: preprocess(text))
            timed(times, "features", lambda page=page: page_features(page))
            (labels,) = timed(times, "features + network + decoding", lambda page=page: labeler.label([page]))
            main_ids = [n for n, is_main in zip(page.item_ids, labels.main, strict=True) if is_main]
            timed(times, "prune", lambda page=page, main_ids=main_ids: page.prune(main_ids))
            timed(times, WHOLE, lambda one=labelled: dripper.extract(one.html))
            for peer, extract in PEERS.items():
                timed(times, peer, lambda extract=extract, text=text: extract(text))
            blocks.append(len(page.blocks))
    report(times, blocks, labeler.version)
    return 0


def timed(times: dict[str, list[float]], name: str, work: Callable[[], Result]) -> Result:
    """Run the work and note its CPU seconds."""
    started = time.process_time()
    result = work()
    times.setdefault(name, []).append(time.process_time() - started)
    return result


def report(times: dict[str, list[float]], blocks: list[int], weights: str) -> None:
    """Print milliseconds a page by stage, and the ratio to Trafilatura."""
    print(
        f"{len(blocks) - WARM_UP} pages, {np.mean(blocks):.0f} blocks a page; weights {weights}; numpy {np.__version__};"
    )
    print(", ".join(f"{name} {version(name)}" for name in PEERS) + "\n")
    print(f"{'CPU ms a page':32}{'mean':>8}{'median':>8}{'95 %':>8}")
    for name, seconds in times.items():
        ms = np.array(seconds[WARM_UP:]) * 1000
        print(f"{name:32}{ms.mean():8.1f}{np.median(ms):8.1f}{np.percentile(ms, 95):8.1f}")
    print(f"\n{'ratio of means':48}{'times':>7}{'target':>8}")
    for peer in PEERS:
        ratio = np.sum(times[peer][WARM_UP:]) / np.sum(times[WHOLE][WARM_UP:])
        print(f"{peer + ' / ' + WHOLE:48}{ratio:7.2f}{TARGETS[peer]:8.1f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
