"""CPU time of the labeler `cpu` by stage and of `dripper.extract` as a whole, beside Trafilatura and rs-trafilatura (Rust) on the
same pages in the same run.

    python benchmarks/labeler_cpu.py --data DIR [--sets wcxb-dev ...] [--pages 500]

The pages are drawn from all pages of the sets. They go through one thing after the other in batches of 25: a busy machine slows all
alike, and none of them starts every page with the others' data in the processor's caches, as nobody runs two extractors in turn
(with batches of one page `dripper.extract` takes a tenth longer, the others 2 %). `dripper.extract` takes the bytes and gives main
HTML, Markdown and language; the peers take the decoded text and give plain text. Says nothing about quality, nor about reading
archives. Times are `process_time` of one thread: set OPENBLAS_NUM_THREADS=1.
"""

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import trafilatura

import dripper
from dripper.datasets import LabelledPage, Role, names_with, read_pages
from dripper.guard import COLLECT_AFTER
from dripper.html import preprocess
from dripper.labels.cpu import CpuLabeler
from dripper.labels.features import page_features
from dripper.warc import decode

Input = TypeVar("Input")
Result = TypeVar("Result")
Times = dict[str, list[float]]
BATCH = 25
WHOLE = "dripper.extract"
TARGETS = {"trafilatura": 3.0, "rs-trafilatura": 1.5}
PEERS: dict[str, Callable[[str], object]] = {"trafilatura": trafilatura.extract}
# Not everywhere: see the Makefile.
with suppress(ModuleNotFoundError):
    PEERS["rs-trafilatura"] = import_module("rs_trafilatura").extract
SIZES = (0, 50_000, 100_000, 200_000, 400_000, sys.maxsize)
"""Bytes, as served: bounds of the groups that are shown by themselves."""


def main(arguments: list[str]) -> int:
    """Time the stages and print means, medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--sets", nargs="+", default=names_with(Role.TRAIN_SHIPS))
    parser.add_argument("--pages", type=int, default=500, help="drawn from all pages of the sets")
    options = parser.parse_args(arguments)
    pages = [page for data_set in options.sets for page in read_pages(options.data, data_set)]
    pages = random.Random(0).sample(pages, min(options.pages, len(pages)))
    labeler = CpuLabeler.load()
    time_batch({}, pages[:BATCH], labeler)  # warms up
    # As page processes do; else full collections walk over all that is imported, in whatever runs just then.
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    times: Times = {}
    starts = range(0, len(pages), BATCH)
    blocks = [n for start in starts for n in time_batch(times, pages[start : start + BATCH], labeler)]
    report(times, pages, blocks, labeler.version)
    return 0


def time_batch(times: Times, pages: Sequence[LabelledPage], labeler: CpuLabeler) -> list[int]:
    """Run everything over the pages, one thing after the other; return how many blocks each has."""
    texts = [decode(page.html, page.content_type).text for page in pages]
    blocks = time_stages(times, texts, labeler)
    timed(times, WHOLE, lambda page: dripper.extract(page.html), pages)
    for peer, extract in PEERS.items():
        timed(times, peer, extract, texts)
    return blocks


def time_stages(times: Times, texts: Sequence[str], labeler: CpuLabeler) -> list[int]:
    """Run the stages over the pages; return how many blocks each has.

    By itself, so that what it makes is gone before anything else runs: collections of garbage would walk over it.
    """
    split = timed(times, "preprocess", preprocess, texts)
    timed(times, "features", page_features, split)
    labels = timed(times, "features + network + decoding", lambda page: labeler.label([page])[0], split)
    main_ids = [(np.flatnonzero(each.main) + 1).tolist() for each in labels]
    timed(times, "prune", lambda both: both[0].prune(both[1]), list(zip(split, main_ids, strict=True)))
    return [len(page.blocks) for page in split]


def timed(times: Times, name: str, work: Callable[[Input], Result], inputs: Iterable[Input]) -> list[Result]:
    """Run the work on each input and note its CPU seconds."""
    results = []
    for each in inputs:
        started = time.process_time()
        results.append(work(each))
        times.setdefault(name, []).append(time.process_time() - started)
    return results


def report(times: Times, pages: Sequence[LabelledPage], blocks: Sequence[int], weights: str) -> None:
    """Print milliseconds a page by stage, and the ratios to the peers, by set and by size too."""
    print(f"{len(blocks)} pages, {np.mean(blocks):.0f} blocks a page; weights {weights}; numpy {np.__version__};")
    print(", ".join(f"{name} {version(name)}" for name in PEERS) + "\n")
    print(f"{'CPU ms a page':32}{'mean':>8}{'median':>8}{'95 %':>8}")
    for name, seconds in times.items():
        ms = np.array(seconds) * 1000
        print(f"{name:32}{ms.mean():8.1f}{np.median(ms):8.1f}{np.percentile(ms, 95):8.1f}")
    print(f"\n{'times as long as dripper.extract':32}{'pages':>8}{'KB':>8}" + "".join(f"{peer:>16}" for peer in PEERS))
    sizes = np.array([len(page.html) for page in pages])
    sets = np.array([page.data_set for page in pages])
    print(f"{'the target':48}" + "".join(f"{TARGETS[peer]:16.1f}" for peer in PEERS))
    show(times, "all", np.ones(len(pages), bool), sizes)
    for data_set in sorted(set(sets)):
        show(times, data_set, sets == data_set, sizes)
    for low, high in pairwise(SIZES):
        show(times, f"from {low // 1000} KB on", (low <= sizes) & (sizes < high), sizes)


def show(times: Times, name: str, chosen: np.ndarray, sizes: np.ndarray) -> None:
    """Print one line: how many times as long as `dripper.extract` the peers take for the chosen pages."""
    if chosen.any():
        ratios = (np.array(times[peer])[chosen].sum() / np.array(times[WHOLE])[chosen].sum() for peer in PEERS)
        line = f"{name:32}{chosen.sum():8}{sizes[chosen].mean() / 1000:8.0f}"
        print(line + "".join(f"{ratio:16.2f}" for ratio in ratios))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
