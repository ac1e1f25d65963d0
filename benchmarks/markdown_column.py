"""Compares the two converters that could write the `markdown` column: html2text, and our own
`dripper.html.to_markdown`.

    python benchmarks/markdown_column.py --data ../shared/data [--pages 1000]

Pages are drawn evenly from the training sets and extracted with the `cpu` labeler. Both converters
receive the same main HTML. A third program renders their Markdown (markdown-it, CommonMark with
tables). The result is compared with the main HTML: the table shows the fraction of headings, list
items, links, images, table cells, code blocks and words that are found again. Surplus elements and
words do not count.
"""

import argparse
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import html2text
import lxml.html
from markdown_it import MarkdownIt

from dripper import extract
from dripper.html import to_markdown
from dripper.warc import decode
from dripper_lab.datasets import Role, names_with, read_pages

KINDS = {
    "headings": ".//h1 | .//h2 | .//h3 | .//h4 | .//h5 | .//h6",
    "list items": ".//li",
    "links": ".//a[@href]",
    "images": ".//img[@src]",
    "table cells": ".//td | .//th",
    "code blocks": ".//pre",
}
SHOWN = (*KINDS, "words")


def main() -> None:
    """Print a table with a row per converter and a column per kind of structure: the fraction kept
    over all pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("--pages", type=int, default=1000)
    given = parser.parse_args()
    pages = main_htmls(given.data, given.pages)
    true = [counts_of(parsed(html)) for html in pages]
    totals = {kind: sum(count[kind].total() for count in true) for kind in SHOWN}
    print(f"{len(pages)} pages with " + ", ".join(f"{n} {kind}" for kind, n in totals.items()))
    print("| converter |" + "".join(f" {kind} |" for kind in SHOWN) + " CPU ms a page: mean | median |")
    for name, convert in CONVERTERS.items():
        texts, seconds = timed(convert, pages)
        found = [counts_of(parsed(READER.render(text))) for text in texts]
        kept = {k: sum((a[k] & b[k]).total() for a, b in zip(true, found, strict=True)) for k in SHOWN}
        shares = "".join(f" {kept[kind] / totals[kind]:.3f} |" for kind in SHOWN)
        print(f"| {name} |{shares} {statistics.mean(seconds):.2f} | {statistics.median(seconds):.2f} |")


def main_htmls(data: Path, n_pages: int) -> list[str]:
    """Return the main HTML of pages drawn evenly from the training sets."""
    names = names_with(Role.TRAIN_SHIPS, folder=data)
    pages = (page for name in names for page in read_pages(data, name, sample=-(-n_pages * 2 // len(names))))
    results = (extract(decode(page.html, page.content_type).text, url=page.url) for page in pages)
    found = [result.main_html for result in results if result.main_html]
    return found[:: max(1, len(found) // n_pages)][:n_pages]


def parsed(html: str) -> lxml.html.HtmlElement:
    """Parse HTML."""
    return lxml.html.fragment_fromstring(html, create_parent="div")


def counts_of(root: lxml.html.HtmlElement) -> dict[str, Counter[str]]:
    """Count the elements of each kind, whatever they contain, and each distinct word of the
    text."""
    counts = {kind: Counter({kind: sum(map(shows, root.xpath(path)))}) for kind, path in KINDS.items()}
    return counts | {"words": Counter(WORD.findall(" ".join(root.itertext())))}


def shows(element: lxml.html.HtmlElement) -> bool:
    """Return whether an element shows anything. Losing an empty heading, or an image in a data:
    URL, does not matter."""
    return bool(element.text_content().strip()) or (element.tag == "img" and not element.get("src").startswith("data:"))


def timed(convert: Callable[[str], str], pages: list[str]) -> tuple[list[str], list[float]]:
    """Convert the pages. Return the Markdown and the CPU milliseconds of each page."""
    texts, times = [], []
    for html in pages:
        start = time.process_time()
        texts.append(convert(html))
        times.append((time.process_time() - start) * 1000)
    return texts, times


def by_html2text(html: str) -> str:
    """Convert with html2text as in the paper, but with links and images."""
    return html2text.HTML2Text(bodywidth=0).handle(html)


WORD = re.compile(r"\w+")
READER = MarkdownIt("commonmark").enable("table")
CONVERTERS: dict[str, Callable[[str], str]] = {"to_markdown": to_markdown, "html2text": by_html2text}


if __name__ == "__main__":
    main()
