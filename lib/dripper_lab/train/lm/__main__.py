"""Train a small causal model for the `lm` labeler from the archives of labelled pages:

    python -m dripper_lab.train.lm --data DIR --output DIR --sets web-kinds web-kinds-more

It trains a tokenizer on the pages, writes the pages as conversations (`dripper_lab.annotate sft`),
and trains the model in one pass over these. For each N in --sizes, it writes the checkpoint
OUTPUT/pages-N after N pages. Set labels.lm.model to such a folder; its file `labeler.yml` has the
matching settings. Only sets that are allowed for training shipped models are read (role "train,
ships"). A tokenizer and conversations that are already in OUTPUT are used again.
"""

import json
import logging
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml

from dripper.errors import PageError
from dripper_lab.annotation.fine_tuning import TRAIN, VALIDATION, Framing, write_conversations
from dripper_lab.annotation.sources import split_page
from dripper_lab.datasets import LabelledPage
from dripper_lab.kept_out import read_training_pages
from dripper_lab.train.command_line import (
    add_device_flag,
    add_recipe_flags,
    at_least,
    learning_device,
    parse_training,
    run_training,
    training_parser,
)
from dripper_lab.train.lm.base import ANSWER, PROFILE, Recipe, labeler_options, labeler_settings, make_base
from dripper_lab.train.lm.examples import Example, Reader
from dripper_lab.train.lm.optimise import label_errors, train

log = logging.getLogger(__name__)

DEFAULTS = Recipe()
TOKENIZER_PAGES = 800
CHECKED_WINDOWS = 200
"""Number of held-out windows on which each checkpoint is checked."""


def train_and_save(
    data: Path,
    output: Path,
    recipe: Recipe,
    sizes: Sequence[int],
    data_sets: Sequence[str],
    folds: int,
    sample: int | None,
    device: str = "auto",
) -> Path:
    """Create the tokenizer, write the conversations, train, and save checkpoints. Return the
    folder.

    Args:
        sizes: Numbers of training pages after which to save a checkpoint; if empty, one is saved
            after all pages.
        folds: One in `folds` sites is held out.
        sample: Maximum number of pages per data set; None means all.
        device: See `learning_device`.

    Raises:
        MachineError: If PyTorch or a GPU is missing.
    """
    device = learning_device(device, "lm")
    import transformers

    started = time.process_time()
    base, conversations = output / "base", output / "sft"
    about = {"data_sets": list(data_sets), "answer": ANSWER}
    if not conversations.is_dir():
        make_base(_texts(_pages(data, data_sets, sample)), base, recipe)
        _write_conversations(_pages(data, data_sets, sample), base, conversations, recipe, folds, about)
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(base)
    model.to(device)
    learned, checked = _read_windows(Reader(transformers.AutoTokenizer.from_pretrained(base)), conversations, recipe)
    weights = sum(value.numel() for value in model.parameters())
    log.info(
        "%d pages to learn from, %d weights, %.0f CPU seconds", len(learned), weights, time.process_time() - started
    )
    reports = list[dict[str, Any]]()

    def save(averaged: Any, pages: int) -> None:
        loss, wrong = label_errors(averaged, checked, recipe)
        reports.append(
            {"pages": pages, "loss": loss, "wrong": wrong, "cpu_seconds": round(time.process_time() - started)}
        )
        log.info("%d pages: held-out labels: loss %.4f, %.1f %% wrong", pages, loss, 100 * wrong)
        _save(averaged, base, output / f"pages-{pages}", recipe)
        (output / "training.json").write_text(
            json.dumps({"recipe": asdict(recipe), "weights": weights, **about, "sizes": reports}, indent=1) + "\n"
        )

    train(model, learned, recipe, sizes or [len(learned)], save)
    return output


def _write_conversations(
    pages: Iterator[LabelledPage], base: Path, folder: Path, recipe: Recipe, folds: int, about: Mapping[str, Any]
) -> None:
    framing = Framing.of(labeler_settings(base, recipe))
    written = write_conversations(pages, framing, folder, PROFILE, 1 / folds, about)
    log.info("%s windows of %s pages", dict(written.windows), dict(written.pages))


def _read_windows(reader: Reader, conversations: Path, recipe: Recipe) -> tuple[list[list[Example]], list[Example]]:
    """Return the windows of each training page, and some windows of held-out pages."""
    learned = list(reader.read(conversations / TRAIN, recipe.windows_a_page, recipe.seed))
    held_out = reader.read(conversations / VALIDATION, 3, recipe.seed)
    return learned, [window for windows in held_out for window in windows][:CHECKED_WINDOWS]


def _save(model: Any, base: Path, folder: Path, recipe: Recipe) -> None:
    shutil.copytree(base, folder, dirs_exist_ok=True)
    model.save_pretrained(folder)
    options = {"profile": PROFILE, "labels": {"lm": labeler_options(folder.resolve(), recipe)}}
    (folder / "labeler.yml").write_text(yaml.safe_dump(options, sort_keys=False))


def _pages(data: Path, data_sets: Sequence[str], sample: int | None) -> Iterator[LabelledPage]:
    for name in data_sets:
        yield from read_training_pages(data, name, sample=sample)


def _texts(pages: Iterator[LabelledPage]) -> Iterator[str]:
    for _, page in zip(range(TOKENIZER_PAGES), pages, strict=False):
        try:
            yield split_page(page, PROFILE).simplified_html
        except PageError:
            continue


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, train, and return the exit code: 0, or 2 if the user has to change
    something."""
    parser = training_parser("lm", "the checkpoints", folds=30)
    parser.add_argument("--sizes", nargs="+", type=at_least(1), default=[], help="pages to learn from (default: all)")
    add_recipe_flags(
        *(parser, DEFAULTS, "vocabulary", "layers", "width", "inner", "heads", "context_tokens", "windows_a_page"),
        *("batch_windows", "seed", "learning_rate"),
    )
    add_device_flag(parser)
    options = vars(parse_training(parser, arguments))
    where = {name: options.pop(name) for name in ("data", "output", "folds", "sample", "sizes", "device")}
    sets = options.pop("sets")
    return run_training(lambda: train_and_save(**where, recipe=replace(DEFAULTS, **options), data_sets=sets))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
