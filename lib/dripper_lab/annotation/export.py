"""Writes and reads an export: a folder with text files for annotators, and the pages that these
files show.

guidelines.md           instructions for annotators
pages/p00001.txt        numbered blocks of a page
answers.template.jsonl  a line for each page, to be filled in
pages.jsonl             a row for each page: number, id, url, file, blocks, and other known fields
html/p00001.html        the page
left_out.jsonl          a row for each page that is left out, with the reason
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dripper.blocks.page import Page
from dripper.errors import InputError, PageError
from dripper_lab.annotation.folders import FILE, guidelines, new_folder
from dripper_lab.annotation.layout import choose_pages, layout_of
from dripper_lab.annotation.rendering import Rendered, render
from dripper_lab.annotation.sources import page_of_row, read_rows, split_known, split_page
from dripper_lab.datasets import LabelledPage

Reading = Callable[[], Iterable[LabelledPage | tuple[str, PageError]]]
"""Reads all pages. It can be called twice and must yield the same pages each time."""
TEMPLATE = "answers.template.jsonl"
_TRUTH_FIELDS = ("sure", "main_blocks", "main_blocks_second", "n_blocks", "bad", "duplicate", "profile")
"""Fields of an annotated row that must not be copied to an export."""


@dataclass(slots=True)
class Exported:
    """The counts of an export. `pages` is the sum of `written` and `left_out`."""

    pages: int = 0
    written: int = 0
    tokens: int = 0
    """The approximate number of tokens in all written pages."""
    left_out: Counter[str] = field(default_factory=Counter)
    """The number of pages left out, keyed by reason."""


@dataclass(frozen=True, slots=True)
class Export:
    """An export that has been read from its folder."""

    folder: Path
    rows: Mapping[str, Mapping[str, Any]]
    """Page number → row."""

    @classmethod
    def read(cls, folder: Path) -> "Export":
        """Read the export in a folder. Raises InputError if there is none."""
        if not (folder / "pages.jsonl").is_file() or not (folder / "pages").is_dir():
            raise InputError(f"{folder} is not an export: python -m dripper_lab.annotate export PAGES --out {folder}")
        rows = read_rows(folder / "pages.jsonl")
        if not all(isinstance(row.get("number"), str) and isinstance(row.get("n_blocks"), int) for row in rows):
            raise InputError(f"{folder / 'pages.jsonl'} is not as an export wrote it: rows lack number or n_blocks")
        return cls(folder, {row["number"]: row for row in rows})

    def n_blocks(self, number: str) -> int:
        """Return the number of blocks in a page."""
        return int(self.rows[number]["n_blocks"])

    def text(self, number: str) -> str:
        """Return a page's text for annotators. Raises InputError if it cannot be read."""
        file = self.folder / "pages" / f"{number}.txt"
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None

    def page(self, number: str) -> tuple[LabelledPage, Page]:
        """Return a page and its blocks. Raises InputError if the number of blocks has changed since
        the export."""
        labelled = page_of_row(self.folder, self.rows[number])
        page = split_known(labelled)
        if len(page.blocks) != self.n_blocks(number):
            raise InputError(
                f"page {number} has {len(page.blocks)} blocks now, and had {self.n_blocks(number)} when it was exported: "
                "export it again with this version"
            )
        return labelled, page


def export(reading: Reading, out: Path, budget: int, sample: int | None = None, seed: int = 0) -> Exported:
    """Write an export, and return the counts of pages by result.

    Args:
        budget: The approximate maximum number of tokens per page.
        sample: The number of pages to sample by layout (see `layout`); None means all pages.

    Raises:
        InputError: `out` already exists.
    """
    with new_folder(out) as folder:
        places = None if sample is None else _choose_sample(reading, budget, sample, seed)
        return _write(reading, folder, budget, places)


def _write(reading: Reading, out: Path, budget: int, places: Container[int] | None) -> Exported:
    """Write the pages at the positions in `places`, or all pages if it is None."""
    exported = Exported()
    for name in ("pages", "html"):
        (out / name).mkdir()
    (out / FILE).write_text(guidelines(), encoding="utf-8")
    with (
        (out / "pages.jsonl").open("w", encoding="utf-8") as rows,
        (out / TEMPLATE).open("w", encoding="utf-8") as template,
        (out / "left_out.jsonl").open("w", encoding="utf-8") as left_out,
    ):
        for at, (name, usable) in enumerate(_usable(reading, budget)):
            exported.pages += 1
            if not isinstance(usable, str) and places is not None and at not in places:
                usable = "not sampled"
            if isinstance(usable, str):
                exported.left_out[usable] += 1
                left_out.write(_json({"id": name, "reason": usable}))
                continue
            exported.written += 1
            number = f"p{exported.written:05d}"
            rendered = _render(number, usable, budget)
            exported.tokens += rendered.tokens
            (out / "html" / f"{number}.html").write_bytes(usable.labelled.html)
            (out / "pages" / f"{number}.txt").write_text(rendered.text, encoding="utf-8")
            rows.write(_json(_row(number, usable, rendered)))
            template.write(_json({"page": number, "kind": "", "main": "", "sure": 0}))
    return exported


@dataclass(frozen=True, slots=True)
class _Usable:
    labelled: LabelledPage
    page: Page


def _usable(reading: Reading, budget: int) -> Iterator[tuple[str, _Usable | str]]:
    """Yield the id of every page with either the usable page or the reason why it cannot be
    annotated."""
    ids: set[str] = set()
    digests: set[bytes] = set()
    for labelled in reading():
        if isinstance(labelled, tuple):
            yield labelled[0], labelled[1].code.value
            continue
        digest = hashlib.sha256(labelled.html).digest()
        if digest in digests:
            yield labelled.id, "the same page again"
            continue
        if labelled.id in ids:
            raise InputError(f"the id {labelled.id} stands at two pages")
        digests.add(digest)
        ids.add(labelled.id)
        yield labelled.id, _split(labelled, budget)


def _split(labelled: LabelledPage, budget: int) -> _Usable | str:
    try:
        usable = _Usable(labelled, split_page(labelled))
    except PageError as error:
        return error.code.value
    return usable if render("p00000", labelled.url, usable.page, budget) else "longer than the budget of tokens"


def _render(number: str, usable: _Usable, budget: int) -> Rendered:
    rendered = render(number, usable.labelled.url, usable.page, budget)
    assert rendered is not None, "checked before, with a number of the same length"
    return rendered


def _choose_sample(reading: Reading, budget: int, sample: int, seed: int) -> set[int]:
    """Return the positions of the sampled pages among all pages."""
    places, sites, layouts = [], [], []
    for at, (_, usable) in enumerate(_usable(reading, budget)):
        if not isinstance(usable, str):
            places.append(at)
            sites.append(usable.labelled.host)
            layouts.append(layout_of(usable.page.elements))
    chosen = choose_pages(sites, np.array(layouts), sample, seed) if layouts else []
    return {places[each] for each in chosen}


def _row(number: str, usable: _Usable, rendered: Rendered) -> dict[str, Any]:
    labelled, page = usable.labelled, usable.page
    more = {name: value for name, value in labelled.more.items() if name not in _TRUTH_FIELDS}
    return {
        **more,
        "number": number,
        "id": labelled.id,
        "url": labelled.url,
        "file": f"html/{number}.html",
        "encoding": labelled.encoding,
        "html_sha256": hashlib.sha256(labelled.html).hexdigest(),
        "host": labelled.host,
        "n_blocks": len(page.blocks),
        "profile": page.profile,
        "tokens": rendered.tokens,
    }


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps(row) + "\n"
