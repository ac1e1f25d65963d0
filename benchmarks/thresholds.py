"""What a chain of labelers gains and costs by the bound under which pages go on to the second one
(docs/labeler_reader.md).

    python benchmarks/thresholds.py --data ../shared/data [--chain cpu,reader]
        [--sets web-kinds-evaluation web-kinds-2-evaluation] [--bounds .6 .7 .8 .9] [--sample 50]

Each page with main content is extracted twice: with the first labeler, and with the chain, which
reads all pages. F1 is ROUGE-5 over words; the gain's interval is a bootstrap over sites; CPU is
that of all extractions, beside the first labeler's alone.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dripper
from dripper.eval import rouge_n
from dripper.warc import to_utf8
from dripper_lab.datasets import LabelledPage, read_pages

DRAWS = 2000


class Scored(NamedTuple):
    """One page, extracted by the first labeler and by both."""

    host: str
    kind: str
    confidence: float
    """By the first."""
    f1: float
    read_f1: float
    seconds: float
    read_seconds: float


def score(pages: Iterator[LabelledPage], chain: str) -> Iterator[Scored]:
    """Yield the scores of pages with main content."""
    first = chain.partition(",")[0]
    for page in pages:
        if not page.truth_text.strip():
            continue
        found, seconds = [], list[float]()
        html = to_utf8(page.html, page.content_type)[0].decode()
        for options in ({"labeler": first}, {"labeler": chain, "escalate_below": 1.0}):
            start = time.process_time()
            found.append(dripper.extract(html, page.url, **options))
            seconds.append(time.process_time() - start)
        f1s = [rouge_n(each.text or "", page.truth_text, tokens="words").f1 for each in found]
        confidence = found[0].confidence
        yield Scored(page.host, page.page_type or "article", 0.0 if confidence is None else confidence, *f1s, *seconds)


def table(pages: Sequence[Scored], bounds: Sequence[float]) -> list[str]:
    """Return a row a bound: pages read, F1, gain with its interval, CPU."""
    confidence, f1, read_f1, seconds, read_seconds = np.array([page[2:] for page in pages], np.float64).T
    hosts = np.unique([page.host for page in pages], return_inverse=True)[1]
    draw, n_hosts = np.random.default_rng(0), int(hosts.max()) + 1
    weights = [np.bincount(draw.integers(n_hosts, size=n_hosts), minlength=n_hosts)[hosts] for _ in range(DRAWS)]
    lines = ["| below | read | F1 | gain | CPU |", "|---|---|---|---|---|", f"| | | {f1.mean():.3f} | | 1 |"]
    for bound in bounds:
        goes_on = confidence < bound
        gain = np.where(goes_on, read_f1 - f1, 0.0)
        low, high = np.quantile([np.average(gain, weights=weight) for weight in weights], [0.025, 0.975])
        cost = np.where(goes_on, read_seconds, seconds).sum() / seconds.sum()
        cells = f"{goes_on.mean():.0%}", f"{(f1 + gain).mean():.3f}"
        lines.append(
            f"| {bound:g} | {' | '.join(cells)} | {gain.mean():+.3f} ({low:+.3f} to {high:+.3f}) | {cost:.1f} |"
        )
    return lines


def by_kind(pages: Sequence[Scored], bounds: Sequence[float]) -> list[str]:
    """Return a row a kind: F1 of the first labeler and at each bound."""
    kinds: dict[str, list[Scored]] = defaultdict(list)
    for page in pages:
        kinds[page.kind].append(page)
    lines = [
        f"| kind | pages | first | {' | '.join(f'{bound:g}' for bound in bounds)} |",
        "|---" * (3 + len(bounds)) + "|",
    ]
    for kind, own in sorted(kinds.items(), key=lambda each: -len(each[1])):
        means = [
            np.mean([page.read_f1 if page.confidence < bound else page.f1 for page in own]) for bound in (0, *bounds)
        ]
        lines.append(f"| {kind} | {len(own)} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Print the tables of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--chain", default="cpu,reader")
    parser.add_argument("--sets", nargs="+", default=["web-kinds-evaluation", "web-kinds-2-evaluation"])
    parser.add_argument("--bounds", nargs="+", type=float, default=[0.6, 0.7, 0.8, 0.85, 0.9, 0.95])
    parser.add_argument("--sample", type=int, help="at most so many pages of each set")
    options = parser.parse_args(arguments)
    dripper.extract("<p>Loads both labelers.", labeler=options.chain, escalate_below=1.0)
    for name in options.sets:
        pages = list(score(read_pages(options.data, name, sample=options.sample), options.chain))
        print(f"\n{name}, {len(pages)} pages\n", *table(pages, options.bounds), "", sep="\n")
        print(*by_kind(pages, options.bounds), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
