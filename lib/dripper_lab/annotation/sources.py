"""Reads pages for annotation from files, folders and archives, or from folders with a file of rows
and the HTML."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dripper.blocks.page import Page
from dripper.errors import ErrorCode, InputError, PageError
from dripper.html import preprocess
from dripper.inspect.sources import STANDARD_INPUT, find_pages
from dripper.inspect.views import PageInput, to_stored_page
from dripper.settings import ReadSettings
from dripper.warc import decode
from dripper_lab.datasets import LabelledPage

ROWS = ("pages.jsonl", "truth.jsonl")
"""The file names that mark a folder of rows. A row has `id` and `file`, optionally `url`,
`encoding` and `html_sha256`, and other fields that are copied (licence, source, …)."""
_OWN = {"id", "url", "file", "truth_text", "truth_html", "encoding", "page_type", "html_sha256"}


def unlabelled_pages(names: Sequence[str]) -> Iterator[LabelledPage | tuple[str, PageError]]:
    """Yield the pages that `names` match, without ground truth. For an unreadable page, yield its
    id and the error.

    Raises InputError.

    Args:
        names: Files, folders, archives and `@list`s, as for `dripper inspect`, or folders of rows.
    """
    if STANDARD_INPUT in names:
        raise InputError("pages to annotate are read twice, and standard input only once: write the page to a file")
    plain = [name for name in names if rows_file(Path(name)) is None]
    for name in names:
        if (file := rows_file(Path(name))) is not None:
            yield from (page_of_row(file.parent, row) for row in read_rows(file))
    for page in find_pages(plain, ReadSettings()) if plain else ():
        yield _to_labelled_page(page)


def rows_file(folder: Path) -> Path | None:
    """Return the file of rows in a folder, or None."""
    return next((folder / name for name in ROWS if (folder / name).is_file()), None)


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Read a JSONL file. Raises InputError with the line number if a line is not an object, or
    lacks `id` or `file`."""
    rows = []
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{file} line {number} is not JSON: {error}") from None
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("id", "file")):
            raise InputError(f"{file} line {number} lacks the text field id or file")
        rows.append(row)
    return rows


def page_of_row(folder: Path, row: Mapping[str, Any]) -> LabelledPage:
    """Return the page of a row. Raises InputError if the HTML is missing, or does not match
    `html_sha256`."""
    path = folder / row["file"]
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        raise InputError(f"{folder}: the row {row['id']} names {row['file']!r}, which is not a file of this folder")
    html = path.read_bytes()
    if row.get("html_sha256") not in (None, hashlib.sha256(html).hexdigest()):
        raise InputError(f"{path} is not the page that its row describes (html_sha256 differs)")
    more = {name: value for name, value in row.items() if name not in _OWN}
    return LabelledPage(
        row["id"], folder.name, row.get("url"), html, row.get("encoding"), row.get("truth_text") or "",
        page_type=row.get("page_type"), more=more,
    )  # fmt: skip


def split_page(labelled: LabelledPage, profile: str = "dripper") -> Page:
    """Split a page into blocks. Raises PageError, also if the page has no text."""
    page = preprocess(decode(labelled.html, labelled.content_type).text, profile)
    if not any(block.text for block in page.blocks):
        raise PageError(ErrorCode.EMPTY_PAGE, "no block has text")
    return page


def split_known(labelled: LabelledPage) -> Page:
    """Split a previously annotated page into blocks. Raises InputError if this is no longer
    possible."""
    try:
        return split_page(labelled)
    except PageError as error:
        raise InputError(f"the page {labelled.id}, which was annotated, cannot be split into blocks: {error}") from None


def _to_labelled_page(page: PageInput) -> LabelledPage | tuple[str, PageError]:
    if page.error is not None:
        return page.id, page.error
    try:
        html, encoding = to_stored_page(page.html, page.content_type)
    except PageError as error:
        return page.id, error
    return LabelledPage(page.id, "", page.url, html, encoding, "", more={"name": page.name})
