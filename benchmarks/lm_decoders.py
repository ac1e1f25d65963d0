"""Compares the decoders of the `lm` labeler: forward passes, tokens, CPU seconds, and labels.

    python benchmarks/lm_decoders.py --data DIR --keep FOLDER [--pages 300] [--model FOLDER]
        [--decoders fsm parallel]

Without --model, a tiny random Qwen3 model is created (3 layers, hidden size 128, the real tokenizer
and vocabulary). Its labels depend on each other at random, so its number of passes says nothing
about a trained model's. Only the ratios of its times are meaningful. Labels can only be compared
one by one in float32; other types differ by rounding. The other decoders are compared with the
first one. Pages are processed in batches of similar length, as in the label stage; each page in a
pass counts as one pass. Only one thread is used, because threads that wait for each other consume
CPU time. Batches are processed in random order, and each result is appended to the folder at once.
A stopped run can therefore be resumed, and decoders may run in separate processes. Quality is not
measured.
"""

import argparse
import gc
import hashlib
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dripper.labels import load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.engine import engine_version
from dripper.labels.lm.settings import LmSettings
from lm_pages import ONE_BLOCK, Choice, choose
from support.tiny_lm import copy_tokenizer, make_checkpoint, make_config

ALL = 1 << 30
ROWS = 6
"""The maximum number of output lines per decoder for groups of page lengths."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The figures of one decoder for one batch of pages. labels: a string of 0 and 1 for each page.
    passes: the forward passes of each page. windowed: the number of pages that were split into
    windows. tokens: the number of tokens processed. The lists are in the order of the batch."""

    number: int
    labels: list[str]
    passes: list[int]
    windowed: int
    tokens: int
    cpu_seconds: float
    wall_seconds: float


def main(arguments: list[str]) -> int:
    """Label the pages with every decoder and print the figures. Return 1 if a label differs."""
    options = parsed(arguments)
    # This must be set before torch is imported, because waiting threads spin and consume CPU time.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    options.keep.mkdir(parents=True, exist_ok=True)
    choice = choose(options.data, options.pages, options.least, options.most, counter(options))
    order = sorted(range(len(choice.pages)), key=choice.tokens.__getitem__)
    batches = [order[start : start + options.batch] for start in range(0, len(order), options.batch)]
    # Shuffled, so that the batches done by a stopped run, or with --only, are a fair sample.
    random.Random(0).shuffle(batches)
    show_pages(choice, options)
    pages = [[choice.pages[at] for at in batch] for batch in batches]
    model = options.model or tiny(options.keep / "tiny", [choice.pages[at] for at in order])
    settings = {"model": str(model), "dtype": options.dtype, "answer": options.answer}
    done = {name: run(pages, options.only, options.keep, decoder=name, **settings) for name in options.decoders}
    lengths = [(choice.tokens[batch[0]], choice.tokens[batch[-1]]) for batch in batches[: options.only]]
    first = done[options.decoders[0]]
    differing = [show(name, ours, first, lengths) for name, ours in done.items()]
    return int(any(differing))


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--keep", type=Path, required=True, help="folder for what was measured")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--least", type=int, default=0, metavar="TOKENS", help="leave shorter pages out")
    parser.add_argument("--most", type=int, default=ALL, metavar="TOKENS", help="leave longer pages out")
    parser.add_argument("--batch", type=int, default=30, help="pages in flight")
    parser.add_argument("--only", type=int, default=ALL, metavar="N", help="of the batches, drawn at random")
    parser.add_argument("--model", type=Path, help="a checkpoint instead of a random one")
    parser.add_argument("--dtype", default="float32", choices=("auto", "float32", "bfloat16", "float16"))
    parser.add_argument("--answer", default="auto", choices=("auto", "json", "compact", "tagged"))
    parser.add_argument("--decoders", nargs="+", default=["fsm", "parallel"])
    return parser.parse_args(arguments)


def counter(options: argparse.Namespace) -> Any:
    """Return the function that counts a page's tokens with the model's tokenizer."""
    folder = options.model or options.keep / "tokenizer"
    if not options.model:
        folder.mkdir(exist_ok=True)
        make_config(folder)
        copy_tokenizer(folder)
    return PageEncoder.load(LmSettings.model_validate({"model": str(folder)})).count_tokens


def tiny(folder: Path, pages: Sequence[SimplifiedPage]) -> Path:
    """Return the folder of the random checkpoint, and create it if it does not exist. It is kept,
    because another checkpoint could give other labels."""
    if not (folder / "model.safetensors").is_file():
        make_checkpoint(folder, pages[5:9])
    return folder


def run(batches: Sequence[Sequence[SimplifiedPage]], only: int, keep: Path, **settings: Any) -> list[Batch]:
    """Return the figures of one decoder for the first `only` batches. Batches with a result in the
    folder `keep` are not run again. `settings` are the labeler's settings."""
    told = json.dumps([settings, [[page.simplified_html for page in batch] for batch in batches]])
    file = keep / f"{settings['decoder']}-{hashlib.sha256(told.encode()).hexdigest()[:12]}.jsonl"
    done = [Batch(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []
    batches = batches[:only]
    if len(done) >= len(batches):
        return done[: len(batches)]
    labeler: Any = load("lm", **settings)
    labeler.label_simplified([ONE_BLOCK])
    for number in range(len(done), len(batches)):
        done.append(labelled(labeler, number, batches[number]))
        with file.open("a") as opened:
            opened.write(json.dumps(asdict(done[-1])) + "\n")
    labeler.close()
    del labeler
    gc.collect()
    return done


def labelled(labeler: Any, number: int, pages: Sequence[SimplifiedPage]) -> Batch:
    """Label a batch, and return its figures."""
    before, cpu, wall = labeler.stats()["tokens"], time.process_time(), time.monotonic()
    labels = labeler.label_simplified(pages)
    cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    return Batch(
        number,
        ["".join("01"[main] for main in one.main.tolist()) for one in labels],
        [one.passes for one in labels],
        sum(one.windows > 1 for one in labels),
        int(labeler.stats()["tokens"] - before),
        cpu,
        wall,
    )


def show_pages(choice: Choice, options: argparse.Namespace) -> None:
    """Print the number and sizes of the pages, and the conditions of the measurement."""
    blocks, tokens = [page.n_blocks for page in choice.pages], choice.tokens
    print(
        f"vLLM {engine_version()}, {len(blocks)} pages, drawn among the {choice.share:.0%} of all pages with {options.least} "
        f"to {options.most} tokens\nblocks: mean {np.mean(blocks):.0f}, median {np.median(blocks):.0f}, most {max(blocks)}; "
        f"tokens: mean {np.mean(tokens):.0f}, median {np.median(tokens):.0f}, most {max(tokens)}; answer {options.answer}, "
        f"batches of {options.batch}, {os.environ['OMP_NUM_THREADS']} thread",
        flush=True,
    )


def show(name: str, ours: Sequence[Batch], first: Sequence[Batch], lengths: Sequence[tuple[int, int]]) -> int:
    """Print a decoder's figures, with ratios to those of the first decoder. Return the number of
    labels that differ."""
    pairs = [pair for one, two in zip(ours, first, strict=True) for pair in zip(one.labels, two.labels, strict=True)]
    differing = [sum(a != b for a, b in zip(one, two, strict=True)) for one, two in pairs]
    passes, theirs = (np.array([count for batch in side for count in batch.passes]) for side in (ours, first))
    text = "".join(one for one, _ in pairs)
    print(
        f"{name}: {passes.sum():,} passes over pages (mean {passes.mean():.1f}, median {np.median(passes):.0f}, most "
        f"{passes.max()}), 1/{theirs.sum() / passes.sum():.1f} of the first's (mean of the pages' ratios "
        f"1/{(theirs / passes).mean():.1f})\n"
        f"    {total(ours, 'tokens'):,.0f} tokens processed (1/{total(first, 'tokens') / total(ours, 'tokens'):.2f}), "
        f"{total(ours, 'cpu_seconds'):.1f} CPU s (1/{total(first, 'cpu_seconds') / total(ours, 'cpu_seconds'):.2f}), "
        f"{total(ours, 'wall_seconds'):.1f} s wall\n"
        f"    {total(ours, 'windowed'):.0f} pages windowed; main: {text.count('1') / len(text):.0%} of blocks; labels that "
        f"differ: {sum(differing)} of {len(text):,}, on {np.count_nonzero(differing)} pages"
    )
    by_length = sorted(range(len(ours)), key=lengths.__getitem__)
    for row in np.array_split(by_length, min(ROWS, len(ours))):
        one, two = [ours[at] for at in row], [first[at] for at in row]
        print(
            f"    {lengths[row[0]][0]:>6} to {lengths[row[-1]][1]:>6} tokens: {sum(len(batch.labels) for batch in one)} pages, "
            f"{sum(len(text) for batch in one for text in batch.labels):>6,} blocks, passes {passed(one):>7,} "
            f"(1/{passed(two) / passed(one):.0f}), CPU s {total(one, 'cpu_seconds'):>7.1f} "
            f"(1/{total(two, 'cpu_seconds') / total(one, 'cpu_seconds'):.1f})"
        )
    sys.stdout.flush()
    return sum(differing)


def passed(batches: Sequence[Batch]) -> int:
    """Return the passes over all pages of the batches."""
    return sum(sum(batch.passes) for batch in batches)


def total(batches: Sequence[Batch], name: str) -> float:
    """Return the sum of a figure over the batches."""
    return float(sum(getattr(batch, name) for batch in batches))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
