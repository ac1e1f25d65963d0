"""Tables `extractions` made on the spot, by delta-rs, of the rows that the job would write."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

import dripper
from dripper.page.extraction import Extraction, shared_extractor
from dripper.page.rows import extraction_row
from dripper.settings import Settings
from dripper.warc import read_records


def rows_of_archive(file: Path) -> list[dict[str, Any]]:
    """Return the rows of an archive."""
    extractor = shared_extractor(Settings())
    versions = {
        "dripper": dripper.__version__,
        "profile": "dripper",
        "labeler": extractor.labeler.name,
        "labeler_version": extractor.labeler.version,
    }
    rows = []
    for record in read_records(str(file)):
        made = Extraction(error_code=record.error_code, error_detail=record.error_detail)
        if record.error_code is None:
            made = extractor.extract(record.payload, record.url, record.content_type or "")
        rows.append(extraction_row(record, made, 1, versions))
    return rows


def write_table(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as `folder/extractions`; return `folder`."""
    texts = ("error_code", "error_detail", "truncated", "language", "method", "title", "main_html", "markdown")
    table = pa.Table.from_pylist(rows)
    for name in texts:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table.column(name).cast(pa.string()))
    table = table.set_column(table.schema.get_field_index("flags"), "flags", pa.array([[""]] * len(rows)))
    write_deltalake(str(folder / "extractions"), table, partition_by=["batch"])
    return folder
