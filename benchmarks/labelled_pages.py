"""Reads the archives of labelled pages (`html/`, `truth.jsonl`), decoding pages in the same way as
for the golden hashes."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from resiliparse.parse.encoding import bytes_to_str, detect_encoding


class LabelledPage(NamedTuple):
    """A page: its data set, its id within the set, and its decoded text."""

    dataset: str
    page_id: str
    html: str


def read_pages(archive: Path) -> Iterator[LabelledPage]:
    """Yield the pages of an archive in the order of its `truth.jsonl`."""
    rows, files = [], {}
    with tarfile.open(archive, "r:xz") as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            if member.name.endswith("truth.jsonl"):
                rows = [json.loads(line) for line in content.read().splitlines() if line.strip()]
            elif "/html/" in member.name:
                files[member.name.split("/html/", 1)[1]] = content.read()
    for row in rows:
        raw = files.get(row["file"].split("html/", 1)[-1])
        if raw is not None:
            yield LabelledPage(archive.name.removesuffix(".tar.xz"), row["id"], _decode(raw, row.get("encoding") or ""))


def _decode(raw: bytes, encoding: str) -> str:
    if encoding.startswith("utf-8 (stored"):
        return raw.decode("utf-8", "replace")
    return bytes_to_str(raw, detect_encoding(raw, from_html_meta=True))
