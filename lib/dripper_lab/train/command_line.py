"""Provides the flags and exit codes that all training commands share."""

import argparse
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from dripper.errors import UsageError
from dripper.extras import needed
from dripper.labels.torch_device import choose_device
from dripper_lab.datasets import Role, names_with

log = logging.getLogger(__name__)


def at_least(least: int) -> Callable[[str], int]:
    """Return an argparse type for integers that are at least `least`.

    >>> at_least(1)("3")
    3
    """

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return value

    return number


def training_parser(
    labeler: str, makes: str, folds: int, folds_help: str = "one site in so many is held out"
) -> argparse.ArgumentParser:
    """Return a parser with the flags of every training command.

    Args:
        makes: A description of --output.
        folds: The default number of folds.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m dripper_lab.train.{labeler}", description=f"Train the labeler {labeler}."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of labelled pages")
    parser.add_argument("--output", type=Path, required=True, help=f"folder for {makes}")
    ships = names_with(Role.TRAIN_SHIPS)
    parser.add_argument("--sets", nargs="+", choices=ships, help="data sets (default: all that are in --data)")
    parser.add_argument("--folds", type=at_least(2), default=folds, help=f"{folds_help} (default %(default)s)")
    parser.add_argument(
        "--sample", type=at_least(1), default=None, help="only so many pages of each set (default: all)"
    )
    return parser


def parse_training(
    parser: argparse.ArgumentParser, arguments: Sequence[str], useful: Sequence[str] = ()
) -> argparse.Namespace:
    """Parse the arguments of a training command. If no sets are named, `sets` becomes all sets in
    the data folder on which shipped models are allowed to be trained. A warning lists the missing
    sets.

    Args:
        useful: If not empty, only these data sets are used by default.
    """
    options = parser.parse_args(arguments)
    options.sets = options.sets or _find_sets(options.data, useful)
    return options


def add_recipe_flags(parser: argparse.ArgumentParser, recipe: object, *names: str) -> None:
    """Add a flag for each of these fields of a recipe, with the recipe's values as defaults.
    Integers must be at least 1, a seed at least 0."""
    for name in names:
        default = getattr(recipe, name)
        kind = float if isinstance(default, float) else at_least(0 if name == "seed" else 1)
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, default=default)


def add_device_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the device on which a PyTorch model is trained; see `learning_device`."""
    parser.add_argument(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where it learns (default: a GPU if there is one)",
    )


def learning_device(device: str, labeler: str) -> str:
    """Return the device on which a labeler's model is trained, `cuda` or `cpu`.

    Args:
        device: `cuda`, `cpu` or `auto`.

    Raises:
        MachineError: A GPU is requested but missing, or PyTorch or transformers is missing.
    """
    with needed(f"training the labeler {labeler}", "encoder"):
        import torch  # noqa: F401
        import transformers  # noqa: F401
    return choose_device(device, "--device")


def _find_sets(data: Path, useful: Sequence[str]) -> list[str]:
    ships = [name for name in names_with(Role.TRAIN_SHIPS) if not useful or name in useful]
    there = names_with(Role.TRAIN_SHIPS, folder=data)
    existing = [name for name in ships if name in there]
    if missing := [name for name in ships if name not in existing]:
        log.warning(
            "trained without %s, which is not in %s; python -m dripper_lab.annotate collect makes a set of its recipe, "
            "see docs/annotation.md",
            ", ".join(missing),
            data,
        )
    return existing or ships


def run_training(train: Callable[[], Path]) -> int:
    """Train, and return the exit code: 0, or 2 if the user has to fix something."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        path = train()
    except UsageError as error:
        log.error("%s", error)
        return 2
    log.info("wrote %s", path)
    return 0
