"""The decoders of the labeler `lm` on one engine each: forward passes, tokens, CPU seconds, and whether the labels are the same.

    python benchmarks/lm_decoders.py --data DIR [--pages 300] [--model FOLDER] [--decoders fsm parallel regex]

Without --model it makes a tiny random Qwen3 (3 layers, hidden size 128, the real tokenizer and vocabulary), whose labels hang
on each other at random: what a trained model's passes are, it cannot say, nor seconds but by their ratio. In float32 labels
can be compared one by one; other types differ by rounding. The first decoder is what the others are held against. Pages go
through in batches; a pass over a page counts once a page. Says nothing about quality.
"""

import argparse
import gc
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from dripper.datasets import Role, names_with, read_pages
from dripper.html import preprocess
from dripper.labels import Labels, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.engine import engine_version
from dripper.warc import decode
from tiny_lm import make_checkpoint


def main(arguments: list[str]) -> int:
    """Label the pages with every decoder and print the figures; 1 where a label differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--batch", type=int, default=32, help="pages in flight")
    parser.add_argument("--model", type=Path, help="a checkpoint instead of a random one")
    parser.add_argument("--dtype", default="float32", choices=("auto", "float32", "bfloat16", "float16"))
    parser.add_argument("--answer", default="auto", choices=("auto", "json", "compact", "tagged"))
    parser.add_argument("--decoders", nargs="+", default=["fsm", "parallel"])
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args(arguments)
    pages = read(options.data, options.pages)
    sizes = [page.n_blocks for page in pages]
    print(
        f"vLLM {engine_version()}, {len(pages)} pages, blocks: mean {np.mean(sizes):.0f}, median {np.median(sizes):.0f}, "
        f"most {max(sizes)}; answer {options.answer}, batches of {options.batch}",
        flush=True,
    )
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or make_checkpoint(
            Path(folder), sorted(pages, key=lambda page: len(page.simplified_html))[5:9]
        )
        for decoder in options.decoders:
            figures[decoder] = run(
                pages, options.batch, model=str(model), decoder=decoder, dtype=options.dtype, answer=options.answer
            )
            show(decoder, figures[decoder], figures[options.decoders[0]])
    if options.json:
        summary = {name: {key: value for key, value in one.items() if key != "labels"} for name, one in figures.items()}
        options.json.write_text(json.dumps(summary, indent=1))
    return int(any(one["differing"] for one in figures.values()))


def read(data: Path, n_pages: int) -> list[SimplifiedPage]:
    """Return pages of the training sets, the same every time, each set with as many as the next."""
    sets = names_with(Role.TRAIN_SHIPS)
    found = [page for name in sets for page in read_pages(data, name, sample=-(-n_pages // len(sets)))]
    made = [preprocess(decode(page.html, page.content_type).text) for page in found]
    simplified = [SimplifiedPage(page.simplified_html, len(page.blocks)) for page in made if page.blocks]
    random.Random(0).shuffle(simplified)
    return simplified[:n_pages]


def run(pages: list[SimplifiedPage], batch: int, **settings: object) -> dict[str, Any]:
    """Return labels and figures of one decoder; settings: of the labeler."""
    labeler: Any = load("lm", **settings)
    labeler.label_simplified(pages[:1])
    before = labeler.stats()
    # Sorted as the label stage sorts them: pages of a batch then end about together.
    order = sorted(range(len(pages)), key=lambda at: len(pages[at].simplified_html))
    labels: list[Labels | None] = [None] * len(pages)
    started, wall = time.process_time(), time.monotonic()
    for start in range(0, len(pages), batch):
        chunk = order[start : start + batch]
        for at, one in zip(chunk, labeler.label_simplified([pages[at] for at in chunk]), strict=True):
            labels[at] = one
    seconds, wall = time.process_time() - started, time.monotonic() - wall
    stats = {key: value - before[key] for key, value in labeler.stats().items()}
    labeler.close()
    del labeler
    gc.collect()
    main = float(np.concatenate([one.main for one in labels if one]).mean())
    return {"labels": labels, "main": main, "cpu_seconds": seconds, "wall_seconds": wall, **stats}


def show(name: str, ours: dict[str, Any], first: dict[str, Any]) -> None:
    """Print a decoder's figures beside the first one's."""
    pairs = list(zip(ours["labels"], first["labels"], strict=True))
    differing = [int((one.main != two.main).sum()) for one, two in pairs]
    ours["differing"] = sum(differing)
    passes = np.array([one.passes for one, _ in pairs])
    ratios = np.array([two.passes / one.passes for one, two in pairs])
    faster = {key: first[key] / ours[key] for key in ("passes", "tokens", "cpu_seconds")}
    lines = (
        f"{name}: {passes.sum():,} passes over pages (mean {passes.mean():.1f}, median {np.median(passes):.0f}, most "
        f"{passes.max()}), 1/{faster['passes']:.1f} of the first's (mean of the pages' ratios 1/{ratios.mean():.1f})",
        f"{ours['tokens']:,.0f} tokens processed (1/{faster['tokens']:.2f}), {ours['cpu_seconds']:.1f} CPU s "
        f"(1/{faster['cpu_seconds']:.2f}), {ours['wall_seconds']:.1f} s wall",
        f"{sum(one.windows > 1 for one, _ in pairs)} pages windowed; main: {ours['main']:.0%} of blocks; labels that differ: "
        f"{sum(differing)} of {ours['blocks']:,.0f}, on {np.count_nonzero(differing)} pages",
    )
    print("\n    ".join(lines), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
