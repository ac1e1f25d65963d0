"""Compares the CPU time per page of the checkout and of the base commit. Both versions extract the
same pages alternately, each in its own process.

Times vary between runs. On a busy machine, this variation exceeds the effect of a typical change.
Therefore, the figure is not a mean but a value that noise rarely raises: the second lowest ratio of
nine rounds over all pages. If both versions take equally long, the figure exceeds 1 in only one of
fifty cases: the checkout must be slower in eight of nine rounds. Both processes are restarted after
every three rounds, because their memory layout is random.

Modules that can be compiled run as Python in both versions, because the base commit is not
compiled.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dripper_lab.datasets import read_pages
from dripper_lab.gate.base import find_base, is_unchanged, unpack
from dripper_lab.gate.bounds import Figures

_STARTS, _ROUNDS = 3, 3
"""The number of process starts, and the number of rounds over all pages per start."""
_WORKER = Path(__file__).with_name("turns_worker.py")
_PARTS = ("lib/dripper",)


def measure_turns(root: Path, pages: Path, golden: Path) -> Figures:
    """Return the figure `time.page`, and report the base commit on stderr. Return no figure if
    there is no base commit.

    Args:
        pages: The folder of labeled pages in the checkout.
        golden: The folder of golden pages.
    """
    base = find_base(root)
    if base is None:
        sys.stderr.write("left out: time, as git knows no commit to compare with (GATE_BASE=COMMIT names one)\n")
        return {}
    if is_unchanged(root, base, *_PARTS):
        sys.stderr.write(f"time: lib/dripper is that of {base[:10]}\n")
        return {"time.page": 1.0}
    with tempfile.TemporaryDirectory() as name:
        unpack(root, base, _PARTS[0], Path(name))
        listed = Path(name) / "pages.jsonl"
        listed.write_text("".join(_list_pages(pages, golden)), encoding="utf-8")
        ratios = sorted(compare(root / "lib", Path(name) / "lib", listed))
    sys.stderr.write(f"time: {', '.join(f'{ratio:.3f}' for ratio in ratios)} times that of {base[:10]}\n")
    return {"time.page": ratios[1]}


def _list_pages(pages: Path, golden: Path) -> Iterator[str]:
    """Yield a JSON line per page, with its HTML and URL."""
    for folder in sorted(path for path in pages.iterdir() if path.is_dir()):
        for page in read_pages(pages, folder.name):
            yield json.dumps({"html": page.html.decode("latin-1"), "url": page.url}) + "\n"
    for source in sorted(golden.glob("*/source.html")):
        about = json.loads((source.parent / "about.json").read_text(encoding="utf-8"))
        yield json.dumps({"html": source.read_bytes().decode("latin-1"), "url": about["url"]}) + "\n"


def compare(new: Path, old: Path, pages: Path) -> Iterator[float]:
    """Yield a ratio per round: the CPU time of the version in `new` for all pages, divided by the
    CPU time of the version in `old`.

    Args:
        pages: A file of JSON lines (`html` as Latin-1, `url`).
    """
    n_pages = pages.read_text(encoding="utf-8").count("\n")
    for _ in range(_STARTS):
        with ExitStack() as stack:
            workers = [stack.enter_context(_start(lib, pages)) for lib in (new, old)]
            for worker in workers:
                _take(worker, n_pages)  # the first pass loads modules and does not count
            for _ in range(_ROUNDS):
                yield _race(workers, n_pages)


def _race(workers: Sequence[Any], n_pages: int) -> float:
    spent = [0, 0]
    for page in range(n_pages):
        for each in (0, 1) if page % 2 else (1, 0):
            spent[each] += _ask(workers[each], page)
    return spent[0] / spent[1]


@contextmanager
def _start(lib: Path, pages: Path) -> Iterator[Any]:
    """Start a worker with the packages in a folder."""
    environment = os.environ | {"PYTHONPATH": str(lib), "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(_WORKER), str(lib), str(pages)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        try:
            yield worker
        finally:
            worker.kill()


def _take(worker: Any, n_pages: int) -> None:
    for page in range(n_pages):
        _ask(worker, page)


def _ask(worker: Any, page: int) -> int:
    """Return the CPU time of a page in nanoseconds. Raises RuntimeError if the worker has ended."""
    worker.stdin.write(f"{page}\n")
    worker.stdin.flush()
    answer = worker.stdout.readline()
    if not answer:
        raise RuntimeError(f"the process that extracts pages ended with code {worker.wait()}")
    return int(answer)
