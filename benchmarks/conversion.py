"""Measures how well code, formulas and tables survive conversion to Markdown, and compares our
converter with others.

    python benchmarks/conversion.py --data ../shared/data [--show code|formula|table]

Every converter receives the complete true main HTML of the pages of llm-webkit-bench, so that only
conversion is scored. The expected content is read from this HTML with lxml: the text of `pre` (and
of `code` with several lines); LaTeX that the page declares (annotations, `script type="math/tex"`,
`alt` of formula images, delimiters in text); and tables with at least two rows and columns. Code is
scored by edit similarity, once without white space and once with its lines. Formulas are scored by
F1; a formula counts if it is unchanged except for white space, braces and style. Tables are scored
by TEDS.
"""

import argparse
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import html2text
import lxml.html
import trafilatura

from dripper.html import preprocess, prune_page, to_markdown
from dripper_lab.datasets import read_pages
from dripper_lab.metrics.content import FENCED, FORMULAS, INLINE_CODE, edit_similarity, split_markdown
from dripper_lab.metrics.teds import as_html_table, teds

TEX_IN_TEXT = re.compile(
    r"\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$(.+?)\$\$|(\\begin\{(?:equation|align|gather)\*?\}.+?\\end\{(?:equation|align|gather)\*?\})"
    # To exclude prices, a formula must neither begin nor end with a space, and its closing dollar
    # sign must not precede a digit.
    r"|(?<!\\)\$(?! )([^$\n]+?)(?<![ \\])\$(?!\d)",
    re.DOTALL,
)
FORMULA_IMAGE = re.compile(r"\b(?:latex|mwe-math-fallback-image[\w-]*|tex)\b")
IMAGE, LINK = re.compile(r"!\[[^]]*\]\([^)]*\)"), re.compile(r"\[([^]]*)\]\((?:[^()]|\([^()]*\))*\)")
EMPTY_CELL, TEX_MARKS = re.compile(r"<td[^>]*>\s*</td>"), re.compile(r"\\[()]")
STYLE = re.compile(r"\\(?:displaystyle|textstyle)\b")
KINDS = ("code", "code lines", "formula", "table")


@dataclass(frozen=True)
class Reference:
    """The code, formulas and tables in a page's main HTML, in document order."""

    code: list[str]
    formulas: list[str]
    tables: list[str]


def main() -> None:
    """Print a table with a row per converter and a column per kind of content. Scores are means
    over the pages with this kind."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    arguments.add_argument("--set", default="llm-webkit-bench", help="a set whose truth is HTML")
    arguments.add_argument("--show", choices=KINDS, help="list the pages' scores of one kind")
    given = arguments.parse_args()
    pages = [(page.id, page.truth_html) for page in read_pages(given.data, given.set) if page.truth_html]
    references = [reference_of(html) for _, html in pages]
    print(f"{len(pages)} pages; with " + ", ".join(f"{kind}: {n}" for kind, n in _counts(references).items()))
    print("| converter |" + "".join(f" {kind} |" for kind in KINDS) + " CPU ms a page |")
    shown: dict[str, list[str]] = {name: [] for name, _ in pages}
    for name, convert in CONVERTERS.items():
        start = time.process_time()
        texts = [convert(html) for _, html in pages]
        cost = (time.process_time() - start) / len(pages) * 1000
        scores = [score(text, reference) for text, reference in zip(texts, references, strict=True)]
        print(f"| {name} |" + "".join(f" {_mean(scores, kind)} |" for kind in KINDS) + f" {cost:.1f} |")
        for (page, _), each in zip(pages, scores, strict=True):
            shown[page].append("-" if (value := each.get(given.show or "")) is None else f"{value:.2f}")
    for page, values in shown.items() if given.show else ():
        print(f"{page:30}", *values)


def reference_of(html: str) -> Reference:
    """Read the code, formulas and tables in HTML."""
    root = lxml.html.fragment_fromstring(html, create_parent="div")
    for line_break in root.iter("br"):
        line_break.tail = "\n" + (line_break.tail or "")
    formulas = list(_formulas(root))
    return Reference(list(_code(root)), formulas, list(_tables(root)))


def _code(root: lxml.html.HtmlElement) -> Iterator[str]:
    for element in root.iter("pre", "code"):
        if any(parent.tag in ("pre", "code") for parent in element.iterancestors()):
            continue
        text = element.text_content()
        is_numbers = not re.sub(r"[\d\s]", "", text)
        if not is_numbers and (element.tag == "pre" or text.strip().count("\n") > 1):
            yield text


def _formulas(root: lxml.html.HtmlElement) -> Iterator[str]:
    for element in root.iter():
        if not isinstance(element.tag, str) or any(parent.tag in ("pre", "code") for parent in element.iterancestors()):
            continue
        kind = element.get("encoding" if element.tag == "annotation" else "type", "").lower()
        if (element.tag == "annotation" and "tex" in kind) or (element.tag == "script" and kind.startswith("math/tex")):
            yield element.text or ""
        elif element.tag == "img" and FORMULA_IMAGE.search(element.get("class", "")):
            # On Wikipedia, the image repeats a formula that was already counted as MathML.
            if not any("mwe-math-element" in parent.get("class", "") for parent in element.iterancestors()):
                yield element.get("alt", "")
        elif element.tag not in ("script", "style", "annotation", "pre", "code"):
            for text in (element.text, *(child.tail for child in element)):
                yield from ("".join(found) for found in TEX_IN_TEXT.findall(text or ""))


def _tables(root: lxml.html.HtmlElement) -> Iterator[str]:
    for table in root.iter("table"):
        rows = [row.xpath("./td | ./th") for row in table.iter("tr")]
        widths = [len(cells) for cells in rows]
        if next(table.iterdescendants("table", "pre", "h2", "h3"), None) is None and sum(n > 1 for n in widths) > 1:
            cells = ("".join(f"<td>{escaped(cell)}</td>" for cell in row) for row in rows if row)
            yield "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def escaped(cell: lxml.html.HtmlElement) -> str:
    """Return a cell's text as one line of escaped HTML."""
    return " ".join(cell.text_content().split()).replace("&", "&amp;").replace("<", "&lt;")


def score(markdown: str, reference: Reference) -> dict[str, float | None]:
    """Return the score of a page's Markdown for each kind of content; None if the page has none of
    this kind."""
    parts = split_markdown(markdown)
    code, tables = "\n".join(reference.code), "".join(reference.tables)
    return {
        "code": edit_similarity(_bare(parts.code), _bare(code)) if code else None,
        "code lines": edit_similarity(_lines(parts.code), _lines(code)) if code else None,
        "formula": _f1(Counter(map(_bare_tex, formulas_in(markdown))), Counter(map(_bare_tex, reference.formulas))),
        "table": teds(_table(as_html_table(_plain_cells(parts.table))), _table(tables)) if tables else None,
    }


def formulas_in(markdown: str) -> Iterator[str]:
    """Yield the formulas of a Markdown text, displayed formulas first."""
    text = INLINE_CODE.sub("", FENCED.sub("", markdown))
    for form in FORMULAS:
        yield from filter(str.strip, form.findall(text))
        text = form.sub(" ", text)


def _bare(text: str) -> str:
    return re.sub(r"[\s{}]", "", text)


def _bare_tex(text: str) -> str:
    return _bare(STYLE.sub("", text))


def _f1(found: Counter[str], true: Counter[str]) -> float | None:
    return 2 * (found & true).total() / (found.total() + true.total()) if true else None


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def _table(html: str) -> str:
    """Normalize a table for TEDS. Header cells become plain cells, formula delimiters become `$`,
    and empty cells are removed, because the reader of Markdown tables drops them."""
    return EMPTY_CELL.sub("", TEX_MARKS.sub("$", re.sub(r"(</?)th\b", r"\1td", html)))


def _plain_cells(table: str) -> str:
    """Reduce a Markdown table to its text, without images, link targets or bold markers."""
    return LINK.sub(r"\1", IMAGE.sub("", table)).replace("<br>", " ").replace("**", "")


def _counts(references: list[Reference]) -> dict[str, int]:
    return {
        "code": sum(bool(each.code) for each in references),
        "formulas": sum(bool(each.formulas) for each in references),
        "tables": sum(bool(each.tables) for each in references),
    }


def _mean(scores: list[dict[str, float | None]], kind: str) -> str:
    values = [value for each in scores if (value := each[kind]) is not None]
    return f"{statistics.mean(values):.3f}" if values else "-"


def _ours(html: str) -> str:
    page = preprocess(html)
    return to_markdown(prune_page(page, page.item_ids))


def _html2text(html: str) -> str:
    return html2text.HTML2Text(bodywidth=0).handle(html)


def _trafilatura(html: str) -> str:
    document = f"<html><body><article>{html}</article></body></html>"
    kept = dict.fromkeys(("include_tables", "include_formatting", "include_links", "favor_recall"), True)
    return trafilatura.extract(document, output_format="markdown", **kept) or ""


CONVERTERS: dict[str, Callable[[str], str]] = {
    "dripper (prune, Markdown)": _ours,
    "html2text alone": _html2text,
    "trafilatura, Markdown": _trafilatura,
}


if __name__ == "__main__":
    main()
