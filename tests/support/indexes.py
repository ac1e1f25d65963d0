"""Indexes of small archives, as others write them: CDXJ lines, and a Parquet file with Common
Crawl's columns."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from warcio.archiveiterator import ArchiveIterator

Capture = tuple[str, str, int, int]
"""Address, name of the archive, offset and length of the record."""


def captures(file: Path, name: str = "") -> Iterator[Capture]:
    """Yield the responses of an archive, by warcio. name: of the archive in the index; "": its
    path."""
    with file.open("rb") as stream:
        records = ArchiveIterator(stream)
        for record in records:
            if record.rec_type == "response":
                url = record.rec_headers.get_header("WARC-Target-URI")
                yield url, name or str(file), records.get_record_offset(), records.get_record_length()


def write_cdxj(path: Path, archives: Sequence[Path], prefix: str = "") -> Path:
    """Write an index of `archives`. prefix: put before their names, in the place of their
    folder."""
    lines = []
    for file in archives:
        for url, name, offset, length in captures(file, f"{prefix}{file.name}" if prefix else ""):
            fields = {"url": url, "mime": "text/html", "status": "200", "filename": name}
            lines.append(f"key 20260102030405 {json.dumps(fields | {'offset': str(offset), 'length': str(length)})}\n")
    path.write_text("".join(lines))
    return path


def write_parquet_index(path: Path, archives: Sequence[Path]) -> Path:
    """Write a columnar index of `archives`."""
    rows = [
        {
            "url": url,
            "url_host_name": url.split("/")[2],
            "fetch_status": 200,
            "content_mime_detected": "text/html",
            "warc_filename": name,
            "warc_record_offset": offset,
            "warc_record_length": length,
        }
        for file in archives
        for url, name, offset, length in captures(file)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path
