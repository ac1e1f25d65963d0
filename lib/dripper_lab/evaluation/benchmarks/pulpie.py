"""Computes Pulpie's table from the scores that its authors published, page by page:

    python -m dripper_lab.evaluation.benchmarks.pulpie --data DATA [--webmainbench FILE]

The scores are ROUGE-5 F1 over white space tokens of the 6,647 English pages of WebMainBench; an
empty extraction counts as zero. The archive contains neither the pages nor their levels. It numbers
pages by their lines in the WebMainBench file, from which the levels are read.
"""

import argparse
import json
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dripper.errors import InputError, UsageError
from dripper_lab.evaluation.statistics import Bootstrap, Interval, difference, interval

ARCHIVE = "pulpie_webmainbench_scores.tar.xz"
SUFFIX = "_scores.json"
FALLBACK = "dripper, trafilatura where empty"
BASE = "dripper"
PUBLISHED: Mapping[str, tuple[float, int | None]] = {
    "magic-html": (0.700, 384),
    "trafilatura": (0.619, 16),
    "pulpie-small": (0.862, 45),
    "dripper": (0.864, 135),
    "pulpie-base": (0.863, 36),
    "pulpie-large": (0.873, 21),
}
"""Mean F1 and number of pages without an answer, from Pulpie's table "Quality"."""
LEVELS = ("simple", "mid", "hard")


@dataclass(frozen=True, slots=True)
class PublishedScores:
    """The scores of all methods. All arrays have the same order of pages."""

    pages: Sequence[int]
    """The indexes of the pages in the complete benchmark."""
    f1: Mapping[str, npt.NDArray[np.float64]]
    empty: Mapping[str, npt.NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class PublishedLine:
    """The scores of a method over all pages."""

    method: str
    f1: Interval
    gain: Interval
    """Difference from Dripper, paired by page."""
    empty: int
    stated: tuple[float, int | None] | None
    """Mean F1 and number of pages without an answer in Pulpie's table; None if not listed there."""


def read_published(data: Path) -> PublishedScores:
    """Read the archive in a data folder. Raises InputError if it is missing or malformed."""
    path = data / ARCHIVE
    try:
        with tarfile.open(path, "r:xz") as archive:
            by_method = {
                Path(member.name).name.removesuffix(SUFFIX): json.load(stream)
                for member in archive
                if member.name.endswith(SUFFIX) and (stream := archive.extractfile(member)) is not None
            }
        pages = sorted(map(int, by_method[BASE]))
        f1 = {name: np.array([rows[str(page)]["f1"] for page in pages]) for name, rows in by_method.items()}
        empty = {name: np.array([rows[str(page)]["empty"] for page in pages]) for name, rows in by_method.items()}
    except (OSError, EOFError, tarfile.TarError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} cannot be read: {error!r}") from error
    f1[FALLBACK] = np.where(empty[BASE], f1["trafilatura"], f1[BASE])
    empty[FALLBACK] = empty[BASE] & empty["trafilatura"]
    return PublishedScores(pages, f1, empty)


def published_lines(scores: PublishedScores, draws: int = 1000) -> list[PublishedLine]:
    """Return a line per method, best first. Bootstrap samples draw single pages, because the pages'
    sites are unknown."""
    bootstrap = Bootstrap(["webmainbench"] * len(scores.pages), list(map(str, scores.pages)), draws)
    drawn = {name: bootstrap.mean(values) for name, values in scores.f1.items()}
    lines = [
        PublishedLine(
            name, interval(means), difference(means, drawn[BASE]), int(scores.empty[name].sum()), PUBLISHED.get(name)
        )
        for name, means in drawn.items()
    ]
    return sorted(lines, key=lambda line: -line.f1.value)


def levels_of(file: Path) -> list[str]:
    """Return the level of each record in a WebMainBench file, in order; "" if a record has none.
    Raises InputError if the file is invalid."""
    try:
        with file.open(encoding="utf-8") as lines:
            return [str((json.loads(line).get("meta") or {}).get("level") or "") for line in lines]
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{file} is not a WebMainBench file: {error!r}") from error


def means_by_level(scores: PublishedScores, levels: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
    """Return method → level → mean F1.

    Args:
        levels: The levels of all records in the benchmark.

    Raises:
        InputError: `levels` does not cover all scored pages.
    """
    if scores.pages[-1] >= len(levels):
        raise InputError(f"the scores number pages up to {scores.pages[-1]}, the file has {len(levels)} records")
    own = np.array([levels[page] for page in scores.pages])
    own_levels = [level for level in LEVELS if (own == level).any()]
    return {
        name: {level: float(values[own == level].mean()) for level in own_levels} for name, values in scores.f1.items()
    }


def main(arguments: Sequence[str]) -> int:
    """Print the tables. Return 0, or 2 for incorrect usage."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.evaluation.benchmarks.pulpie", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help=f"folder with {ARCHIVE}")
    parser.add_argument("--webmainbench", type=Path, metavar="FILE", help="the whole benchmark, for its levels")
    options = parser.parse_args(arguments)
    try:
        scores = read_published(options.data)
        by_level = means_by_level(scores, levels_of(options.webmainbench)) if options.webmainbench else {}
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    levels = [level for level in LEVELS if any(level in means for means in by_level.values())]
    head = ["method", "F1 (95 %)", "published", "against dripper", "empty", "published", *levels]
    rows = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for line in published_lines(scores):
        f1, empty = line.stated or (None, None)
        cells = [
            line.method, f"{line.f1.value:.3f} ({line.f1.low:.3f} to {line.f1.high:.3f})", "" if f1 is None else f"{f1:.3f}",
            f"{line.gain.value:+.3f} ({line.gain.low:+.3f} to {line.gain.high:+.3f})", str(line.empty),
            "" if empty is None else str(empty), *(f"{by_level[line.method][level]:.3f}" for level in levels),
        ]  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    sys.stdout.write(f"{len(scores.pages)} pages\n\n" + "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
