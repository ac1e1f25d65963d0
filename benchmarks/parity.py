"""Compares the output of the `mineru-1.1` profile with hashes of MinerU-HTML 1.1.2's output, and
prints a line per data set.

    python benchmarks/parity.py --data ../shared/data [--sets a,b] [--differing FILE]

Pages are decoded in the same way as for the hashes. Pages with a different decoded text are counted
separately. The exit code is 1 if fewer than 99.5 % of the other pages have the same simplified
HTML.
"""

import argparse
import csv
import gzip
import hashlib
import sys
from collections import Counter
from pathlib import Path

from dripper.errors import PageError
from dripper.html import preprocess
from labelled_pages import read_pages

WANTED = 0.995
COLUMNS = ("pages", "other text", "failed", "simplified", "mapping")


def main(argv: list[str]) -> int:
    """Compare and print the table. Return 0 if enough pages are the same, otherwise 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets, with simplify/ in it")
    parser.add_argument("--sets", default="", help="comma-separated names; all by default")
    parser.add_argument("--differing", type=Path, help="write set, id and step of what differs to this file")
    arguments = parser.parse_args(argv)
    with gzip.open(arguments.data / "simplify/golden_simplified.tsv.gz", "rt", encoding="utf-8") as lines:
        golden = {(row["dataset"], row["id"]): row for row in csv.DictReader(lines, delimiter="\t")}
    total, differing = Counter[str](), list[str]()
    print(f"{'data set':28}" + "".join(f"{column:>12}" for column in COLUMNS))
    for name in arguments.sets.split(",") if arguments.sets else sorted({name for name, _ in golden}):
        counts = Counter[str]()
        for page in read_pages(arguments.data / f"{name}.tar.xz"):
            row = golden.get((name, page.page_id))
            if row is not None:
                found = compare(page.html, row)
                counts.update(found)
                differing += [
                    f"{name}\t{page.page_id}\t{step}" for step in ("simplified", "mapping") if not found[step]
                ]
        _print(name, counts)
        total += counts
    _print("all", total)
    if arguments.differing:
        arguments.differing.write_text("".join(f"{line}\n" for line in differing), encoding="utf-8")
    return int(total["simplified"] < WANTED * (total["pages"] - total["other text"]))


def compare(html: str, row: dict[str, str]) -> Counter[str]:
    """Return 1 for each table column in which a page counts."""
    found = Counter(pages=1)
    if _digest(html) != row["sha256_text"]:
        found["other text"] = 1
        return found
    try:
        page = preprocess(html, "mineru-1.1")
    except PageError:
        found["failed"] = 1
        return found
    found["simplified"] = int(_digest(page.simplified_html) == row["sha256_simplified"])
    found["mapping"] = int(_digest(page.mapping_html) == row["sha256_mapping"])
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _print(name: str, counts: Counter[str]) -> None:
    share = f"{100 * counts['simplified'] / max(counts['pages'], 1):8.2f} %"
    print(f"{name:28}" + "".join(f"{counts[column]:12}" for column in COLUMNS) + share)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
