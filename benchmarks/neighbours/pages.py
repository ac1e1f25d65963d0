"""Writes docs/neighbours/pages.md: how this project and seven others read certain HTML constructs.

`make neighbours` installs the other projects, and runs this script.

    python benchmarks/neighbours/pages.py FOLDER

FOLDER contains the Python environment `pages`, and `node_modules`.
"""

import json
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tests"))

import dripper  # noqa: E402
from support.neighbour_pages import ADDRESS, CASES, judge, write_page  # noqa: E402
from support.neighbour_rows import count_right, write_rows  # noqa: E402

PLACES = {
    "Trafilatura": "python",
    "rs-trafilatura": "python",
    "Resiliparse": "python",
    "defuddle": "node",
    "Readability": "node",
    "html-to-markdown": "python",
    "html2text": "python",
}
VERSIONS = (
    "Trafilatura 2.3.1, rs-trafilatura 0.1.1, Resiliparse 2.0.1, defuddle 0.19.4 and Readability 0.6.0 (both with "
    "jsdom 29.1.1), html-to-markdown 3.21.2, html2text 2025.4.15"
)

INTRO = """# How extractors read today's HTML

Each row is one construct between the paragraphs of a short article. *Right* means the same as in
a browser with scripts: no lost text, no hidden text, the same order, and Markdown that renders it.
One construct in one article does not measure quality: scores over whole sites are in
[the labeler cpu](../labeler_cpu.md).

Tested on {day} with {versions}, on Python {python} and Node 20. Each wrote Markdown with links,
images and tables if it can. Readability returns HTML, which Turndown 7.2.5 converted to Markdown.
Resiliparse returns only text, so rows about Markdown, addresses and metadata leave it out.
html-to-markdown and html2text convert the whole page, and are left out of the rows about metadata.
`make neighbours` repeats all of it.

Right: {right}. The second column of the table
names the extractors that are not right.

"""
NOTES = """
Three rows are not right here, on purpose or not yet. `noscript` counts as visible, because many
pages have their images or whole text in it. Short text with `aria-hidden` counts as hidden,
because it is usually a repetition or decoration. And a link around a heading and a paragraph looks
like a teaser of another page.
"""


def read_ours(page: str) -> dict[str, str]:
    """Return this project's result for a page."""
    read = dripper.extract(page, url=ADDRESS)
    return {"markdown": read.markdown, "title": read.title or "", "author": "; ".join(read.metadata.authors)}


def read_theirs(name: str, folder: Path, pages: Path) -> list[dict[str, Any]]:
    """Return another project's result for each page."""
    command = {
        "python": [folder / "pages" / "bin" / "python", HERE / "read_pages.py"],
        "node": ["node", folder / "read_pages.mjs"],
    }[PLACES[name]]
    # The script is copied, because Node looks for packages beside it.
    (folder / "read_pages.mjs").write_text((HERE / "read_pages.mjs").read_text())
    done = subprocess.run([*map(str, command), name, str(pages)], capture_output=True, text=True, check=True)
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def main(folder: Path) -> None:
    """Write the document."""
    written = [write_page(case) for case in CASES]
    with tempfile.TemporaryDirectory() as place:
        pages = Path(place, "pages.json")
        pages.write_text(json.dumps(written))
        answers = {"dripper": list(map(read_ours, written))}
        answers |= {name: read_theirs(name, folder, pages) for name in PLACES}
    found = {
        case.name: {name: judge(case, told[number]) for name, told in answers.items()}
        for number, case in enumerate(CASES)
    }
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    text = INTRO.format(day=f"{date.today():%-d %B %Y}", versions=VERSIONS, python=python, right=count_right(found))
    target = ROOT / "docs" / "neighbours" / "pages.md"
    target.write_text(text + write_rows("construct", found) + "\n" + NOTES)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
