"""The price of a page that is the same on every machine: functions that it visits, calls of them,
and passes of regular expressions over all of it.

    python -m dripper_lab.gate.price FOLDER DATA_SET

prints it as JSON. It is a separate process: expressions are counted by a replacement of `re`, which
must be installed before the product compiles its own. Times are for benchmarks.
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

WRITTEN_IN_C = ("html.tree.loops", "html.tree.scan", "labels.cpu.arithmetic", "labels.cpu.features.characters")
"""Modules that run compiled if there was a compiler: their calls are never counted."""
SEARCHING = ("search", "findall", "finditer", "sub", "subn", "split")
"""Methods that go on to the end of a text, other than `match`."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one page."""

    functions: int
    """Functions of the product that were called, comprehensions and lambdas left out."""
    calls: int
    """Calls of them; a generator counts each time it resumes."""
    passes: int
    """Searches of an expression in a text of at least half the page's length."""


def measure_prices(folder: Path, data_set: str) -> Figures:
    """Return the price of each page of a set in a separate process, and of all together."""
    command = [sys.executable, "-m", __name__, str(folder), data_set]
    environment = os.environ | {"PYTHONHASHSEED": "0"}  # The order of sets decides some calls.
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
    """Print page → price; return 0."""
    passes = PassCounter()
    passes.watch("dripper.")
    # Not earlier: expressions compiled on import would not be counted.
    import dripper
    from dripper_lab.datasets import read_pages

    twins = [importlib.import_module(f"dripper.{name}") for name in WRITTEN_IN_C]
    for twin in twins:
        vars(twin)["IN_C"] = False
    folder, left_out = f"{Path(dripper.__file__).parent}{os.sep}", {str(twin.__file__) for twin in twins}
    prices = {}
    for page in read_pages(Path(arguments[0]), arguments[1]):
        extract = partial(dripper.extract, page.html, url=page.url)
        extract()  # A first page, because loading and caching do not count.
        passes.begin(len(page.html))
        calls = count_calls(extract, folder, left_out)
        prices[page.id] = asdict(Price(len(calls), calls.total(), passes.n))
    sys.stdout.write(json.dumps(prices))
    return 0


def count_calls(run: Callable[[], object], folder: str, left_out: Collection[str]) -> Counter[tuple[str, str]]:
    """Run a function; return how often each function of the files in a folder was called, but for
    those left out."""
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
    """Counts searches in texts that are at least half as long as a page."""

    def __init__(self) -> None:
        self.n = 0
        self._least = sys.maxsize

    def begin(self, length: int) -> None:
        """Begin a page of that length, in bytes."""
        self.n, self._least = 0, length // 2

    def note(self, text: str | bytes) -> None:
        """Count a search in a text."""
        self.n += len(text) >= self._least

    def watch(self, package: str) -> None:
        """Count searches of the expressions that modules with that beginning of a name compile from
        now on."""
        compile_pattern = re.compile

        def compile_watched(pattern: Any, flags: int = 0) -> Any:
            compiled = compile_pattern(pattern, flags)
            by = str(sys._getframe(1).f_globals.get("__name__"))
            return WatchedPattern(compiled, self) if by.startswith(package) else compiled

        vars(re)["compile"] = compile_watched
        for name in (*SEARCHING, "match", "fullmatch"):
            vars(re)[name] = _forward(name)


class WatchedPattern:
    """An expression that counts its searches."""

    def __init__(self, pattern: re.Pattern[Any], counter: PassCounter) -> None:
        self._pattern = pattern
        for name in SEARCHING:
            setattr(self, name, _count(getattr(pattern, name), 1 if name in ("sub", "subn") else 0, counter))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)


def _count(search: Callable[..., Any], place: int, counter: PassCounter) -> Callable[..., Any]:
    """Return a search that counts. place: the argument that is the text."""

    def counted(*args: Any, **kwargs: Any) -> Any:
        counter.note(args[place])
        return search(*args, **kwargs)

    return counted


def _forward(name: str) -> Callable[..., Any]:
    """Return a function of `re` that knows watched expressions."""
    plain = getattr(re, name)

    def forward(pattern: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(pattern, WatchedPattern):
            return getattr(pattern, name)(*args, **kwargs)
        return plain(pattern, *args, **kwargs)

    return forward


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
