"""Does rendered Markdown show what main HTML shows, and nothing else?

    python benchmarks/markdown_inert.py --data ../shared/data [--pages 300] [--seconds 1200]

Labelled pages are extracted with the labeler `cpu`, and their main HTML becomes Markdown, which
four programs render with HTML passed through. Counted: pages whose text differs from that of main
HTML (blanks aside), pages with elements that main HTML has not, and CPU time of the Markdown. Pages
with formulas are left out of the first, as their LaTeX has no escapes. The renderers' own tests:
tests/write/markdown/test_inert.py.
"""

import argparse
import math
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from _main_htmls import read_main_htmls
from dripper.html import to_markdown
from support.renderers import RENDERERS, differs, forged

LARGEST = 400_000
"""Characters of main HTML: the renderers need minutes for more."""


def main() -> None:
    """Print a table: renderer, pages with another text, pages with other elements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=math.inf, help="CPU seconds after which no page is begun")
    given = parser.parse_args()
    texts, elements, milliseconds, formulas = Counter[str](), Counter[str](), list[float](), 0
    for url, html in read_main_htmls(given.data, given.pages, LARGEST):
        if time.process_time() > given.seconds:
            break
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
                print(f"{name}: {'elements, ' if is_forged else ''}{url}", file=sys.stderr, flush=True)
    print(f"{len(milliseconds)} pages, {formulas} with a dollar sign")
    print(f"CPU ms a page: mean {statistics.mean(milliseconds):.2f}, median {statistics.median(milliseconds):.2f}")
    print("| renderer | other text or elements | other elements |")
    for name in RENDERERS:
        print(f"| {name} | {texts[name]} | {elements[name]} |")


if __name__ == "__main__":
    main()
