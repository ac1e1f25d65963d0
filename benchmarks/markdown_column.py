"""Which converter should write the column `markdown`: html2text, or our own,
`dripper.html.to_markdown`?

    python benchmarks/markdown_column.py --data ../shared/data [--pages 1000]

Pages are drawn evenly from the training sets, extracted with the labeler `cpu`; both converters are
given the same main HTML. Their Markdown is read again by a third program (markdown-it, CommonMark
with tables), and what it finds is counted against the main HTML: of the headings, list items,
links, images, table cells and code blocks there, how many come back, no more than there were; of
the words of the text, how many come back.
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
    """Print a table: converter by kind of structure, shares over all pages."""
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
    """Return the main HTML of pages of the training sets, as many of each as there are."""
    names = names_with(Role.TRAIN_SHIPS, folder=data)
    pages = (page for name in names for page in read_pages(data, name, sample=-(-n_pages * 2 // len(names))))
    results = (extract(decode(page.html, page.content_type).text, url=page.url) for page in pages)
    found = [result.main_html for result in results if result.main_html]
    return found[:: max(1, len(found) // n_pages)][:n_pages]


def parsed(html: str) -> lxml.html.HtmlElement:
    """Return HTML as a tree."""
    return lxml.html.fragment_fromstring(html, create_parent="div")


def counts_of(root: lxml.html.HtmlElement) -> dict[str, Counter[str]]:
    """Count what a tree holds: by kind, the elements (told apart by nothing), and its words."""
    counts = {kind: Counter({kind: sum(map(shows, root.xpath(path)))}) for kind, path in KINDS.items()}
    return counts | {"words": Counter(WORD.findall(" ".join(root.itertext())))}


def shows(element: lxml.html.HtmlElement) -> bool:
    """Tell whether an element shows anything: an empty heading is no loss, nor is a picture inside
    the address."""
    return bool(element.text_content().strip()) or (element.tag == "img" and not element.get("src").startswith("data:"))


def timed(convert: Callable[[str], str], pages: list[str]) -> tuple[list[str], list[float]]:
    """Convert the pages; CPU milliseconds of each."""
    texts, times = [], []
    for html in pages:
        start = time.process_time()
        texts.append(convert(html))
        times.append((time.process_time() - start) * 1000)
    return texts, times


def by_html2text(html: str) -> str:
    """Convert as the paper's text is made, but with links and images."""
    return html2text.HTML2Text(bodywidth=0).handle(html)


WORD = re.compile(r"\w+")
READER = MarkdownIt("commonmark").enable("table")
CONVERTERS: dict[str, Callable[[str], str]] = {"to_markdown": to_markdown, "html2text": by_html2text}


if __name__ == "__main__":
    main()
