"""Compare the checkout with its floors and ceilings: `python -m dripper_lab.gate --data
../shared/data` (`make gate`).

Measures the quality of the `cpu` labeler and of extracted images, the cost and CPU time of a page,
the product's lines of code, and its habits of wording. Prints each figure beside its bound from the
file BOUNDS. Returns 1 if a bound is broken, 2 if the file cannot be read. Figures are left out,
with a message, if their labelled pages are missing.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from dripper.errors import InputError
from dripper_lab import house
from dripper_lab.datasets import available
from dripper_lab.evaluation import images
from dripper_lab.gate import price, prose, scores, turns
from dripper_lab.gate.base import find_base, read_at
from dripper_lab.gate.bounds import Bounds, Figures, find_broken, find_loosened, read_bounds

ROOT = Path(__file__).parents[3]
BOUNDS = Path("tests/gate/floors.toml")
PAGES = ROOT / "tests" / "data" / "labelled"
GOLDEN = ROOT / "tests" / "golden"
DATA_SET = "wcxb-dev"
GROUPS = ("house", "prose", "price", "time", "scores", "images")


def main(arguments: list[str]) -> int:
    """Print the figures and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.gate", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="labelled pages")
    parser.add_argument("--bounds", type=Path, default=ROOT / BOUNDS)
    parser.add_argument("--only", choices=GROUPS, help="one group of figures")
    options = parser.parse_args(arguments)
    try:
        bounds = read_bounds(options.bounds.read_text(encoding="utf-8"))
        figures = dict(measure(options.data, options.only))
    except InputError as error:
        sys.stderr.write(f"gate: {error}\n")
        return 2
    broken = find_broken(figures, bounds)
    # Only the default file has earlier bounds to compare with.
    if options.bounds == ROOT / BOUNDS and (earlier := read_earlier_bounds(ROOT)):
        broken += find_loosened(earlier, bounds)
    sys.stdout.write(write_table(figures, bounds))
    sys.stdout.writelines(f"BROKEN: {sentence}\n" for sentence in broken)
    sys.stdout.write(f"{len(figures)} figures, {len(broken)} broken; bounds: {options.bounds}\n")
    return 1 if broken else 0


def measure(data: Path, only: str | None) -> Iterator[tuple[str, float]]:
    """Yield the name and value of each figure, and report omitted figures on stderr. Raises
    InputError if a data set is damaged."""
    for group, missing, take in list_measures(data):
        if only not in (group, None):
            continue
        if missing:
            sys.stderr.write(f"left out: {group} on {', '.join(missing)}, not in {data} (make gate DATA=FOLDER)\n")
        else:
            yield from take().items()


def list_measures(data: Path) -> Iterator[tuple[str, list[str], Callable[[], Figures]]]:
    """Yield, for each measurement, the group of its figures, the data sets that it lacks, and the
    function that measures it."""
    yield "house", [], measure_house
    yield "prose", [], lambda: prose.measure_prose(ROOT)
    yield "price", [], lambda: price.measure_prices(PAGES, DATA_SET)
    yield "time", [], lambda: turns.measure_turns(ROOT, PAGES, GOLDEN)
    yield "scores", [], lambda: scores.measure_repository(PAGES, DATA_SET)
    yield "scores", scores.missing_sets(data), lambda: scores.measure_evaluation(data)
    lacking = [] if images.DATA_SET in available(data) else [images.DATA_SET]
    yield "images", lacking, lambda: measure_images(data)


def measure_house() -> Figures:
    """Return the product's lines of code, and the lines that run third-party weights."""
    product, foreign = house.add_up(house.count_rooms(house.PRODUCT))
    return {"house.product": float(product), "house.foreign": float(foreign)}


def measure_images(data: Path) -> Figures:
    """Return the F1 of images and the fraction of captions found, on the half of the pages that was
    not used for choosing rules."""
    count = Counter[str]()
    for page, truth in images.read_shown(data, "judging"):
        count.update(truth.count(scores.extract(page, images.ADDRESS).main_html))
    return {"images.f1": images.f1_of(count)[2], "images.captions": count["told"] / max(1, count["captions"])}


def read_earlier_bounds(root: Path) -> Bounds | None:
    """Return the bounds in the base commit of this checkout, or None."""
    base = find_base(root)
    text = read_at(root, base, BOUNDS) if base is not None else None
    return read_bounds(text) if text is not None else None


def write_table(figures: Mapping[str, float], bounds: Bounds) -> str:
    """Return a line per figure: name, value and bound."""
    width = max(map(len, figures), default=0)
    lines = []
    for name, value in figures.items():
        digits = 0 if value == int(value) and value > 1 else 3
        relation = "at least" if name in bounds.floors else "at most"
        bound = bounds.bound(name)
        limit = "no bound" if bound is None else f"{relation} {bound:,.{digits}f}"
        lines.append(f"{name:{width}} {value:10,.{digits}f}   {limit}\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
