"""Scores each kind of content in Markdown separately: text, code, formulas and tables (as in
WebMainBench's toolkit).

Code, formulas and tables are detected with the toolkit's regexes, so that results are comparable.
The toolkit's optional filter by a language model is not used. If neither text has content of a
kind, the score is `None` (not 0 or 1) and does not count in the mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dripper_lab.extra import import_extra
from dripper_lab.metrics.teds import as_html_table, teds, teds_webmainbench

FENCED = re.compile(r"```[\s\S]*?```")
INLINE_CODE = re.compile(r"`[^`]*`")
INDENTED = re.compile(r"(?:\n\s*\n)((?:(?: {4,}|\t+)[^\n]*(?:\n|$)){2,})(?=\n\s*\n|$)", re.MULTILINE)
# Indented lines that are a list, a price or a market report, not a program.
NOT_CODE = re.compile(r"^[-•*]\s|^\d+\.\s|\$[\d,]|\b(?:million|billion|thousand)\b", re.IGNORECASE)
FORMULAS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"(?<!\\)\$\$(.*?)(?<!\\)\$\$",
        r"(?<!\\)\\\[(.*?)(?<!\\)\\\]",
        r"(?<!\\)\$(.*?)(?<!\\)\$",
        r"(?<!\\)\\\((.*?)(?<!\\)\\\)",
    )
)
SEPARATOR_CELL = re.compile(r":?-{3,}:?$")


@dataclass(frozen=True, slots=True)
class Parts:
    """A Markdown text and the code, formulas and tables in it. `text` is the complete text."""

    text: str
    code: str
    formula: str
    table: str


def split_markdown(markdown: str) -> Parts:
    """Extract code, formulas and tables from a Markdown text. Several items of the same kind are
    joined by line feeds."""
    bare = INLINE_CODE.sub("", FENCED.sub("", markdown))
    return Parts(
        text=markdown,
        code="\n".join([*_fenced_code(markdown), *_indented_code(markdown)]),
        formula="\n".join(formula.strip() for form in FORMULAS for formula in form.findall(bare) if formula.strip()),
        table="\n".join([*_html_tables(bare), *_pipe_tables(markdown)]),
    )


def edit_similarity(prediction: str, truth: str) -> float | None:
    """Return 1 − Levenshtein distance / length of the longer text, in characters. Return None if
    both strings are empty."""
    if not prediction and not truth:
        return None
    return float(import_extra("rapidfuzz.distance").Levenshtein.normalized_similarity(prediction, truth))


def score_parts(prediction: str, truth: str) -> dict[str, float | None]:
    """Score Markdown against Markdown, each kind of content separately.

    text_edit, code_edit, formula_edit, table_edit: :func:`edit_similarity` of each kind; tables are
    compared as HTML.

    table_teds: The tree edit similarity.

    table_teds_webmainbench: The value that WebMainBench publishes as TEDS; `teds_webmainbench`
    explains why it is higher.

    overall: The mean of the first four and table_teds_webmainbench, without None, like
    WebMainBench's `overall`.
    """
    predicted, true = split_markdown(prediction), split_markdown(truth)
    tables = as_html_table(predicted.table), as_html_table(true.table)
    scores = {
        "text_edit": edit_similarity(predicted.text, true.text),
        "code_edit": edit_similarity(predicted.code, true.code),
        "formula_edit": edit_similarity(predicted.formula, true.formula),
        "table_edit": edit_similarity(*tables),
        "table_teds_webmainbench": teds_webmainbench(*tables) if any(tables) else None,
    }
    values = [score for score in scores.values() if score is not None]
    overall = sum(values) / len(values) if values else None
    return {**scores, "table_teds": teds(*tables) if any(tables) else None, "overall": overall}


def _fenced_code(markdown: str) -> Iterator[str]:
    for block in FENCED.findall(markdown):
        code = "\n".join(block.split("\n")[1:-1])
        if code:
            yield code


def _indented_code(markdown: str) -> Iterator[str]:
    for block in INDENTED.findall(markdown):
        lines = [line for line in block.split("\n") if line.strip()]
        if len(lines) < 2 or any(NOT_CODE.search(line.strip()) for line in lines):
            continue
        yield "\n".join(line[4:] if line.startswith("    ") else line.removeprefix("\t") for line in lines)


def _html_tables(markdown: str) -> Iterator[str]:
    if "<table" not in markdown.lower():
        return
    for table in import_extra("bs4").BeautifulSoup(markdown, "html.parser").find_all("table"):
        if not table.find_parent(["td", "tr", "tbody", "table"]):
            yield str(table)


def _pipe_tables(markdown: str) -> Iterator[str]:
    """Yield runs of lines with a `|` if the second line contains only dashes."""
    run: list[str] = []
    for line in [*markdown.split("\n"), ""]:
        if "|" in line:
            run.append(line)
            continue
        if len(run) >= 2 and all(SEPARATOR_CELL.match(cell.strip()) for cell in run[1].split("|") if cell.strip()):
            yield "\n".join(run)
        run = []
