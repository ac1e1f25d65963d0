"""Writes pages drawn from the tables of a crawl to a folder: `pages.jsonl` with a row per page, and
the pages as stored in the archives. `annotate export` reads this folder."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dripper.errors import InputError
from dripper.settings import ReadSettings
from dripper.warc.read.reader import read_record_at
from dripper_lab.annotation.folders import new_folder

LEFT_OUT = "left_out.jsonl"
"""The file that lists pages with an unreadable archive, with the reason."""


def write_pages(
    pages: Sequence[Mapping[str, Any]], paths: Mapping[str, str], out: Path, settings: ReadSettings
) -> tuple[int, Counter[str]]:
    """Write pages to a new folder. Return the number of pages written, and the number of unreadable
    pages by reason.

    Raises InputError if the folder already exists.

    Args:
        pages: Rows with page_id, url, warc_file, warc_offset and charset. Other fields are copied.
        paths: `warc_file` → path, for archives that have moved.
    """
    rows: list[dict[str, Any]] = []
    left_out: list[dict[str, str]] = []
    with new_folder(out) as folder:
        (folder / "html").mkdir()
        for page in pages:
            try:
                html = _read(page, paths, settings)
            except InputError as error:
                left_out.append({"id": str(page["page_id"]), "reason": str(error)})
                continue
            file = f"html/{page['page_id']}.html"
            (folder / file).write_bytes(html)
            more = {name: value for name, value in page.items() if name not in ("page_id", "charset")}
            rows.append(
                {
                    "id": page["page_id"],
                    "file": file,
                    "encoding": page["charset"],
                    "html_sha256": hashlib.sha256(html).hexdigest(),
                    **more,
                }
            )
        _write_lines(folder / "pages.jsonl", rows)
        if left_out:
            _write_lines(folder / LEFT_OUT, left_out)
    return len(rows), Counter(row["reason"] for row in left_out)


def _read(page: Mapping[str, Any], paths: Mapping[str, str], settings: ReadSettings) -> bytes:
    name = str(page["warc_file"])
    return read_record_at(paths.get(name, name), int(page["warc_offset"]), str(page["page_id"]), settings).payload


def _write_lines(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.write_text(text, encoding="utf-8", errors="replace", newline="\n")
