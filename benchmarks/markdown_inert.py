"""Checks that rendered Markdown shows the same as main HTML, and nothing else.

    python benchmarks/markdown_inert.py --data ../shared/data [--pages 300] [--seconds 1200]

Labelled pages are extracted with the `cpu` labeler, and their main HTML is converted to Markdown.
Four programs render the Markdown, with embedded HTML enabled. The output counts two kinds of pages:
pages on which the rendered text differs from the text of main HTML (ignoring white space), and
pages with elements that main HTML does not have. It also shows the CPU time of the conversion.
Pages with formulas are not compared by text, because their LaTeX is not escaped. The renderers have
their own tests in tests/write/markdown/test_inert.py.
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
"""The maximum number of characters of main HTML. For more, the renderers take minutes."""


def main() -> None:
    """Print a table with a row per renderer: the number of pages with other text, and with other
    elements."""
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
