"""What people would take out of the Markdown by hand, counted by pattern.

    python benchmarks/markdown_lint.py --data DATA [--sets wcxb-dev ...] [--pages 60]

Labelled pages are extracted with the labeler `cpu`. Of each pattern: how often it occurs, on how
many pages, and an example. Fenced code is left out. Run it before and after a change of
`lib/dripper/html/markdown`; the pages are the same each time.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dripper import extract
from dripper.html import preprocess
from dripper.html.tree.elements import LINE_BREAKING
from dripper.html.tree.plain import set_apart
from dripper.labels.words import words_of
from dripper.warc import decode
from dripper_lab.datasets import Role, names_with, read_pages

_MARKER = r"(?:[-*+]|\d{1,9}[.)])"
PATTERNS = {
    "box of a task": rf"^[> ]*{_MARKER} \[[ xX]\]",
    "drawn box": r"^[> ]*[-*+] *[▢☐□◻❏❑]",
    "[edit]": r"\[\[?(?:edit|bearbeiten|modifier|editar)\b",
    "empty item": rf"^[> ]*{_MARKER}[ \u00a0]*$",
    "empty heading": r"^[> ]*#{1,6}[ #]*$",
    "heading without a word": r"^#{1,6} [^\w\n]*(?:!?\[\]\([^)\n]*\)[^\w\n]*)+$",
    "marker after marker": rf"^[> ]*{_MARKER} +(?:{_MARKER} |\\?[-*+•·●▪◦‣] |\d{{1,3}}\\?[.)] )",
    "heading in an item": rf"^[> ]*{_MARKER} +#{{1,6}} ",
    "link without a text": r"(?<!!)\[\]\(",
    "image in a heading": r"^#{1,6} .*!\[",
    "blanks before an empty line": r"[^\s>] +\n[> ]*\n",
    "three empty lines": r"\n\n\n\n",
    "second # heading": r"^# (?=(?:.|\n)*)",
    "# heading with a site's name": r"\A# .*\S (?:\||::|»|·) \S.*$",
    "heading said twice": r"^#{1,6} (.+)\n+#{1,6} \1$",
    "mark of emphasis alone": r"(?<!\S)\*\*(?!\S)",
}
"""By name; `^` and `$` stand for a line's start and end."""
_COMPILED = {name: re.compile(pattern, re.MULTILINE) for name, pattern in PATTERNS.items()}
_FENCED = re.compile(r"^( *)```.*?^ *```", re.MULTILINE | re.DOTALL)
_GLUED = "words glued together"


def lint(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield pattern and line of what a person would take out."""
    text = _FENCED.sub("(code)", markdown)
    for name, pattern in _COMPILED.items():
        found = [match.group() for match in pattern.finditer(text)]
        for line in found[1:] if name.startswith("second") else found:
            yield name, line


def find_glued(main_html: str, markdown: str) -> Iterator[tuple[str, str]]:
    """Yield the words that main HTML sets apart and the Markdown writes as one."""
    tree = preprocess(main_html).elements
    marks = ["\n" if tree.names[tag] in LINE_BREAKING else "" for tag in tree.parts[1::2]]
    words = set(words_of(markdown))
    for index in set_apart(tree, tree.parts, marks):
        before, after = words_of(_text_before(tree.parts, index)), words_of(_text_after(tree.parts, index))
        if before and after and before[-1] + after[0] in words:
            yield _GLUED, before[-1] + after[0]


def _text_before(parts: list[str], index: int) -> str:
    return next((part for part in parts[index::-2] if part.strip()), "")


def _text_after(parts: list[str], index: int) -> str:
    return next((part for part in parts[index + 2 :: 2] if part.strip()), "")


def main(arguments: list[str]) -> int:
    """Print how often each pattern occurs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("--sets", nargs="+", default=names_with(Role.TRAIN_SHIPS))
    parser.add_argument("--pages", type=int, default=60, help="of each set")
    options = parser.parse_args(arguments)
    times, pages, examples, n_pages = Counter[str](), Counter[str](), dict[str, str](), 0
    for data_set in options.sets:
        for page in read_pages(options.data, data_set, sample=options.pages):
            extraction = extract(decode(page.html, page.content_type).text)
            found = [*lint(extraction.markdown), *find_glued(extraction.main_html, extraction.markdown)]
            n_pages += 1
            times.update(name for name, _ in found)
            pages.update({name for name, _ in found})
            for name, line in found:
                examples.setdefault(name, line)
    print(f"{n_pages} pages of {', '.join(options.sets)}\n\n{'pattern':32}{'times':>8}{'pages':>8}  first example")
    for name in (*PATTERNS, _GLUED):
        print(f"{name:32}{times[name]:8}{pages[name]:8}  {examples.get(name, '')[:60]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
