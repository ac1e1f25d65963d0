"""How many pages a fixed quality filter keeps of one labeler's output, and of several together.

    python benchmarks/union.py --pages FOLDER [--sample 250]

FOLDER: unpacked pages without a truth (`pages.jsonl` beside them). "Beyond a single extractor"
(arXiv 2602.19548) counts tokens past a filter when any of several extractors may pass a page, and
reports up to 71 % more. "One of them" is that: a page passes where the output of one labeler does.
`any:` is the union of blocks instead. The filter is Gopher's rules (Rae et al. 2021, A.1.1) in
short: 50 to 100,000 words, 3 to 10 letters a word, four fifths of the words with a letter, two of
eight English stop words, a tenth of the lines at most with an ellipsis at their end.
"""

import argparse
import re
from itertools import islice
from pathlib import Path

from dripper import extract
from dripper.errors import PageError
from dripper_lab.annotation.sources import unlabelled_pages
from dripper_lab.evaluation.store import decode_page

LABELERS = ("cpu", "web2text", "trafilatura")
STOP_WORDS = frozenset({"the", "be", "to", "of", "and", "that", "have", "with"})


def passes(text: str) -> bool:
    """The fixed filter."""
    words = text.split()
    if not 50 <= len(words) <= 100_000 or not 3 <= sum(map(len, words)) / len(words) <= 10:
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    return (
        sum(any(map(str.isalpha, word)) for word in words) >= 0.8 * len(words)
        and len(STOP_WORDS & {word.lower().strip(".,;:") for word in words}) >= 2
        and sum(line.rstrip().endswith(("…", "...")) for line in lines) <= 0.1 * len(lines)
    )


def main() -> None:
    """Print pages and words past the filter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", required=True, help="folder of unlabelled pages")
    parser.add_argument("--sample", type=int, default=250)
    given = parser.parse_args()
    assert Path(given.pages).is_dir()
    names = [*LABELERS, "any:" + ",".join(LABELERS)]
    kept = dict.fromkeys([*names, "one of them"], (0, 0))
    n = 0
    for page in islice((each for each in unlabelled_pages([given.pages]) if not isinstance(each, tuple)), given.sample):
        try:
            html = decode_page(page)
            texts = {name: extract(html, url=page.url, labeler=name).text for name in names}
        except PageError:
            continue
        n += 1
        words = {name: len(re.findall(r"\w+", text)) for name, text in texts.items() if passes(text)}
        best = max((words[name] for name in LABELERS if name in words), default=0)
        for name, count in {**words, **({"one of them": best} if best else {})}.items():
            kept[name] = (kept[name][0] + 1, kept[name][1] + count)
    print(f"{n} pages\n\n| | pages past the filter | their words |\n|---|---|---|")
    for name, (pages, count) in kept.items():
        print(f"| {name} | {pages} | {count:,} |")


if __name__ == "__main__":
    main()
