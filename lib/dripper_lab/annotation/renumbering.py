"""Updates the block numbers in a recipe after a change to the rules for blocks, by matching the
text of old and new blocks.

The old blocks come from a source tree of the previous version, which splits the pages in a separate
process. Blocks with the same text in the same order are the same blocks. In the ranges between
these blocks, a new block is main if at least half of its words come from old main blocks in the
same range.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dripper.errors import InputError
from dripper.labels.align import match_shares
from dripper.labels.words import words_of
from dripper_lab.annotation.answers import from_ranges, to_ranges
from dripper_lab.datasets import LabelledPage
from dripper_lab.truth import BLOCK_SHARE, split_pages

_SPLIT = """
import json, sys
from pathlib import Path
from dripper.errors import PageError
from dripper.html import preprocess
from dripper.warc import decode
for path in map(Path, sys.argv[1:]):
    try:
        blocks = [block.text for block in preprocess(decode(path.read_bytes(), None).text).blocks]
    except PageError:
        blocks = None
    print(json.dumps(blocks))
"""
"""Prints the block texts of each page, one JSON list per line."""
_PAGES_A_PROCESS = 200


@dataclass(slots=True)
class Renumbering:
    """The number of rows by result."""

    same: int = 0
    """Rows with unchanged blocks."""
    mended: int = 0
    stale: int = 0
    """Rows that do not match the previous version either. They are left unchanged."""


def renumber(
    rows: Sequence[dict[str, Any]], pages: Sequence[LabelledPage], before: Path
) -> tuple[list[dict[str, Any]], Renumbering]:
    """Update the block numbers in `main`, `n_blocks` and `second`. Return the new rows, and the
    counts of rows by result.

    Args:
        rows: The rows of a recipe.
        pages: The available pages. Rows of other pages are left unchanged.
        before: The `lib` folder of the version that the old numbers belong to.

    Raises:
        InputError: The previous version cannot split the pages.
    """
    mended, counts = dict[str, dict[str, Any]](), Renumbering()
    by_id, earlier = {row["id"]: row for row in rows}, dict(split_before(pages, before))
    for labelled, page in split_pages(pages):
        row, old = by_id[labelled.id], earlier[labelled.id]
        if old is None or len(old) != row["n_blocks"]:
            counts.stale += 1
            continue
        new = [block.text for block in page.blocks]
        if old == new:
            counts.same += 1
            continue
        mended[labelled.id] = renumber_row(row, old, new)
        counts.mended += 1
    return [mended.get(row["id"], row) for row in rows], counts


def renumber_row(row: Mapping[str, Any], old: Sequence[str], new: Sequence[str]) -> dict[str, Any]:
    """Return a row with old block numbers replaced by new ones.

    Args:
        old: The text of each old block.
        new: The text of each new block.
    """

    def move(ranges: str) -> str:
        chosen = {number - 1 for number in from_ranges(ranges, len(old))}
        return to_ranges(number + 1 for number in find_again(old, new, chosen))

    renumbered = {**row, "n_blocks": len(new), "main": move(row["main"])}
    if second := row.get("second"):
        renumbered["second"] = {**second, "main": move(second["main"])}
    return renumbered


def find_again(old: Sequence[str], new: Sequence[str], chosen: set[int]) -> list[int]:
    """Return the indexes (from 0) of the new blocks that contain the text of the chosen old
    blocks.

    >>> find_again(["menu", "a", "b c d", "end"], ["a", "b c", "d", "end"], {1, 2})
    [0, 1, 2]
    """
    olds, news = ([words_of(text) for text in texts] for texts in (old, new))
    # Word boundaries may have changed, too: "Fat 17g26%".
    old_keys, new_keys = (["".join(words) for words in texts] for texts in (olds, news))
    found: list[int] = []
    for change, first, end, start, stop in SequenceMatcher(None, old_keys, new_keys, autojunk=False).get_opcodes():
        if change == "equal":
            found += [start + index - first for index in range(first, end) if index in chosen]
        else:
            words = [word for index in range(first, end) if index in chosen for word in olds[index]]
            shares = match_shares(news[start:stop], words).tolist()
            found += [
                start + index for index, share in enumerate(shares) if share >= BLOCK_SHARE and news[start + index]
            ]
    return found


def split_before(pages: Sequence[LabelledPage], before: Path) -> Iterator[tuple[str, list[str] | None]]:
    """Yield the id of each page and its block texts in the previous version, or None if that
    version fails on the page. Raises InputError if that version cannot be run."""
    with TemporaryDirectory() as folder:
        for start in range(0, len(pages), _PAGES_A_PROCESS):
            part = pages[start : start + _PAGES_A_PROCESS]
            paths = [Path(folder) / f"{start + number}.html" for number in range(len(part))]
            for path, page in zip(paths, part, strict=True):
                path.write_bytes(page.html)
            process = subprocess.run(
                [sys.executable, "-c", _SPLIT, *map(str, paths)], check=False, capture_output=True, text=True,
                env={**os.environ, "PYTHONPATH": str(before.resolve())}, encoding="utf-8",
            )  # fmt: skip
            if process.returncode:
                raise InputError(f"{before} cannot split pages: {process.stderr.strip().splitlines()[-1]}")
            for page, line in zip(part, process.stdout.splitlines(), strict=True):
                yield page.id, json.loads(line)
