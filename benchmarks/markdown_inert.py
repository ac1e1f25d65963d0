"""Does rendered Markdown show what main HTML shows, and nothing else?

    python benchmarks/markdown_inert.py --data ../shared/data [--pages 300]

Labelled pages are extracted with the labeler `cpu`, and their main HTML becomes Markdown, which
four programs render with HTML passed through. Counted: pages whose text differs from that of main
HTML (blanks aside), pages with elements that main HTML has not, and CPU time of the Markdown. Pages
with formulas are left out of the first, as their LaTeX has no escapes. The renderers' own tests:
tests/html/markdown/test_inert.py.
"""

import argparse
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from dripper import extract
from dripper.html import to_markdown
from dripper.warc import decode
from dripper_lab.datasets import Role, names_with, read_pages
from support.renderers import RENDERERS, differs, forged

LARGEST = 400_000
"""Characters of main HTML: the renderers need minutes for more."""


def main() -> None:
    """Print a table: renderer, pages with another text, pages with other elements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("--pages", type=int, default=300)
    given = parser.parse_args()
    texts, elements, milliseconds, formulas = Counter[str](), Counter[str](), list[float](), 0
    pages = main_htmls(given.data, given.pages)
    for url, html in pages:
        started = time.process_time()
        markdown = to_markdown(html, is_pruned=True)
        milliseconds.append(1000 * (time.process_time() - started))
        formulas += "$" in markdown
        for name in RENDERERS:
            is_forged = bool(forged(RENDERERS[name](markdown), html, name))
            elements[name] += is_forged
            is_other = "$" not in markdown and differs(markdown, html, name)
            texts[name] += is_other
            if is_forged or is_other:
                print(f"{name}: {url}", file=sys.stderr)
    print(f"{len(pages)} pages, {formulas} with a dollar sign")
    print(f"CPU ms a page: mean {statistics.mean(milliseconds):.2f}, median {statistics.median(milliseconds):.2f}")
    print("| renderer | other text or elements | other elements |")
    for name in RENDERERS:
        print(f"| {name} | {texts[name]} | {elements[name]} |")


def main_htmls(data: Path, n_pages: int) -> list[tuple[str, str]]:
    """Return address and main HTML of pages of the training sets, as many of each as there are."""
    names = names_with(Role.TRAIN_SHIPS)
    pages = (page for name in names for page in read_pages(data, name, sample=-(-n_pages // len(names))))
    results = ((page.url, extract(decode(page.html, page.content_type).text, url=page.url).main_html) for page in pages)
    return [(url or "", html) for url, html in results if html and len(html) < LARGEST]


if __name__ == "__main__":
    main()
