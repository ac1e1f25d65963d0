"""Are the words of an extraction's text those that a browser shows?

    python benchmarks/word_boundaries.py --data ../shared/data [--pages 200]

Main HTML of labelled pages is opened in a headless Chromium. Its `innerText` says which characters
stand in one word. Counted for each converter of the same HTML: words that the browser shows apart
and the converter glues together, and words that it splits. Characters that only one of the two has,
as alternative texts, are left out. `text` sets all neighbouring elements apart, as html_text does,
on whose text scores are computed. Peers: that library, and lxml's `text_content`.
"""

import argparse
import difflib
import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import html_text
import lxml.html

from _main_htmls import read_main_htmls
from dripper.html import preprocess, to_text
from support.chromium import Chromium

LARGEST = 200_000
"""Characters of main HTML: words are aligned in quadratic time."""
CONVERTERS: dict[str, Callable[[str], str]] = {
    "dripper, blocks": lambda html: "\n".join(block.text for block in preprocess(html).blocks),
    "dripper, text": to_text,
    "lxml text_content": lambda html: str(lxml.html.fromstring(html).text_content()),
    "html_text": lambda html: str(html_text.extract_text(html)),
}


def main() -> None:
    """Print a table: converter, words of the browser, words that are glued, words that are
    split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("--pages", type=int, default=200)
    given = parser.parse_args()
    compared, glued, split, n_pages = Counter[str](), Counter[str](), Counter[str](), 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Chromium(Path(folder))
        try:
            for _, main_html in itertools.islice(read_main_htmls(given.data, given.pages, LARGEST), given.pages):
                n_pages += 1
                file = Path(folder) / "page.html"
                file.write_text(f"<!doctype html><meta charset=utf-8><body>{main_html}", encoding="utf-8")
                browser.open(file)
                shown = str(browser.run("document.body.innerText")).split()
                for name, convert in CONVERTERS.items():
                    counts = compare_boundaries(shown, convert(main_html).split())
                    compared[name] += counts[0]
                    glued[name] += counts[1]
                    split[name] += counts[2]
        finally:
            browser.close()
    print(f"{n_pages} pages")
    print("| text of main HTML | words of the browser compared | glued | split |")
    for name in compared:
        print(f"| {name} | {compared[name]:,} | {glued[name]:,} | {split[name]:,} |")


def compare_boundaries(shown: Sequence[str], words: Sequence[str]) -> tuple[int, int, int]:
    """Return how many words of the browser have the same characters in the other text, and how many
    ends of words only the browser has (glued) and only the other text (split).

    >>> compare_boundaries("637 kcal Fat: 3 g".split(), "637kcal Fat: 3 g".split())
    (5, 1, 0)
    """
    compared = glued = split = 0
    matcher = difflib.SequenceMatcher(None, list(shown), list(words), autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            compared += b - a
        elif "".join(shown[a:b]) == "".join(words[c:d]):
            compared += b - a
            ends = [set(itertools.accumulate(map(len, side))) for side in (shown[a:b], words[c:d])]
            glued += len(ends[0] - ends[1])
            split += len(ends[1] - ends[0])
    return compared, glued, split


if __name__ == "__main__":
    main()
