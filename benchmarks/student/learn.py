"""Teaches a student of multilingual-e5-small which blocks in doubt are main; a teacher first:

    python benchmarks/student/learn.py --pack FOLDER --name teacher --all
    python benchmarks/student/learn.py --pack FOLDER --name student --all --layers 6 --lr 2e-4
        --epochs 9 --init out/teacher.pt --teachers out/teacher.pt --soft 0.5

FOLDER is what pack.py made. A token's input is its piece, its place, its block's tag, and the log
odds that `cpu` gives the block, in 13 steps. Read are blocks in doubt (24 tokens) and two on each
side of them (8 tokens). Word pieces stay as they are; all else learns. Without --all the pages of
unlabelled-web-training and of one host in eight are held out. Each run adds a line to
out/scores.jsonl: F1 over words of held-out pages, before and after. Needs PyTorch.
"""

import argparse
import json
import lzma
import pickle
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from network import TEACHER_LAYERS, Student, load_base, save_int8, shrink
from windows import ROOM, Batch, Cut, Reading, Window

from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.decide import decide
from dripper_lab.train.reader.examples import FIRST_SHARE
from dripper_lab.train.reader.optimise import Recipe
from dripper_lab.truth import f1_of
from dripper_labelers.reader.labeler import WEIGHTS
from dripper_labelers.reader.windows import READ_WINDOWS, UNSURE

HELD_OUT = "unlabelled-web-training"
SEEN_BY_DRAFT = "web-kinds"
"""The set that the drafts' weights were taught on: half of its windows are read without drafts."""
PARTLY_HELD_OUT = ("web-kinds-2", "web-kinds-more")
HEAD_RATE = 1e-3
"""Learning rate of what begins at 0."""
AVERAGING = 0.99
BUCKET = 8
"""Batches among which windows are put together by length."""
SCORED_AT_ONCE = 64

Drawn = tuple[Reading, Window]


def main(arguments: Sequence[str]) -> int:
    """Teach one model, save it, add its scores."""
    options, started = parse(arguments), time.monotonic()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(options.seed)
    torch.set_num_threads(2)
    torch.backends.cuda.matmul.allow_tf32 = True
    *specials, padding = np.load(options.pack / "base.npz")["specials"][:3].tolist()
    with lzma.open(options.pack / "pages.pkl.xz") as file:
        pages = pickle.load(file)
    pages = pages[:: max(1, len(pages) // options.sample)] if options.sample else pages
    held_out = [Reading(page, Cut(), specials) for page in pages if is_held_out(page)]
    hosts = {reading.page["host"] for reading in held_out} - {None, ""}
    left = [page for page in pages if options.all or not (is_held_out(page) or page["host"] in hosts)]
    learned = [reading for page in left if (reading := Reading(page, Cut(), specials)).unsure.any()]
    model = load_base(options.pack / "base.npz")
    if options.init:
        model.load_state_dict(torch.load(options.init))
    model = (model if options.layers == TEACHER_LAYERS else shrink(model, options.layers)).to(device)
    teachers = [load_teacher(file, len(model.word), device) for file in options.teachers]
    teach(model, teachers, learned, options, padding, device)
    options.out.mkdir(exist_ok=True, parents=True)
    torch.save(model.state_dict(), options.out / f"{options.name}.pt")
    save_int8(model, options.out / f"{options.name}_int8.npz")
    found = score(model, held_out, padding, device)
    settings = {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
    line = json.dumps(
        {"name": options.name, **found, "options": settings, "seconds": round(time.monotonic() - started)}
    )
    print(line, flush=True)
    with (options.out / "scores.jsonl").open("a") as file:
        file.write(line + "\n")
    return 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--name", default="student")
    parser.add_argument("--layers", type=int, default=TEACHER_LAYERS, help="12, 6, 4 or 3")
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--init", type=Path, help="a model of twelve layers to go on from (default: the pretrained)")
    parser.add_argument("--teachers", type=Path, nargs="*", default=[])
    parser.add_argument("--soft", type=float, default=0.0, help="the teachers' share in what is learned")
    parser.add_argument("--unknown", type=float, default=0.1, help="share of windows that are read without drafts")
    parser.add_argument("--all", action="store_true", help="learn from all pages")
    parser.add_argument("--sample", type=int, default=0, help="some so many pages alone")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which it has learned")
    return parser.parse_args(arguments)


def is_held_out(page: Mapping[str, Any]) -> bool:
    """Tell whether a page is for scores."""
    name = (page["host"] or page["key"][1]).encode()
    return page["set"] == HELD_OUT or (page["set"] in PARTLY_HELD_OUT and zlib.crc32(name) % 8 == 0)


def load_teacher(file: Path, n_pieces: int, device: str) -> Student:
    """Return a model of twelve layers that was saved."""
    teacher = Student(TEACHER_LAYERS, n_pieces)
    teacher.load_state_dict(torch.load(file))
    return teacher.to(device).eval()


def half_precision(device: str) -> AbstractContextManager[None]:
    """Return what makes passes on a GPU use bfloat16."""
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")


def teach(
    model: Student,
    teachers: Sequence[Student],
    learned: Sequence[Reading],
    options: argparse.Namespace,
    padding: int,
    device: str,
) -> None:
    """Teach a model in place. It is left with means over its last steps, in evaluation mode."""
    draw = np.random.default_rng(options.seed)
    batches, started, step, done = draw_batches(learned, options, draw), time.monotonic(), 0, 0.0
    steps, recipe = len(batches) * options.epochs, Recipe()
    print(options.name, f"{len(learned)} pages, {steps} steps", flush=True)
    parameters = list(model.parameters())
    head = [model.head.weight, model.head.bias, model.tag, model.draft]
    rest = [value for value in parameters if not any(value is each for each in head)]
    groups = [{"params": rest, "base": options.lr}, {"params": head, "base": HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, lr=options.lr, weight_decay=0.01, fused=device == "cuda")
    means = [value.detach().clone() for value in parameters]
    model.train()
    for epoch in range(options.epochs):
        for batch in batches if epoch == 0 else draw_batches(learned, options, draw):
            done = max(step / steps, (time.monotonic() - started) / options.limit)
            if done >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = group["base"] * min(1.0, (step + 1) / recipe.warmup_steps) * pace_of(done, recipe)
            optimizer.zero_grad(set_to_none=True)
            loss_of(model, teachers, batch, options.soft, padding, device).backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            step += 1
            torch._foreach_lerp_(means, parameters, 1 - min(AVERAGING, step / (step + 9)))
        print(options.name, f"epoch {epoch}, {time.monotonic() - started:.0f} s", flush=True)
    with torch.no_grad():
        for value, mean in zip(parameters, means, strict=True):
            value.copy_(mean)
    model.eval()


def pace_of(done: float, recipe: Recipe) -> float:
    """Return the share of the learning rate when so much is done: steady, then down in a line."""
    return 1 - 0.9 * max(0.0, (done - recipe.steady) / (1 - recipe.steady))


def draw_batches(
    learned: Sequence[Reading], options: argparse.Namespace, draw: np.random.Generator
) -> list[list[Drawn]]:
    """Return the batches of an epoch: windows of each page, those of like length together."""
    drawn: list[Drawn] = []
    for reading in learned:
        windows = reading.cut(int(draw.integers(ROOM // FIRST_SHARE, ROOM + 1)))
        without = 0.5 if reading.page["set"] == SEEN_BY_DRAFT else options.unknown
        chosen = draw.permutation(len(windows))[: Recipe().windows_a_page]
        drawn += [(reading, reading.show(windows[at], is_drafted=draw.random() >= without)) for at in chosen]
    order, size = draw.permutation(len(drawn)), options.batch
    batches: list[list[Drawn]] = []
    for first in range(0, len(order), size * BUCKET):
        part = sorted((drawn[at] for at in order[first : first + size * BUCKET]), key=lambda each: len(each[1].ids))
        batches += [part[at : at + size] for at in range(0, len(part), size)]
    return [batches[at] for at in draw.permutation(len(batches))]


def loss_of(
    model: Student, teachers: Sequence[Student], drawn: Sequence[Drawn], soft: float, padding: int, device: str
) -> torch.Tensor:
    """Return the weighed cross entropy of a batch's blocks."""
    batch = Batch.of([window for _, window in drawn], padding, device)
    blocks = [(reading, block) for reading, window in drawn for block, _ in window.blocks]
    target = torch.tensor([float(reading.target[block]) for reading, block in blocks], device=device)
    weight = torch.tensor([float(reading.weight[block]) for reading, block in blocks], device=device)
    with half_precision(device):
        if teachers:
            with torch.no_grad():
                taught = torch.stack([batch.average(teacher) for teacher in teachers]).mean(0).sigmoid()
            target = (1 - soft) * target + soft * taught
        margins = batch.average(model)
    losses = F.binary_cross_entropy_with_logits(margins, target, reduction="none")
    return (losses * weight).sum() / weight.sum().clamp(min=1)


def read_margins(model: Student, pages: Sequence[Reading], padding: int, device: str) -> list[FloatArray]:
    """Return the margins of each page's blocks; NaN: not read."""
    margins = [np.full(len(page.page["p"]), np.nan) for page in pages]
    shown = [(at, page.show(places)) for at, page in enumerate(pages) for places in page.cut()[:READ_WINDOWS]]
    shown.sort(key=lambda each: len(each[1].ids))
    with torch.no_grad(), half_precision(device):
        for first in range(0, len(shown), SCORED_AT_ONCE):
            part = shown[first : first + SCORED_AT_ONCE]
            found = iter(Batch.of([window for _, window in part], padding, device).average(model).float().cpu().numpy())
            for at, window in part:
                for block, _ in window.blocks:
                    margins[at][block] = next(found)
    return margins


def score(model: Student, pages: Sequence[Reading], padding: int, device: str) -> dict[str, Any]:
    """Return F1 over words of pages with main content: drafts', and with the reader's weights for
    draft, margin and constant, and with those that fit these pages best."""
    margins = read_margins(model, pages, padding, device)
    fitted = fit_weights(pages, margins)
    full = [(page, each) for page, each in zip(pages, margins, strict=True) if page.page["truth_words"]]
    before = np.array([measure(page, page.page["p"].astype(np.float64)) for page, _ in full])
    after = {
        name: np.array([measure(page, combine(page, each, weights)) for page, each in full])
        for name, weights in (("reader_weights", np.array(WEIGHTS)), ("fitted", fitted))
    }
    kinds: dict[str, list[float]] = {}
    for (page, _), gain in zip(full, after["fitted"] - before, strict=True):
        kinds.setdefault(page.page["kind"], []).append(float(gain))
    return {
        "pages": len(full),
        "before": round(float(before.mean()), 4),
        **{name: round(float(values.mean()), 4) for name, values in after.items()},
        "weights": [round(float(weight), 3) for weight in fitted],
        "kinds": {kind: [len(gains), round(float(np.mean(gains)), 3)] for kind, gains in kinds.items()},
    }


def fit_weights(pages: Sequence[Reading], margins: Sequence[FloatArray]) -> FloatArray:
    """Return the weights of a logistic regression; a page counts with the root of its blocks."""
    parts = [explain(page, each) for page, each in zip(pages, margins, strict=True)]
    inputs = np.concatenate([part for part, _ in parts])
    targets = np.concatenate([page.target[read] for page, (_, read) in zip(pages, parts, strict=True)])
    counts = np.concatenate([np.full(len(part), max(len(part), 1) ** -0.5) for part, _ in parts])
    weights = np.array(WEIGHTS)
    for _ in range(30):  # Newton's steps.
        probability = 1 / (1 + np.exp(-inputs @ weights))
        curvature = (inputs * (counts * probability * (1 - probability))[:, None]).T @ inputs + 1e-3 * np.eye(3)
        weights = weights + np.linalg.solve(curvature, inputs.T @ (counts * (targets - probability)))
    return np.asarray(weights)


def explain(page: Reading, margins: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return draft, margin and 1 of each block in doubt that was read, and which these are."""
    read = np.isfinite(margins) & page.unsure
    bounded = np.clip(page.page["p"][read], UNSURE, 1 - UNSURE)
    return np.stack([np.log(bounded / (1 - bounded)), margins[read], np.ones(len(bounded))], 1), read


def combine(page: Reading, margins: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the probability of each block to be main."""
    inputs, read = explain(page, margins)
    probability = page.page["p"].astype(np.float64)
    probability[read] = 1 / (1 + np.exp(-inputs @ weights))
    return np.asarray(probability)


def measure(page: Reading, probability: FloatArray) -> float:
    """Return F1 over words of what is decided by probabilities."""
    words = page.page["words"]
    return f1_of(words, page.page["matched"], page.page["truth_words"], decide(probability, words).main)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
