"""Damages real pages at random for a given time and checks the laws of the HTML core; prints
counts, stops at a failure.

    PYTHONPATH=lib:tests:tests/html python benchmarks/fuzz_html.py --minutes 30 [--seed 1]

A page is made of one or two of the committed pages: pieces cut, doubled, moved, tags of other pages
put in, single characters replaced. The laws are those of tests/html/profiles/test_lossless.py;
beside them, the exact profile raises nothing but PageError, its ids correspond, and Markdown always
converts. A page that takes more than 5 s of CPU is a failure.
"""

import argparse
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path

from test_lossless import PIECES, TEXTS

from dripper.errors import PageError
from dripper.html import preprocess, to_markdown
from support.laws import check_laws

SLOW = 5.0
ODD = [
    "\0",
    "\x01",
    "\x0b",
    "\ud800",
    "\ufffe",
    "<",
    ">",
    "&",
    '"',
    "'",
    "/",
    "=",
    "\n",
    "\u00a0",
    "<!--",
    "-->",
    "&#",
    "]]>",
]


def main(argv: list[str]) -> int:
    """Run; return 1 if a law was broken, having written the page to fuzz_failure.html."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(argv)
    chance, counts = random.Random(arguments.seed), Counter[str]()
    tags = sorted({tag for text in TEXTS for tag in re.findall(r"<[^>]{1,200}>", text)})
    end = time.monotonic() + 60 * arguments.minutes
    while time.monotonic() < end:
        html = damaged(chance, tags)
        start = time.process_time()
        try:
            check(html, counts)
            if time.process_time() - start > SLOW:
                raise AssertionError(f"{time.process_time() - start:.1f} s")
        except Exception as error:
            Path("fuzz_failure.html").write_text(html, encoding="utf-8", errors="surrogatepass")
            print(f"after {counts['pages']} pages: {type(error).__name__}: {error}")
            return 1
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 0


def damaged(chance: random.Random, tags: list[str]) -> str:
    """Return a page that no one wrote."""
    html = chance.choice(TEXTS)
    if len(html) > 60_000:
        start = chance.randrange(len(html) - 60_000)
        html = html[start : start + 60_000]
    for _ in range(chance.choice([1, 3, 10, 40])):
        place, other = chance.randrange(len(html) + 1), chance.randrange(len(html) + 1)
        size = int(len(html) ** chance.random())
        match chance.randrange(6):
            case 0:
                html = html[:place] + html[place + size :]
            case 1:
                html = html[:place] + html[other : other + size] + html[place:]
            case 2:
                html = html[:place] + chance.choice(tags) * chance.choice([1, 1, 1, 30]) + html[place:]
            case 3:
                html = html[:place] + chance.choice(PIECES.split()) + html[place:]
            case 4:
                html = html[:place] + chance.choice(ODD) * chance.choice([1, 1, 100]) + html[place + 1 :]
            case _:
                donor = chance.choice(TEXTS)
                start = chance.randrange(len(donor))
                html = html[:place] + donor[start : start + size] + html[place:]
        html = html[:120_000]
    return html


def check(html: str, counts: Counter[str]) -> None:
    """Check one page under all laws."""
    counts["pages"] += 1
    try:
        check_laws(html)
        page = preprocess(html)
        counts["blocks"] += len(page.blocks)
        to_markdown(page.prune(list(page.item_ids)[::3]))
    except PageError:
        counts["refused"] += 1
    try:
        exact = preprocess(html, "mineru-1.1")
    except PageError:
        counts["failed as MinerU-HTML fails"] += 1
        return
    ids = re.findall(r' _item_id="(\d+)">', exact.simplified_html)
    assert ids == [str(item_id) for item_id in exact.item_ids]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
