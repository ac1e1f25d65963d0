"""Measures the CPU time of `dripper.extract` and of the `cpu` labeler's stages, and compares it
with Trafilatura and rs-trafilatura (Rust) on the same pages.

    python benchmarks/labeler_cpu.py --data DIR [--sets wcxb-dev ...] [--pages 500]

The pages are drawn at random from all pages of the sets. The extractors take turns in batches of 25
pages. That way, load on the machine slows all of them equally, and an extractor rarely finds the
processor's caches filled by another one, as is normal in practice. (With batches of one page,
`dripper.extract` takes a tenth longer, and the others 2 %.) All extractors receive decoded text;
`dripper.extract` returns main HTML, Markdown and language, the others plain text. `dripper.extract`
on bytes, as the job calls it, and the stages are timed separately on the same pages. Neither
quality nor the reading of archives is measured. Times are `process_time` of one thread: set
OPENBLAS_NUM_THREADS=1.
"""

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import trafilatura

import dripper
from dripper.html import preprocess, prune_page
from dripper.labels.cpu.arithmetic import IN_C
from dripper.labels.cpu.features.page_features import compute_features
from dripper.labels.cpu.labeler import CpuLabeler
from dripper.warc import decode
from dripper_lab.datasets import LabelledPage, Role, names_with, read_pages

Input = TypeVar("Input")
Result = TypeVar("Result")
Times = dict[str, list[float]]
BATCH = 25
WHOLE, FROM_BYTES = "dripper.extract", "dripper.extract from bytes"
TARGETS = {"trafilatura": 3.0, "rs-trafilatura": 1.5}
PEERS: dict[str, Callable[[str], object]] = {"trafilatura": trafilatura.extract}
# rs-trafilatura is not available on all platforms; see the Makefile.
with suppress(ModuleNotFoundError):
    PEERS["rs-trafilatura"] = import_module("rs_trafilatura").extract
SIZES = (0, 50_000, 100_000, 200_000, 400_000, sys.maxsize)
"""The bounds of the size groups in the output, in bytes as served."""


def main(arguments: list[str]) -> int:
    """Time the stages and print means, medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--sets", nargs="+", help="default: all of --data that labelers are trained on")
    parser.add_argument("--pages", type=int, default=500, help="drawn from all pages of the sets")
    options = parser.parse_args(arguments)
    sets = options.sets or names_with(Role.TRAIN_SHIPS, folder=options.data)
    pages = [page for data_set in sets for page in read_pages(options.data, data_set)]
    pages = random.Random(0).sample(pages, min(options.pages, len(pages)))
    labeler = CpuLabeler.load()
    time_whole({}, pages[:BATCH])  # warms up
    # Page processes do the same (`dripper.guard`). Otherwise, full garbage collections would scan
    # all imported objects, and add that time to a random extractor.
    gc.freeze()
    times: Times = {}
    for start in range(0, len(pages), BATCH):
        time_whole(times, pages[start : start + BATCH])
    blocks = [time_stages(times, page, labeler) for page in pages]
    report(times, pages, blocks, labeler.version)
    return 0


def time_whole(times: Times, pages: Sequence[LabelledPage]) -> None:
    """Run `dripper.extract` and then each other extractor over the decoded pages. Finally, run
    `dripper.extract` over the pages' bytes."""
    texts = [decode(page.html, page.content_type).text for page in pages]
    for name, extract in {WHOLE: dripper.extract, **PEERS}.items():
        for text in texts:
            timed(times, name, extract, text)
    for page in pages:
        timed(times, FROM_BYTES, dripper.extract, page.html)


def time_stages(times: Times, labelled: LabelledPage, labeler: CpuLabeler) -> int:
    """Time each stage on a page. Return the page's number of blocks."""
    page = timed(times, "preprocess", preprocess, decode(labelled.html, labelled.content_type).text)
    timed(times, "features", compute_features, page)
    (labels,) = timed(times, "features + network + decoding", labeler.label, [page])
    timed(times, "prune", partial(prune_page, page), (np.flatnonzero(labels.main) + 1).tolist())
    return len(page.blocks)


def timed(times: Times, name: str, work: Callable[[Input], Result], argument: Input) -> Result:
    """Return the result of `work(argument)`, and add its CPU seconds to `times`."""
    started = time.process_time()
    result = work(argument)
    times.setdefault(name, []).append(time.process_time() - started)
    return result


def report(times: Times, pages: Sequence[LabelledPage], blocks: Sequence[int], weights: str) -> None:
    """Print the milliseconds per page of each stage, and the ratios of the other extractors' times
    to ours, also by set and by size."""
    print(f"{len(blocks)} pages, {np.mean(blocks):.0f} blocks a page; weights {weights}; numpy {np.__version__};")
    print("with the modules in C" if IN_C else "without the modules in C", end="; ")
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
        name = f"{low // 1000} to {high // 1000} KB" if high < sys.maxsize else f"over {low // 1000} KB"
        show(times, name, (low <= sizes) & (sizes < high), sizes)


def show(times: Times, name: str, chosen: np.ndarray, sizes: np.ndarray) -> None:
    """Print a line with the other extractors' times on the chosen pages, as multiples of the time
    of `dripper.extract`."""
    if chosen.any():
        ratios = (np.array(times[peer])[chosen].sum() / np.array(times[WHOLE])[chosen].sum() for peer in PEERS)
        line = f"{name:32}{chosen.sum():8}{sizes[chosen].mean() / 1000:8.0f}"
        print(line + "".join(f"{ratio:16.2f}" for ratio in ratios))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
