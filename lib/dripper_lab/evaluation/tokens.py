"""Computes the Dripper paper's Table 1 over labelled pages: the tokens that a language model reads
and writes, and equation (1), for each profile:

    python -m dripper_lab.evaluation.tokens --data DATA --sample 30 --tokenizer tokenizer.json

The naive way reads the raw HTML and writes the main content (here: its true text). The paper's way
reads the simplified HTML and writes one label per block. With --tokenizer, tokens are counted with
the given file (`make test-vllm` leaves Qwen3's in `.venv-vllm/qwen3-tokenizer/tokenizer.json`).
Otherwise, words, digits and symbols are counted, and the first line of the output says so.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dripper.errors import InputError, MachineError, PageError, UsageError
from dripper.extras import explain_install, import_extra
from dripper.html import PROFILES, preprocess
from dripper.labels.lm.answer import FORMS
from dripper_lab.datasets import LabelledPage, Role, names_with, read_pages
from dripper_lab.evaluation.store import decode_page

LAYERS, HIDDEN = 28, 1024
"""Dimensions of Qwen3-0.6B for equation (1)."""
WINDOW = 32_768
"""The maximum context of Qwen3-0.6B, in tokens."""
STAND_IN = re.compile(r"[^\W\d_]+|\d|[^\w\s]|_")
RAW = "raw HTML"

Count = Callable[[str], int]
Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Load:
    """The number of tokens that the model reads and writes per page."""

    read: Lengths
    written: Lengths

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """FLOPs per page."""
        return flops(self.read.astype(float), self.written.astype(float))


def flops(read: npt.NDArray[np.float64], written: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the paper's equation (1): L·d·(N² + M·N + M²) + L·d²·(N + M).

    >>> print(f"{flops(np.array([31987.0]), np.array([675.0]))[0]:.2e}")
    3.09e+13
    """
    attention = LAYERS * HIDDEN * (read**2 + written * read + written**2)
    return attention + LAYERS * HIDDEN**2 * (read + written)


def qwen3(file: Path) -> Count:
    """Return a function that counts tokens with a `tokenizer.json`. Raises InputError if the file
    is invalid."""
    package = import_extra("tokenizers", "--tokenizer needs", explain_install("lm"))
    try:
        tokenizer = package.Tokenizer.from_file(str(file))
    except Exception as error:
        # The package raises plain Exception.
        raise InputError(f"--tokenizer {file} cannot be read: {error}") from error
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def stand_in(text: str) -> int:
    """Return the number of words, digits and symbols.

    >>> stand_in('<p class="a_1">Two words</p>')
    16
    """
    return len(STAND_IN.findall(text))


def measure(pages: Iterable[LabelledPage], count: Count) -> tuple[Mapping[str, Load], int]:
    """Return the load for raw HTML and for each profile, and the number of pages left out because a
    profile cannot split them."""
    pairs_by_profile: dict[str, list[tuple[int, int]]] = {RAW: [], **{name: [] for name in PROFILES}}
    left_out = 0
    for page in pages:
        try:
            lengths = dict(_lengths(page, count))
        except PageError:
            left_out += 1
            continue
        for name, pair in lengths.items():
            pairs_by_profile[name].append(pair)
    columns = {name: np.array(pairs, np.int64).reshape(-1, 2) for name, pairs in pairs_by_profile.items()}
    return {name: Load(both[:, 0], both[:, 1]) for name, both in columns.items()}, left_out


_OF_RAW = ("of raw HTML: means", "of raw HTML: medians")
_ROWS = (
    *("tokens in: mean", "tokens in: median", *_OF_RAW, "of raw HTML: page by page"),
    *("tokens out: mean", "tokens out: median", "FLOPs: mean", "FLOPs: median", *_OF_RAW, "pages over 32k"),
)


def table(loads: Mapping[str, Load]) -> str:
    """Return a Markdown table with a column per input. Its rows are tokens read, tokens written,
    FLOPs, and the fraction of pages that exceed the context. Tokens read and FLOPs are also given
    relative to raw HTML."""
    columns = [_cells(load, loads[RAW]) for load in loads.values()]
    rows = [("input", *loads), *zip(_ROWS, *columns, strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * (len(loads) + 1) + "|", *lines[1:]]) + "\n"


def _cells(load: Load, raw: Load) -> list[str]:
    shares = (_ratio(load.read, raw.read, np.mean), _ratio(load.read, raw.read, np.median))
    by_page = float((load.read / np.maximum(raw.read, 1)).mean())
    costs = (_ratio(load.cost, raw.cost, np.mean), _ratio(load.cost, raw.cost, np.median))
    return [
        f"{load.read.mean():,.0f}", f"{np.median(load.read):,.0f}", *map(_percent, (*shares, by_page)),
        f"{load.written.mean():,.0f}", f"{np.median(load.written):,.0f}",
        f"{load.cost.mean():.3e}", f"{np.median(load.cost):.3e}", *map(_percent, costs),
        _percent(float((load.read > WINDOW).mean())),
    ]  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Print the table. Return 0, or 2 for incorrect usage."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.evaluation.tokens", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of the data sets")
    parser.add_argument("--sets", help="names, by comma (default: all that are in DATA)")
    parser.add_argument("--sample", type=int, default=30, help="pages a set (default %(default)s)")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json, for instance Qwen3's")
    options = parser.parse_args(arguments)
    try:
        count = qwen3(options.tokenizer) if options.tokenizer else stand_in
        sets = options.sets.split(",") if options.sets else _labelled_sets(options.data)
        pages = (page for name in sets for page in read_pages(options.data, name, sample=options.sample))
        loads, left_out = measure(pages, count)
        if not len(loads[RAW].read):
            raise InputError(f"no pages in {options.data}")
    except (UsageError, MachineError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    how = f"tokens of {options.tokenizer.name}" if options.tokenizer else "words, digits and signs in place of tokens"
    sys.stdout.write(f"{len(loads[RAW].read)} pages of {len(sets)} sets, {left_out} left out; {how}\n\n{table(loads)}")
    return 0


def _lengths(page: LabelledPage, count: Count) -> Iterator[tuple[str, tuple[int, int]]]:
    html = decode_page(page)
    yield RAW, (count(html), count(page.truth_text))
    for name in PROFILES:
        split = preprocess(html, profile=name)
        # The paper's answer format. Its number of tokens does not depend on the labels.
        answer = FORMS["json"].text([True] * len(split.blocks))
        yield name, (count(split.simplified_html), count(answer))


def _labelled_sets(data: Path) -> list[str]:
    return names_with(*(role for role in Role if role is not Role.FORMAT_SAMPLE), folder=data)


def _ratio(part: npt.NDArray[np.number], whole: npt.NDArray[np.number], of: Callable[..., np.floating]) -> float:
    return float(of(part) / max(float(of(whole)), 1.0))


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
