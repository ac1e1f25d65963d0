"""Test whether extractors leave out invisible text, and keep text that a click or a script reveals:
`python benchmarks/hidden_text.py [--defuddle FOLDER]`.

The pages are in tests/data/visibility. FOLDER/node_modules contains the npm packages `defuddle` and
`jsdom`. Prints a table with the version of each extractor and the number of pages that it gets
right.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import dripper
from support.visibility import Case, is_right, read_cases, write_page

_NODE = """
import { Defuddle } from 'defuddle/node'; import { JSDOM } from 'jsdom'; import { readFileSync } from 'fs';
const texts = [];
for (const page of JSON.parse(readFileSync(0, 'utf8'))) {
  try { texts.push((await Defuddle(new JSDOM(page), 'https://site.example/', {})).content) } catch { texts.push('') }
}
console.log(JSON.stringify(texts));
"""


def main(arguments: Sequence[str]) -> int:
    """Print the table; return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--defuddle", type=Path, help="a folder with node_modules/defuddle")
    options = parser.parse_args(arguments)
    cases = read_cases()
    pages = [write_page(case) for case in cases]
    rows = {name: [extract(page) for page in pages] for name, extract in find_extractors().items()}
    if options.defuddle:
        package = json.loads((options.defuddle / "node_modules/defuddle/package.json").read_text(encoding="utf-8"))
        rows[f"defuddle {package['version']}"] = run_defuddle(options.defuddle, pages)
    sys.stdout.write(write_table(cases, rows))
    return 0


def find_extractors() -> Mapping[str, Callable[[str], str]]:
    """Return name and version → function that extracts the text of a page."""
    import trafilatura
    from readability import Document
    from resiliparse.extract.html2text import extract_plain_text

    return {
        f"dripper {dripper.__version__}": lambda page: dripper.extract(page).markdown,
        f"Trafilatura {version('trafilatura')}": lambda page: trafilatura.extract(page) or "",
        f"Resiliparse {version('resiliparse')}": lambda page: extract_plain_text(page, main_content=True),
        f"readability-lxml {version('readability-lxml')}": lambda page: Document(page).summary(),
    }


def run_defuddle(folder: Path, pages: Sequence[str]) -> list[str]:
    """Return defuddle's output for each page."""
    script = folder / "run.mjs"
    script.write_text(_NODE, encoding="utf-8")
    told = subprocess.run(
        ["node", script.name], cwd=folder, input=json.dumps(pages), capture_output=True, text=True, check=True
    )
    texts: list[str] = json.loads(told.stdout.splitlines()[-1])
    return texts


def write_table(cases: Sequence[Case], rows: Mapping[str, Sequence[str]]) -> str:
    """Return a Markdown table with a row per extractor and a column per kind of case."""
    totals = Counter(case["kind"] for case in cases)
    kinds = list(totals)
    lines = ["| | " + " | ".join(f"{kind} ({totals[kind]})" for kind in kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
    for name, texts in rows.items():
        right = Counter(case["kind"] for case, text in zip(cases, texts, strict=True) if is_right(case, text))
        lines.append(f"| {name} | " + " | ".join(str(right[kind]) for kind in kinds) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
