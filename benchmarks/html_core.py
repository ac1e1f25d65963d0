"""Compares the CPU time of the HTML core with that of MinerU-HTML 1.1.2 on the same pages, and
shows how the core's time grows with the size of a page.

    python benchmarks/html_core.py --data ../shared/data [--pages 300] [--sets a,b]
        [--peer /path/to/venv/bin/python]

Pages are drawn evenly from the data sets (seed 1). MinerU-HTML needs its own interpreter
(selectolax < 1). Without --peer, it is installed into a temporary virtual environment. All tools
process the pages three times, in turn; the minimum time of a page counts. For the pages on which
ours is slower, the output says on how many of them MinerU-HTML finds at most one block. There, a
self-closing `iframe` swallows the rest of the page, which saves time.
"""

import argparse
import json
import logging
import math
import pickle
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dripper.errors import PageError
from dripper.html import Page, preprocess, prune, prune_page, to_markdown, to_text
from labelled_pages import read_pages

PEER_PACKAGES = ["selectolax<1", "lxml==6.1.3", "beautifulsoup4", "pydantic"]
ROUNDS = 3
log = logging.getLogger("html_core")


def main(argv: list[str]) -> int:
    """Run the benchmark and print tables. Each ratio is beside its target."""
    arguments = _parse(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    pages = _sample(arguments.data, arguments.pages, arguments.sets)
    characters = sum(map(len, pages))
    print(
        f"{len(pages)} pages of {characters / len(pages) / 1000:.0f} thousand characters on the mean, {platform.machine()}"
    )
    print(", ".join(f"{name} {version(name)}" for name in ("selectolax", "lxml", "html2text")))
    with tempfile.TemporaryDirectory() as work:
        peer = arguments.peer or _make_peer(Path(work))
        times = _measure(pages, peer, Path(work))
    _report(times)
    linearity()
    return 0


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--sets", default="", help="comma-separated names; all by default")
    parser.add_argument("--peer", help="a Python with mineru-html 1.1.2 and selectolax < 1")
    return parser.parse_args(argv)


def _sample(data: Path, count: int, sets: str) -> list[str]:
    names = sets.split(",") if sets else sorted(path.name.removesuffix(".tar.xz") for path in data.glob("*.tar.xz"))
    by_set = [[page.html for page in read_pages(data / f"{name}.tar.xz")] for name in names if name not in NOT_PAGES]
    by_set = [pages for pages in by_set if pages]
    each = math.ceil(count / len(by_set))
    chosen = [html for pages in by_set for html in random.Random(1).sample(pages, min(each, len(pages)))]
    return chosen[:count]


NOT_PAGES = frozenset({"warc", "wceb_reference"})


def _make_peer(work: Path) -> str:
    """Install mineru-html without its inference dependencies, which are not needed for simplifying.
    Return the path of the interpreter."""
    subprocess.run([sys.executable, "-m", "venv", work / "peer"], check=True)
    pip = [str(work / "peer/bin/pip"), "install", "-q"]
    subprocess.run([*pip, "--no-deps", "mineru-html==1.1.2"], check=True)
    subprocess.run([*pip, *PEER_PACKAGES], check=True)
    return str(work / "peer/bin/python")


def _measure(pages: list[str], peer: str, work: Path) -> dict[str, list[float]]:
    """Return step → minimum CPU seconds of each page."""
    (work / "pages.pickle").write_bytes(pickle.dumps(pages))
    best: dict[str, list[float]] = {}
    for round_number in range(ROUNDS):
        rounds = _ours(pages)
        command = [peer, str(Path(__file__).with_name("mineru_peer.py")), str(work / "pages.pickle")]
        rounds |= json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for name, seconds in rounds.items():
            best[name] = [min(pair) for pair in zip(best.get(name, seconds), seconds, strict=True)]
        log.info("round %d of %d done", round_number + 1, ROUNDS)
    return best


def _timed(seconds: list[float], call: Callable[..., Any], *arguments: object) -> Any:
    start = time.process_time()
    result = call(*arguments)
    seconds.append(time.process_time() - start)
    return result


def _ours(pages: list[str]) -> dict[str, list[float]]:
    names = (
        "preprocess (blocks only)",
        "preprocess + both HTML",
        "preprocess, mineru-1.1",
        "prune in hand",
        "prune staged",
    )
    times: dict[str, list[float]] = {name: [] for name in (*names, "to_markdown", "to_text")}
    for html in pages:
        _timed(times[names[0]], preprocess, html)
        page = _timed(times[names[1]], _both, html, "dripper")
        _timed(times[names[2]], _both, html, "mineru-1.1")
        middle = [k for k in page.item_ids if 0.3 * len(page.blocks) < k <= 0.7 * len(page.blocks)]
        main_html = _timed(times[names[3]], partial(prune_page, page), middle)
        _timed(times[names[4]], prune, page.mapping_html, middle)
        _timed(times["to_markdown"], to_markdown, main_html)
        _timed(times["to_text"], to_text, main_html)
    return times


def _both(html: str, profile: str) -> Page:
    page = preprocess(html, profile)
    _ = page.simplified_html, page.mapping_html
    return page


def _report(times: dict[str, list[float]]) -> None:
    blocks = times.pop("mineru blocks")
    print(f"\n{'step':28}{'mean ms':>9}{'median':>9}{'p95':>9}{'max':>9}")
    for name, seconds in times.items():
        ranked = sorted(1000 * second for second in seconds)
        mean, median = statistics.fmean(ranked), statistics.median(ranked)
        print(f"{name:28}{mean:9.2f}{median:9.2f}{ranked[int(0.95 * len(ranked))]:9.2f}{ranked[-1]:9.1f}")
    print(f"\n{'ratio of means':52}{'times':>7}{'target':>8}{'slower pages':>14}{'lost by mineru':>16}")
    for ours, peer, target in (
        ("preprocess (blocks only)", "mineru simplify", 6.0),
        ("preprocess + both HTML", "mineru simplify", 6.0),
        ("preprocess, mineru-1.1", "mineru simplify", 4.0),
        ("prune in hand", "mineru prune", 15.0),
        ("prune staged", "mineru prune", 15.0),
    ):
        ratio = statistics.fmean(times[peer]) / statistics.fmean(times[ours])
        slower = [n for a, b, n in zip(times[ours], times[peer], blocks, strict=True) if a > b]
        lost = sum(n <= 1 for n in slower)
        print(f"{ours + ' / ' + peer:52}{ratio:7.1f}{target:8.0f}{len(slower):14}{lost:16}")


def linearity() -> None:
    """Print the CPU time of ever larger pages as a bar chart. A page of twice the size should take
    twice the time."""
    print(f"\n{'MB':>4}{'blocks':>9}{'seconds':>9}{'s/MB':>7}")
    for megabytes in (1, 2, 4, 8, 16):
        unit = (
            '<div class="c x"><h2>t</h2><p>'
            + "word " * 20
            + '<a href="/x">l</a></p><ul><li>a</li><li>b</li></ul></div>\n'
        )
        html = unit * (megabytes * 1_000_000 // len(unit))
        start = time.process_time()
        try:
            page = _both(html, "dripper")
        except PageError as error:
            print(f"{megabytes:4} {error}")
            continue
        seconds = time.process_time() - start
        bar = "#" * round(20 * seconds)
        print(f"{megabytes:4}{len(page.blocks):9}{seconds:9.2f}{seconds / megabytes:7.2f} {bar}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
