"""Measures the cost of a page independently of the machine: distinct functions called, calls, and
regex passes over the whole page.

    python -m dripper_lab.gate.price FOLDER DATA_SET

prints the costs as JSON. This must be a separate process, because passes are counted by replacing
`re.compile` before the product compiles its own patterns. The module `turns` measures time.
"""

import importlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from dripper_lab.gate.bounds import Figures

WRITTEN_IN_C = ("tree.loops", "tree.scan", "labels.cpu.arithmetic", "labels.cpu.features.characters")
"""Modules that run compiled if a compiler was available. Their calls are never counted."""
SEARCHING = ("search", "findall", "finditer", "sub", "subn", "split")
"""Methods that can scan a string to its end, unlike `match`."""


@dataclass(frozen=True, slots=True)
class Price:
    """The cost of one page."""

    functions: int
    """The number of distinct product functions called, not counting comprehensions and lambdas."""
    calls: int
    """The number of calls to these functions. Each time a generator resumes counts as a call."""
    passes: int
    """The number of regex searches in strings of at least half the page's length."""


def measure_prices(folder: Path, data_set: str) -> Figures:
    """Return the cost of each page in a set and their total, measured in a separate process."""
    command = [sys.executable, "-m", __name__, str(folder), data_set]
    environment = os.environ | {"PYTHONHASHSEED": "0"}  # Some calls depend on the order of sets.
    measured = json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    )
    figures = {
        f"price.{page}.{unit}": float(value) for page, price in measured.items() for unit, value in price.items()
    }
    for unit in ("functions", "calls", "passes"):
        figures[f"price.all.{unit}"] = float(sum(price[unit] for price in measured.values()))
    return figures


def main(arguments: list[str]) -> int:
    """Print page → cost; return 0."""
    passes = PassCounter()
    passes.watch("dripper.")
    # Imported this late, because patterns compiled on import must be counted.
    import dripper
    from dripper_lab.datasets import read_pages

    twins = [importlib.import_module(f"dripper.{name}") for name in WRITTEN_IN_C]
    for twin in twins:
        vars(twin)["IN_C"] = False
    folder, left_out = f"{Path(dripper.__file__).parent}{os.sep}", {str(twin.__file__) for twin in twins}
    prices = {}
    for page in read_pages(Path(arguments[0]), arguments[1]):
        extract = partial(dripper.extract, page.html, url=page.url)
        extract()  # Warm up, so that loading and caching are not measured.
        passes.begin(len(page.html))
        calls = count_calls(extract, folder, left_out)
        prices[page.id] = asdict(Price(len(calls), calls.total(), passes.n))
    sys.stdout.write(json.dumps(prices))
    return 0


def count_calls(run: Callable[[], object], folder: str, left_out: Collection[str]) -> Counter[tuple[str, str]]:
    """Run a function. Return how often each function in the files of a folder was called, except in
    the files `left_out`."""
    calls = Counter[tuple[str, str]]()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folder) and not code.co_name.startswith("<"):
            calls[code.co_filename, code.co_qualname] += 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return Counter({(file, name): n for (file, name), n in calls.items() if file not in left_out})


class PassCounter:
    """Counts searches in strings that are at least half as long as a page."""

    def __init__(self) -> None:
        self.n = 0
        self._least = sys.maxsize

    def begin(self, length: int) -> None:
        """Start counting for a page of this length, in bytes."""
        self.n, self._least = 0, length // 2

    def note(self, text: str | bytes) -> None:
        """Count a search in `text`."""
        self.n += len(text) >= self._least

    def watch(self, package: str) -> None:
        """Count searches of the patterns that modules with this name prefix compile from now on."""
        compile_pattern = re.compile

        def compile_watched(pattern: Any, flags: int = 0) -> Any:
            compiled = compile_pattern(pattern, flags)
            by = str(sys._getframe(1).f_globals.get("__name__"))
            return WatchedPattern(compiled, self) if by.startswith(package) else compiled

        vars(re)["compile"] = compile_watched
        for name in (*SEARCHING, "match", "fullmatch"):
            vars(re)[name] = _forward(name)


class WatchedPattern:
    """A pattern that counts its searches."""

    def __init__(self, pattern: re.Pattern[Any], counter: PassCounter) -> None:
        self._pattern = pattern
        for name in SEARCHING:
            setattr(self, name, _count(getattr(pattern, name), 1 if name in ("sub", "subn") else 0, counter))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)


def _count(search: Callable[..., Any], place: int, counter: PassCounter) -> Callable[..., Any]:
    """Wrap a search function to count calls. `place` is the index of the text argument."""

    def counted(*args: Any, **kwargs: Any) -> Any:
        counter.note(args[place])
        return search(*args, **kwargs)

    return counted


def _forward(name: str) -> Callable[..., Any]:
    """Wrap a function of `re` so that it accepts watched patterns."""
    plain = getattr(re, name)

    def forward(pattern: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(pattern, WatchedPattern):
            return getattr(pattern, name)(*args, **kwargs)
        return plain(pattern, *args, **kwargs)

    return forward


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
