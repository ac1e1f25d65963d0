"""How much of the visible text is in blocks: profiles `dripper` and `mineru-1.1`, a line a data
set.

    python benchmarks/recall.py --data ../shared/data [--pages 100] [--sets a,b]

Visible is counted apart from the code measured: lexbor's own text of the body without script,
style, template, iframe, noembed, noframes, datalist, titles and descriptions of pictures, and
without what `hidden` or `display:none` hides. Characters but white space are compared, as
multisets. Also: on how many of the pages where the exact profile loses nothing do both give the
same blocks.
"""

import argparse
import random
import re
import statistics
import sys
from collections import Counter
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from dripper.errors import PageError
from dripper.html import Page, preprocess
from labelled_pages import read_pages

UNSEEN = ["script", "style", "template", "iframe", "noembed", "noframes", "datalist", "title", "desc"]
DISPLAY_NONE = re.compile(r"(?:^|;)\s*display\s*:\s*none\b", re.IGNORECASE)
NOT_PAGES = frozenset({"warc", "wceb_reference", "webmainbench-samples"})


def main(argv: list[str]) -> int:
    """Print the table; return 1 if the default's recall is under 99.9 % or fewer than 98 % of
    blocks agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=100, help="pages a set")
    parser.add_argument("--sets", default="")
    arguments = parser.parse_args(argv)
    found = (path.name.removesuffix(".tar.xz") for path in arguments.data.glob("*.tar.xz"))
    names = arguments.sets.split(",") if arguments.sets else sorted(set(found) - NOT_PAGES)
    print(f"{'data set':28}{'pages':>6}{'dripper':>10}{'worst':>8}{'mineru-1.1':>12}{'worst':>8}{'same blocks':>16}")
    recalls: list[tuple[float, float]] = []
    same = comparable = 0
    for name in names:
        pages = list(read_pages(arguments.data / f"{name}.tar.xz"))
        rows = []
        for page in random.Random(1).sample(pages, min(arguments.pages, len(pages))):
            row = measure(page.html)
            if row is not None:
                rows.append(row)
                if row[0] < 0.98:
                    print(f"  {page.page_id}: {row[0]:.4f}")
        recalls += [row[:2] for row in rows]
        agree = [row[2] for row in rows if row[2] is not None]
        same, comparable = same + sum(agree), comparable + len(agree)
        _print(name, [row[:2] for row in rows], sum(agree), len(agree))
    _print("all", recalls, same, comparable)
    return int(statistics.fmean(ours for ours, _ in recalls) < 0.999 or same < 0.98 * comparable)


def measure(html: str) -> tuple[float, float, bool | None] | None:
    """Return both recalls, and whether the blocks agree (None where MinerU-HTML loses text); None
    where it fails."""
    wanted = Counter(visible(html))
    try:
        ours, exact = preprocess(html), preprocess(html, "mineru-1.1")
    except PageError:
        return None
    agree = None
    if _letters(ours) == _letters(exact):
        agree = _texts(ours) == _texts(exact)
    return _recall(_letters(ours), wanted), _recall(_letters(exact), wanted), agree


def visible(html: str) -> str:
    """Return the visible text, as lexbor gives it."""
    document = LexborHTMLParser(html)
    document.strip_tags(UNSEEN)
    hidden = [node for node in document.css("body [hidden], body [style]") if _hides(node.attributes)]
    for node in reversed(hidden):
        node.decompose()
    return "".join(document.body.text().split()) if document.body is not None else ""


def _hides(attributes: dict[str, str | None]) -> bool:
    return "hidden" in attributes or bool(DISPLAY_NONE.search(attributes.get("style") or ""))


def _letters(page: Page) -> Counter[str]:
    return Counter("".join("".join(block.text.split()) for block in page.blocks))


def _texts(page: Page) -> list[str]:
    return [text for block in page.blocks if (text := "".join(block.text.split()))]


def _recall(have: Counter[str], wanted: Counter[str]) -> float:
    return (have & wanted).total() / wanted.total() if wanted else 1.0


def _print(name: str, recalls: list[tuple[float, float]], same: int, comparable: int) -> None:
    ours, exact = zip(*recalls, strict=True)
    print(
        f"{name:28}{len(recalls):6}{statistics.fmean(ours):10.5f}{min(ours):8.4f}"
        f"{statistics.fmean(exact):12.5f}{min(exact):8.4f}{f'{same} of {comparable}':>16}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
