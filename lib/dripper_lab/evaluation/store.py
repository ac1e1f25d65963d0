"""Stores the state of a run as JSON lines, so that a stopped run can be resumed.

`outputs/<set>/<extractor>@<version>.jsonl` has one line per page. `scores/<set>.jsonl` has one line
per page for all extractors. A line is valid only if its digest matches the page. After a change to
data, versions or metrics, the page is therefore processed again.
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
    """An extractor's output for one page."""

    id: str
    digest: str
    text: str
    """Empty if the extractor failed."""
    cpu_ms: float
    """CPU time of the extraction only, without loading and conversion. If the page reached the time
    limit, this is the limit."""
    error_code: str | None = None
    error_detail: str | None = None
    """The error is None on success. `error_code` is a value of ErrorCode, and `error_detail`
    explains it."""


def page_digest(page: LabelledPage) -> str:
    """Return a digest of an extractor's inputs: the page's bytes, and the ground truth, which
    extractors of kind `bound` read."""
    return hashlib.sha256(page.html + b"\0" + page.truth_text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def decode_page(page: LabelledPage) -> str:
    """Decode a page like a browser. Callers do this once, so that every extractor gets the same
    characters."""
    return decode(page.html, page.content_type).text


class Outputs:
    """The outputs of one extractor on one set. Use it as a context manager to append outputs."""

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
        """Append an output, and write it to disk immediately."""
        assert self._stream is not None
        self._stream.write(_line(asdict(output)))
        self._stream.flush()

    def read(self) -> dict[str, Output]:
        """Return page id → output."""
        return read_outputs(self.path)


def read_outputs(path: Path) -> dict[str, Output]:
    """Return page id → output. The last output for a page counts."""
    return {row["id"]: Output(**row) for row in read_lines(path)}


def write_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    """Append rows. Each row is written immediately."""
    with _append_to(path) as stream:
        for row in rows:
            stream.write(_line(row))
            stream.flush()


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, or nothing if the file does not exist. Invalid lines, such as an
    incomplete last line, are skipped."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for line in stream:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _append_to(path: Path) -> TextIO:
    """Open a file for appending lines. If the last line is incomplete, it is ended first.
    Otherwise, the next line would be lost, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cut_short = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    stream = path.open("a", encoding="utf-8")
    if cut_short:
        stream.write("\n")
    return stream


def _line(row: dict[str, Any]) -> str:
    # ASCII only: lone surrogates and U+2028 must not break the file
    return json.dumps(row, ensure_ascii=True) + "\n"
