"""Time of each stage over pages that repeat one construct, at n, 2n and 4n: the exponent by which
it grows, and ms a MB.

    python benchmarks/complexity.py [--only REGEX] [--size 64000] [--before /path/to/other/lib]
    [--seconds 15] [--all] [--markdown]

A stage is linear where the exponent is about 1. Exit code 1 where one is above 1.2, or used up its
CPU seconds or memory, unless a limit of the parser (`limits.parser_…`) refuses the page at 64n:
"limit" stands beside it then. Each construct has a process of its own for each size, which ends
after so many CPU seconds ("cut off"). `--before` measures another version of the package, too, at
the same time in another process, and prints its figures first. Without `--all` only the stage that
grew fastest is printed, or the slowest of those that grew no faster than the page. Archives
(`tests/support/archive_constructs.py`) have one stage, `read`, and times by the size asked for, as
some are much smaller than what they hold.

CPU time is the least of two measurements. The exponent is the smaller of that from 2n to 4n and
that from n to 4n, as a busy machine makes single times longer; a run below 50 ms is too short to
tell, and passes."""

import argparse
import functools
import importlib
import json
import math
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dripper.html import prune_page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.archive_constructs import ARCHIVES  # noqa: E402
from support.constructs import CONSTRUCTS  # noqa: E402

MOST = 1.2
SHORT_SECONDS = 0.05
MEMORY_BYTES = 4 << 30
AT_THE_LIMIT = 64
"""So many times n, 4 MB by default, a page of a construct that a limit cuts off is refused."""
ROUNDS = 2
LEAST_SECONDS = 0.04
Measure = dict[str, list[float]]
"""Seconds by stage, at n, 2n and 4n; shorter where the construct was cut off."""
OVER = "over"


def stages(html: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the stages of one page, in order, each as what runs it once; of a version whose modules
    have other names the public ones."""
    try:
        importlib.import_module("dripper.tree.parser")
    except ImportError:
        yield from _public_stages(html)
    else:
        yield from _all_stages(html)


def _public_stages(html: str) -> Iterator[tuple[str, Callable[[], object]]]:
    import dripper
    from dripper.html import preprocess, to_markdown, to_text

    page = preprocess(html)
    main_html = prune_page(page, page.item_ids)
    yield "preprocess", lambda: preprocess(html)
    yield "prune", lambda: prune_page(page, page.item_ids)
    yield "markdown", lambda: to_markdown(main_html)
    yield "text", lambda: to_text(main_html)
    yield "extract", lambda: dripper.extract(html)


def _all_stages(html: str) -> Iterator[tuple[str, Callable[[], object]]]:
    import dripper
    from dripper.blocks.profiles.dripper import DRIPPER, find_unseen
    from dripper.errors import PageError
    from dripper.facts.language import detect
    from dripper.facts.metadata import read_metadata
    from dripper.html import preprocess, prune, rewrite, to_markdown, to_text
    from dripper.labels.cpu.features.page_features import compute_features
    from dripper.settings import HtmlSettings
    from dripper.tree.head import read_head, read_hints
    from dripper.tree.parser import parse_document, read_title, refuse_costly
    from dripper.tree.urls import Base
    from dripper.write.tei import TeiSource, to_tei

    utf8 = html.encode("utf-8", "ignore")
    refused = False

    def limits() -> None:
        nonlocal refused
        try:
            refuse_costly(utf8)
        except PageError:
            refused = True

    yield "limits", limits
    if refused:
        yield "extract", lambda: dripper.extract(html)
        return
    yield "parse", lambda: parse_document(utf8).html
    yield "preprocess", lambda: preprocess(html)
    page = preprocess(html)
    tree, document = page.elements, parse_document(utf8)
    unseen = find_unseen(document)

    def metadata() -> object:
        head = read_head(unseen)
        return read_hints(head), read_metadata(head, tree), read_title(document)

    yield "metadata", metadata
    yield "blocks", lambda: DRIPPER._split(tree, "")

    def both() -> object:
        page._simplified = page._mapping = None
        return page.simplified_html, page.mapping_html

    yield "simplify", both
    yield "features", lambda: compute_features(page)
    labeler = _labeler()
    yield "labels", lambda: labeler.label([page])
    mapping, odd = page.mapping_html, list(page.item_ids)[::2]
    yield "prune", lambda: (prune_page(page, page.item_ids), prune_page(page, odd), prune(mapping, odd))
    main_html = prune_page(page, page.item_ids)
    base = Base.of("https://e.org/a/b.html", page.hints.base[:1000])
    yield "rewrite", lambda: rewrite(main_html, HtmlSettings(), base)
    written = "".join(rewrite(main_html, HtmlSettings(), base).parts)
    yield "markdown", lambda: to_markdown(written, is_pruned=True)
    yield "text", lambda: to_text(written, is_pruned=True)
    yield "language", lambda: detect("\n".join(block.text for block in page.blocks))
    yield "tei", lambda: to_tei(written, TeiSource())
    yield "extract", lambda: dripper.extract(html)


@functools.cache
def _labeler() -> Any:
    from dripper.labels import load

    return load("cpu")


def _reading(name: str, size: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the stage of an archive: reading its pages. Its sizes are 1/16,000 of what is asked
    for, times those of the table."""
    from dripper.warc import read_records

    build, number, ending = ARCHIVES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{ending}"
        path.write_bytes(build(max(1, number * size // 16_000)))
        yield "read", lambda: sum(1 for _ in read_records(str(path)))


def measure(name: str, size: int, cpu_seconds: int) -> Measure:
    """Return the times of one construct, measured in a process of its own for each size."""
    found: Measure = {}
    for factor in (1, 2, 4):
        ours, theirs = multiprocessing.get_context("fork").Pipe()
        child = multiprocessing.get_context("fork").Process(
            target=_serve, args=(theirs, name, factor * size, cpu_seconds)
        )
        child.start()
        theirs.close()
        try:
            while (told := ours.recv()) is not None:
                found.setdefault(told[0], []).append(told[1])
        except EOFError:
            found[OVER] = []
        child.join()
        if OVER in found:
            break
    return found


def _serve(pipe: Connection, name: str, size: int, cpu_seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds + math.ceil(time.process_time()),) * 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for stage, run in _reading(name, size) if name in ARCHIVES else stages(CONSTRUCTS[name](size)):
        pipe.send((stage, min(_time(run) for _ in range(ROUNDS))))
    pipe.send(None)


def _time(run: Callable[[], object]) -> float:
    """Return the CPU seconds of one run, of so many that a clock can tell that ticks every 10
    ms."""
    start, runs = time.process_time(), 0
    while (spent := time.process_time() - start) < LEAST_SECONDS:
        run()
        runs += 1
    return spent / runs


def is_refused(name: str, size: int) -> bool:
    """Tell whether a limit of the parser refuses a page that has so much of a construct."""
    from dripper.errors import PageError
    from dripper.tree.parser import refuse_costly

    if name in ARCHIVES:
        return False
    try:
        refuse_costly(CONSTRUCTS[name](size).encode("utf-8", "ignore"))
    except PageError:
        return True
    return False


def exponent(seconds: list[float]) -> float:
    """Return by which power of the size the time grew; 0 where it is too short to tell."""
    if len(seconds) < 3 or seconds[2] < SHORT_SECONDS:
        return 0.0
    first, second, third = (max(value, 1e-4) for value in seconds)
    return min(math.log2(third / second), math.log2(third / first) / 2)


def worst(measured: Measure) -> str:
    """Return the stage to look at: the one that grows fastest, of linear ones the slowest but
    `extract`, which has them all."""
    if OVER in measured:
        # The stage after the last that was finished; which it was, nobody could say any more.
        return OVER
    grown = {stage: exponent(seconds) for stage, seconds in measured.items()}
    if max(grown.values()) > MOST:
        return max(grown, key=grown.__getitem__)
    return max((stage for stage in measured), key=lambda stage: (stage != "extract", measured[stage][-1]))


def is_linear(measured: Measure) -> bool:
    """Tell whether every stage was finished and grew no faster than the construct."""
    return OVER not in measured and max(map(exponent, measured.values())) <= MOST


@dataclass(frozen=True)
class Table:
    """How measures are printed."""

    size: int
    cpu_seconds: int
    is_markdown: bool

    def head(self, with_before: bool) -> str:
        """Return the first lines."""
        names = [
            "construct",
            *["stage before", "exponent", "ms a MB"] * with_before,
            "stage",
            "exponent",
            "ms a MB",
            "",
        ]
        if self.is_markdown:
            return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"
        return f"{names[0]:42}" + "".join(f"{name:>13}" for name in names[1:])

    def row(self, name: str, cells: list[str]) -> str:
        """Return a line."""
        if self.is_markdown:
            return f"| {_write_code(name)} | {' | '.join(cells)} |"
        return f"{name[:41]:42}" + "".join(f"{cell:>13}" for cell in cells)

    def cells(self, measured: Measure, stage: str) -> list[str]:
        """Return stage, exponent and ms a MB."""
        if stage == OVER:
            return ["?", "cut off", f"> {self.cpu_seconds} s"]
        seconds = measured.get(stage, [])
        if len(seconds) < 3:
            return [stage, "-", "-"]
        grown = f"{exponent(seconds):.2f}" if exponent(seconds) else f"< {1000 * SHORT_SECONDS:.0f} ms"
        return [stage, grown, f"{1000 * seconds[2] / (4 * self.size / 1e6):.0f}"]


def _write_code(name: str) -> str:
    """Return a name as code in a cell of Markdown, whatever marks it has."""
    if not re.search(r"[`\[|\\]", name):
        return f"`{name}`"
    return "<code>" + re.sub(r"[^\w ]", lambda match: f"&#{ord(match[0])};", name) + "</code>"


def main() -> int:
    """Measure and print; return 1 where a stage of this version is not linear."""
    arguments = _parse_arguments()
    names = [name for name in (*CONSTRUCTS, *ARCHIVES) if re.search(arguments.only, name)]
    table = Table(arguments.size, arguments.seconds, arguments.markdown)
    _load()
    before = _measure_before(arguments) if arguments.before else None
    if not arguments.json:
        print(table.head(before is not None), flush=True)
    bad = 0
    for name in names:
        measured = measure(name, arguments.size, arguments.seconds)
        if arguments.json:
            print(json.dumps({"name": name, "measured": measured}), flush=True)
            continue
        other = next(before)["measured"] if before else None
        is_good = is_linear(measured)
        is_cut_off = not is_good and is_refused(name, AT_THE_LIMIT * arguments.size)
        note = "" if is_good else "limit" if is_cut_off else "not linear"
        first = table.cells(other, worst(other)) if other is not None else []
        for stage in measured if arguments.all else [worst(measured)]:
            print(table.row(name, [*first, *table.cells(measured, stage), note]), flush=True)
        bad += not is_good and not is_cut_off
    return 1 if bad else 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="constructs whose name matches")
    parser.add_argument("--size", type=int, default=64_000, help="characters at n (default 64000)")
    parser.add_argument("--seconds", type=int, default=15, help="CPU seconds of one construct at one size (default 15)")
    parser.add_argument("--before", help="the folder `lib` of the version to compare with")
    parser.add_argument("--all", action="store_true", help="print every stage")
    parser.add_argument("--markdown", action="store_true", help="print a table of Markdown")
    parser.add_argument("--json", action="store_true", help="print a line of JSON a construct")
    return parser.parse_args()


def _load() -> None:
    import dripper

    dripper.extract("<p>One page, so that all is loaded.</p>")
    _labeler()


def _measure_before(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what the other version measures, construct by construct, while this one is measured."""
    command = [sys.executable, __file__, "--json", "--only", arguments.only, "--size", str(arguments.size)]
    command += ["--seconds", str(arguments.seconds)]
    environment = os.environ | {"PYTHONPATH": arguments.before}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        for line in other.stdout:
            yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
