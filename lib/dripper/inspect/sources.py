"""Finds pages to inspect: files, folders, archives, standard input, and rows of `extractions` read
without Java.
"""

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dripper import extras as optional
from dripper.errors import InputError, PageError
from dripper.inspect.views import PageInput
from dripper.local.inputs import expand_inputs
from dripper.local.pages import InputCounts, read_pages
from dripper.parse_place import output_place
from dripper.settings import ReadSettings, S3Settings
from dripper.warc import Record
from dripper.warc.open.source import ARCHIVE_NAME

STANDARD_INPUT = "-"


def find_pages(names: Sequence[str], settings: ReadSettings, url: str | None = None) -> Iterator[PageInput]:
    """Yield the pages that `names` match.

    Args:
        names: See `expand_inputs`; `-` is a page on standard input.
        url: The URL to use for pages that come without a URL.

    Raises:
        InputError: An input does not exist, or cannot be read.
    """
    if STANDARD_INPUT in names:
        html = sys.stdin.buffer.read()
        yield PageInput(hashlib.sha256(html).hexdigest()[:32], "standard input", html, url)
    files = expand_inputs([name for name in names if name != STANDARD_INPUT], settings)
    counts = InputCounts()
    for record in read_pages(files, settings, (), counts):
        yield to_page_input(record, url)
    if counts.unread:
        raise InputError(counts.unread[0])


def to_page_input(record: Record, url: str | None = None) -> PageInput:
    """Convert a record to a page to inspect."""
    error = PageError(record.error_code, record.error_detail or "") if record.error_code else None
    return PageInput(
        record.page_id,
        describe_place(record.warc_file, record.offset),
        record.payload,
        record.url or url,
        record.content_type,
        error,
    )


def describe_place(file: str, offset: int) -> str:
    """Describe a page's location in human-readable form. Paths below the working folder become
    relative.

    >>> describe_place("s3://crawl/a.warc.gz", 77)
    's3://crawl/a.warc.gz at byte 77'
    """
    is_near = "://" not in file and Path(file).is_relative_to(Path.cwd())
    name = os.path.relpath(file) if is_near else file
    return f"{name} at byte {offset}" if ARCHIVE_NAME.search(file) else name


Row = dict[str, Any]

COLUMNS = (
    *("page_id", "url", "title", "warc_file", "warc_offset", "method", "confidence", "language", "main_html"),
    *("markdown", "versions", "error_code", "error_detail", "page_kind", "metadata", "images", "posts", "comments"),
)
"""The columns to read from a table. A column that an older release did not write is null. An SQL
condition can use all columns of the table."""


def read_rows(output: str, where: str | None, limit: int, s3: S3Settings) -> Sequence[Row]:
    """Return rows of the `extractions` table, ordered by archive file and offset.

    Args:
        output: A job's --output (a folder or an `s3a://` prefix), or the table itself.
        where: An SQL condition.

    Raises:
        InputError: The table cannot be read, or DuckDB rejects the condition.
        MachineError: The `inspect` extra is not installed.
    """
    dataset = _open_table(output, s3)
    # Close the parenthesis on a new line, because a condition may end with a comment.
    condition = f"WHERE ({where}\n)" if where and where.strip() else ""
    names = [name if name in dataset.schema.names else f"NULL AS {name}" for name in COLUMNS]
    query = f"SELECT {', '.join(names)} FROM extractions {condition} ORDER BY warc_file, warc_offset LIMIT {limit:d}"
    duckdb = optional.import_extra("duckdb", "--table needs", optional.explain_install("inspect"))
    with duckdb.connect(config={"enable_external_access": False}) as database:
        database.register("extractions", dataset)
        try:
            return list(database.sql(query).to_arrow_table().to_pylist())
        except duckdb.Error as error:
            raise InputError(f"--where {where!r}: {_first_line(error)}") from None


def _open_table(output: str, s3: S3Settings) -> Any:
    deltalake = optional.import_extra("deltalake", "--table needs", optional.explain_install("inspect"))
    table_place = output_place("--table", output, catalogs=True)
    if table_place.kind == "catalog":
        raise InputError(
            f"{output} is a schema of a catalog, which only Spark can read: write the rows to a folder, "
            f"spark.table('{output}.extractions').where(…).write.format('delta').save('FOLDER'), "
            "then dripper inspect --table FOLDER"
        )
    options = _storage_options(s3) if table_place.kind == "address" else None
    address = re.sub(r"^s3[an]://", "s3://", table_place.text.rstrip("/"))
    for place in (f"{address}/extractions", address):
        if deltalake.DeltaTable.is_deltatable(place, storage_options=options):
            try:
                return deltalake.DeltaTable(place, storage_options=options).to_pyarrow_dataset()
            except Exception as error:  # delta-rs has no common error class
                raise InputError(f"{place} cannot be read: {_first_line(error)}") from None
    raise InputError(f"no table extractions in {output}: give --output of a run, or the folder of the table")


def _storage_options(s3: S3Settings) -> dict[str, str]:
    """Convert the settings `reading.s3` to options of delta-rs, which takes the credentials from
    the environment."""
    options = {"AWS_ENDPOINT_URL": s3.endpoint_url, "AWS_REGION": s3.region}
    options["AWS_SKIP_SIGNATURE"] = "true" if s3.anonymous else None
    options["AWS_ALLOW_HTTP"] = "true" if (s3.endpoint_url or "").startswith("http://") else None
    return {name: value for name, value in options.items() if value}


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
