"""Stores the state of a run as JSON lines, so that a stopped run continues at the same place.

`outputs/<set>/<extractor>@<version>.jsonl` has one line per page; `scores/<set>.jsonl` one line per
page with all extractors. A line counts only if its digest equals the page's present digest: after a
change of data, versions or metrics, the page is processed again.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from dripper.warc import decode
from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.extractors.base import Contender


@dataclass(frozen=True, slots=True)
class Output:
    """The output of an extractor for one page."""

    id: str
    digest: str
    text: str
    """Empty if it failed."""
    cpu_ms: float
    """CPU time of the extraction alone, without loading or conversion; the limit if the page
    reached it."""
    error_code: str | None = None
    error_detail: str | None = None
    """`error_code` is a value of ErrorCode, `error_detail` explains it."""


def page_digest(page: LabelledPage) -> str:
    """Return a digest of the inputs of an output: the page's bytes, and the truth, which bounds
    see."""
    return hashlib.sha256(page.html + b"\0" + page.truth_text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def decode_page(page: LabelledPage) -> str:
    """Decode a page as browsers do: once, so that every extractor gets the same characters."""
    return decode(page.html, page.content_type).text


class Outputs:
    """The outputs of one extractor on one set. Opened to append; close it, or use it as a context
    manager."""

    def __init__(self, folder: Path, data_set: str, extractor: Contender) -> None:
        self.path = folder / "outputs" / data_set / f"{extractor.name}@{extractor.version}.jsonl"
        self._stream: TextIO | None = None

    def __enter__(self) -> "Outputs":
        self._stream = _append_to(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, output: Output) -> None:
        """Append one output and write it to the file at once."""
        assert self._stream is not None
        self._stream.write(_line(asdict(output)))
        self._stream.flush()

    def read(self) -> dict[str, Output]:
        """Return the outputs by page id."""
        return read_outputs(self.path)


def read_outputs(path: Path) -> dict[str, Output]:
    """Return the outputs of a file by page id; the last output of a page counts."""
    return {row["id"]: Output(**row) for row in read_lines(path)}


def write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    """Append rows, each written to the file at once."""
    with _append_to(path) as stream:
        for row in rows:
            stream.write(_line(row))
            stream.flush()


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file; none if the file does not exist. A last line that a kill cut short
    is left out."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for line in stream:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _append_to(path: Path) -> TextIO:
    """Open a file to append lines. If a kill left an incomplete last line, end that line, because
    otherwise the next line would be lost too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cut_short = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    stream = path.open("a", encoding="utf-8")
    if cut_short:
        stream.write("\n")
    return stream


def _line(row: dict[str, Any]) -> str:
    # ASCII only: lone surrogates and U+2028 in a page's text must not break the file.
    return json.dumps(row, ensure_ascii=True) + "\n"
