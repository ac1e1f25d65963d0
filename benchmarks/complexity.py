"""Measures how the time of each stage grows with the size of a page that repeats one construct.
Prints the exponent between the sizes n, 2n and 4n, and the milliseconds per MB.

    python benchmarks/complexity.py [--only REGEX] [--size 64000] [--before /path/to/other/lib]
    [--seconds 15] [--all] [--markdown]

A stage with an exponent of about 1 is linear. The exit code is 1 if an exponent exceeds 1.2, or a
stage exceeds its CPU time or memory. The exception is a construct that a parser limit
(`limits.parser_…`) refuses at 64n; its rows say "limit". Each construct and size runs in its own
process, which ends after the given CPU seconds ("cut off"). With `--before`, another version of the
package is measured at the same time, in another process, and its figures are printed first. Without
`--all`, only one stage is printed: the one that grew fastest or, if all are linear, the slowest.
Archives (`tests/support/archive_constructs.py`) have a single stage, `read`. Their times are
relative to the requested size, because some archives are much smaller than their contents.

CPU time is the minimum of two measurements. The exponent is the smaller of the one from 2n to 4n
and the one from n to 4n, because load on the machine lengthens single runs. Runs below 50 ms are
too short to judge, and pass."""

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
"""The size, as a multiple of n (4 MB by default), at which the parser's limits must refuse a
construct that is not linear."""
ROUNDS = 2
LEAST_SECONDS = 0.04
Measure = dict[str, list[float]]
"""Stage → seconds at n, 2n and 4n. The list is shorter if the construct was cut off."""
OVER = "over"


def stages(html: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each stage of a page, in order, and a function that runs the stage once. If
    another version has different internal modules, only public functions are stages."""
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
    """Yield the only stage of an archive, reading its pages. The size in ARCHIVES is multiplied by
    `size` / 16,000."""
    from dripper.warc import read_records

    build, number, ending = ARCHIVES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{ending}"
        path.write_bytes(build(max(1, number * size // 16_000)))
        yield "read", lambda: sum(1 for _ in read_records(str(path)))


def measure(name: str, size: int, cpu_seconds: int) -> Measure:
    """Return the times of one construct. Each size is measured in a separate process."""
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
    """Return the CPU seconds of one run. Short runs are repeated, because the clock may tick only
    every 10 ms."""
    start, runs = time.process_time(), 0
    while (spent := time.process_time() - start) < LEAST_SECONDS:
        run()
        runs += 1
    return spent / runs


def is_refused(name: str, size: int) -> bool:
    """Return whether a parser limit refuses a page that repeats a construct up to this size."""
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
    """Return the power of the size with which the time grew, or 0 if the time is too short to
    judge."""
    if len(seconds) < 3 or seconds[2] < SHORT_SECONDS:
        return 0.0
    first, second, third = (max(value, 1e-4) for value in seconds)
    return min(math.log2(third / second), math.log2(third / first) / 2)


def worst(measured: Measure) -> str:
    """Return the stage to report: the one that grows fastest or, if all are linear, the slowest.
    `extract` does not count as slowest, because it contains all other stages."""
    if OVER in measured:
        # The process was stopped in the stage after the last finished one, whose name was not sent.
        return OVER
    grown = {stage: exponent(seconds) for stage, seconds in measured.items()}
    if max(grown.values()) > MOST:
        return max(grown, key=grown.__getitem__)
    return max((stage for stage in measured), key=lambda stage: (stage != "extract", measured[stage][-1]))


def is_linear(measured: Measure) -> bool:
    """Return whether every stage finished in linear time."""
    return OVER not in measured and max(map(exponent, measured.values())) <= MOST


@dataclass(frozen=True)
class Table:
    """The output format of the measurements."""

    size: int
    cpu_seconds: int
    is_markdown: bool

    def head(self, with_before: bool) -> str:
        """Return the header lines."""
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
        """Return the line of a construct."""
        if self.is_markdown:
            return f"| {_write_code(name)} | {' | '.join(cells)} |"
        return f"{name[:41]:42}" + "".join(f"{cell:>13}" for cell in cells)

    def cells(self, measured: Measure, stage: str) -> list[str]:
        """Return the cells for the stage, its exponent, and milliseconds per MB."""
        if stage == OVER:
            return ["?", "cut off", f"> {self.cpu_seconds} s"]
        seconds = measured.get(stage, [])
        if len(seconds) < 3:
            return [stage, "-", "-"]
        grown = f"{exponent(seconds):.2f}" if exponent(seconds) else f"< {1000 * SHORT_SECONDS:.0f} ms"
        return [stage, grown, f"{1000 * seconds[2] / (4 * self.size / 1e6):.0f}"]


def _write_code(name: str) -> str:
    """Return a name as inline code for a Markdown table cell. Special characters are escaped."""
    if not re.search(r"[`\[|\\]", name):
        return f"`{name}`"
    return "<code>" + re.sub(r"[^\w ]", lambda match: f"&#{ord(match[0])};", name) + "</code>"


def main() -> int:
    """Measure and print. Return 1 if a stage of this version is not linear."""
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
    """Yield the measurements of the other version, one construct at a time. It runs at the same
    time as this version."""
    command = [sys.executable, __file__, "--json", "--only", arguments.only, "--size", str(arguments.size)]
    command += ["--seconds", str(arguments.seconds)]
    environment = os.environ | {"PYTHONPATH": arguments.before}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        for line in other.stdout:
            yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
