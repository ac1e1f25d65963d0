"""Converts answers to a data set: `truth.jsonl`, the pages and `META.json`, as
`dripper_lab.datasets` expects them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dripper
from dripper.blocks.page import Page
from dripper.errors import InputError
from dripper.facts.language import detect
from dripper_lab.annotation.answers import Answer, answer_of, is_blank, to_ranges
from dripper_lab.annotation.export import Export
from dripper_lab.annotation.folders import new_folder
from dripper_lab.datasets import LabelledPage

NO_MAIN = "no main content"
"""The reason for which a row without a main block is `bad`. Such rows are not scored."""
_ONLY_HERE = ("number", "tokens", "file", "name", "type_guess")
"""Fields of an export's row that are not copied to truth.jsonl."""


@dataclass(slots=True)
class Answers:
    """The answers from a list of files."""

    of_page: dict[str, list[Answer]] = field(default_factory=dict)
    """Page number → answers, in the order of the files. The first answer is the ground truth, the
    second one the second annotation."""
    wrong: list[str] = field(default_factory=list)
    """For each line without a usable answer, a message that includes the line number."""
    blank: int = 0
    """The number of template lines that have not been filled in."""


def read_answers(files: Sequence[Path], export: Export) -> Answers:
    """Read all answers from some files. Each page must occur at most once per file. Raises
    InputError if a file cannot be read."""
    answers = Answers()
    for file in files:
        here: dict[str, int] = {}
        for number, line in enumerate(_lines(file), 1):
            if not line.strip():
                continue
            try:
                raw = json.loads(line)
                if is_blank(raw):
                    answers.blank += 1
                    continue
                answer = _answer(raw, export)
                if answer.page in here:
                    raise InputError(f"page {answer.page} stands in line {here[answer.page]} already")
                if len(answers.of_page.get(answer.page, ())) == 2:
                    raise InputError(f"page {answer.page} has two answers in the files before; a third has no place")
            except ValueError as error:
                answers.wrong.append(f"{file.name} line {number} is not JSON: {error}")
                continue
            except InputError as error:
                answers.wrong.append(f"{file.name} line {number}: {error}")
                continue
            here[answer.page] = number
            answers.of_page.setdefault(answer.page, []).append(answer)
    return answers


def write_data_set(export: Export, answers: Answers, out: Path) -> int:
    """Write the answered pages to `out`, as a data set, and return their number.

    Raises InputError if `out` exists, or a page of the export has changed.
    """
    with new_folder(out) as folder:
        (folder / "html").mkdir()
        with (folder / "truth.jsonl").open("w", encoding="utf-8", errors="replace", newline="\n") as rows:
            for number in sorted(answers.of_page):
                labelled, page = export.page(number)
                row = truth_row(export.rows[number], labelled, page, answers.of_page[number])
                (folder / row["file"]).write_bytes(labelled.html)
                rows.write(json.dumps(row, ensure_ascii=False) + "\n")
        (folder / "META.json").write_text(json.dumps(_meta(answers), indent=1) + "\n", encoding="utf-8")
    return len(answers.of_page)


def truth_row(
    exported: Mapping[str, Any], labelled: LabelledPage, page: Page, answers: Sequence[Answer]
) -> dict[str, Any]:
    """Return a page's row for truth.jsonl. The first answer is the ground truth, and a second
    answer gets its own columns."""
    first, *more = answers
    row = {name: value for name, value in exported.items() if name not in _ONLY_HERE and value is not None}
    row |= {"file": f"html/{exported['number']}.html", "page_type": first.kind}
    row |= {"sure": first.sure, "main_blocks": to_ranges(first.main), "annotator": first.annotator}
    for second in more:
        row |= {"main_blocks_second": to_ranges(second.main), "page_type_second": second.kind}
        row |= {"sure_second": second.sure, "annotator_second": second.annotator}
    return row | describe_truth(page, first.main, labelled.more.get("lang"))


def describe_truth(page: Page, main: Collection[int], language: str | None = None) -> dict[str, Any]:
    """Return the fields that can be derived from a page's main blocks: the text, its language, and
    `bad` if there is no text.

    Args:
        language: The page's language; None if unknown.
    """
    chosen = frozenset(main)
    text = "\n".join(block.text for block in page.blocks if block.item_id in chosen and block.text)
    columns = {"truth_text": text, "lang": language or detect(text)[0], "bad": None if text else NO_MAIN}
    return {name: value for name, value in columns.items() if value is not None}


def _answer(raw: object, export: Export) -> Answer:
    page = str(raw.get("page") or "") if isinstance(raw, Mapping) else ""
    if not page:
        raise InputError("an answer is a JSON object with page, kind, main and sure")
    if page not in export.rows:
        raise InputError(f"page {page} is not in {export.folder}")
    return answer_of(raw, export.n_blocks(page), page)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _meta(answers: Answers) -> dict[str, object]:
    annotators = {answer.annotator for of in answers.of_page.values() for answer in of if answer.annotator}
    return {
        "source": f"dripper {dripper.__version__}, python -m dripper_lab.annotate",
        "truth": "blocks chosen by annotators after dripper_lab/annotation/guidelines.md",
        "annotators": sorted(annotators),
    }
