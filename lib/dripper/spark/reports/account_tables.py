"""Writes the account of a run from the tables of its output."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from dripper.errors import InputError
from dripper.parse_place import output_place
from dripper.settings import CostSettings
from dripper.spark.ledger.plan import FINISHED
from dripper.spark.reports.account import SHORT, FileFacts, PageFacts, RunFacts, page
from dripper.spark.session.capacity import context_of
from dripper.spark.tables.sql import first_line
from dripper.spark.tables.store import Tables

BESIDE = ""
"""Value of the argument `to` for the folder `reports` next to the tables."""
_SHOWN_PAGES = 20
_DOUBTFUL_PAGES = 10
_FAILED_FIRST = ("time_limit", "memory_limit", "crashed", "internal", "labeler_failed")
"""Error codes of the pages to show first. Other codes mean that the page itself is at fault."""
_FILE = ("warc_file", "state", "batch", "pages", "failed_pages", "bytes_read", "n_problems", "error", "error_kind")


def check_place(spark: SparkSession, tables: Tables, to: str) -> None:
    """Raise InputError if `to` is not writable, as far as this can be checked before the run."""
    if to == BESIDE and tables.in_catalog:
        raise InputError(
            f"{tables.output} is a schema of a catalog, which holds no files: say where, --report FILE.html"
        )
    place = f"{tables.output}/reports" if to == BESIDE else output_place("--report", to).text
    here = _path_here(place)
    if here is None:
        try:
            file_system, path = _hadoop_file(spark, place)
            file_system.exists(path)
        except (Py4JError, PySparkException) as error:
            raise InputError(f"the report cannot be written to {place}: {first_line(error)}") from None
    elif to:
        folder = here if here.is_dir() else here.absolute().parent
        if not folder.is_dir():
            raise InputError(f"--report {to}: there is no folder {folder}")
        if not os.access(here if here.exists() else folder, os.W_OK):
            raise InputError(f"--report {to}: nobody but its owner may write there")


def _path_here(place: str) -> Path | None:
    """Return the path of a location on this machine; None for a URL."""
    return Path(place) if output_place("--report", place).kind == "path" else None


def _hadoop_file(spark: SparkSession, to: str) -> tuple[Any, Any]:
    """Return the file system of a URL, and the path in that file system.

    Spark is used, because it has credentials for the storage of the tables. This program may lack
    them. Raises InputError on Spark Connect.
    """
    if (context := context_of(spark)) is None:
        raise InputError(
            f"the report cannot be written to {to}: over Spark Connect only a file or a folder of this machine can be written; "
            "name one with --report"
        )
    path = context._jvm.org.apache.hadoop.fs.Path(to)
    return path.getFileSystem(context._jsc.hadoopConfiguration()), path


def write_account(spark: SparkSession, output: str, to: str, cost: CostSettings, run_id: str | None = None) -> str:
    """Write the account of a run as a single HTML page, and return its location.

    Args:
        to: A file, or a folder for a file named RUN_ID.html. It may be a URL that Spark can write
            to, such as `s3a://`. BESIDE means `reports` next to the tables.
        run_id: The run's ID; None for the last run.

    Raises:
        InputError: If the run does not exist or the account cannot be written.
    """
    tables = Tables(spark, output)
    check_place(spark, tables, to)
    to = output_place("--report", to).text if to else BESIDE
    facts = run_facts(tables, cost, run_id)
    folder = f"{tables.output}/reports" if to == BESIDE else to.rstrip("/")
    place = to if to.endswith((".html", ".htm")) else f"{folder}/{facts.run['run_id']}.html"
    _write(spark, place, page(facts))
    return place


def try_account(spark: SparkSession, output: str, to: str, cost: CostSettings, run_id: str) -> str:
    """Like `write_account`, but return a sentence about the result, and never raise.

    A run must not fail at its end only because of the account.
    """
    try:
        return f"account of the run: {write_account(spark, output, to, cost, run_id)}\n"
    except Exception as error:
        return f"no account of the run: {first_line(error)}; jobs/report.py writes it later\n"


def run_facts(tables: Tables, cost: CostSettings, run_id: str | None = None) -> RunFacts:
    """Return the facts of a run from the tables. If `run_id` is None, use the last run.

    Raises InputError if the run does not exist.
    """
    run = _run(tables, run_id)
    ledger = tables.read("warc_files").where((F.col("run_id") == run["run_id"]) & F.col("state").isin(*FINISHED))
    files = ledger.select(*_FILE, "finished_at", "task_ms", "slowest_page").collect()
    batches = sorted({file["batch"] for file in files})
    rows = tables.read("extractions").where(F.col("batch").isin(batches))
    return RunFacts(
        output=tables.output,
        run=run,
        files=[_file(file) for file in files],
        slowest_pages=_slowest(rows, files),
        failed_pages=[_page(row) for row in _choose_failed(rows).collect()],
        methods=_count_by(rows, "method"),
        languages=_count_by(rows, "language"),
        doubtful_pages=[PageFacts(**row.asDict()) for row in _choose_doubtful(rows).collect()],
        **_quality(rows),
        core_dollars_per_hour=cost.core_dollars_per_hour,
    )


def _run(tables: Tables, run_id: str | None) -> Mapping[str, Any]:
    tables.require("runs")
    runs = tables.read("runs")
    candidates = runs.where(F.col("run_id") == run_id) if run_id else runs.where(F.col("job") != "dismiss")
    newest = candidates.orderBy(F.col("epoch").desc()).head()
    if newest is None:
        raise InputError(f"{tables.output} has no run" + (f" {run_id}: the table runs has them all" if run_id else ""))
    run = newest.asDict()
    return run | {name: _utc(run[name]) for name in ("started_at", "heard_at", "ended_at")}


def _file(row: Row) -> FileFacts:
    values = {name: row[name] for name in _FILE if row[name] is not None}
    return FileFacts(**values, finished_at=_utc(row["finished_at"]), task_ms=row["task_ms"])


def _slowest(rows: DataFrame, files: Sequence[Row]) -> list[PageFacts]:
    ms_by_page = {file["slowest_page"]["page_id"]: file["slowest_page"]["ms"] for file in files if file["slowest_page"]}
    slowest = sorted(ms_by_page, key=lambda page_id: (-ms_by_page[page_id], page_id))[:_SHOWN_PAGES]
    if not slowest:
        return []
    rows_by_page = {row["page_id"]: row for row in rows.where(F.col("page_id").isin(slowest)).select(*_PAGE).collect()}
    return [_page(rows_by_page[page_id], ms_by_page[page_id]) for page_id in slowest if page_id in rows_by_page]


_PAGE = ("page_id", "url", "warc_file", "warc_offset", "payload_bytes", "error_code", "error_detail")


def _choose_failed(rows: DataFrame) -> DataFrame:
    first = F.when(F.col("error_code").isin(*_FAILED_FIRST), 0).otherwise(1)
    failed = rows.where(F.col("error_code").isNotNull()).select(*_PAGE)
    return failed.orderBy(first, "error_code", "page_id").limit(_SHOWN_PAGES)


def _choose_doubtful(rows: DataFrame) -> DataFrame:
    said = rows.where(F.col("error_code").isNull() & F.col("confidence").isNotNull())
    wanted = said.select(*(name for name in _PAGE if name[:5] != "error"), "confidence", "page_kind", "markdown_chars")
    return wanted.orderBy("confidence", "page_id").limit(_DOUBTFUL_PAGES)


def _quality(rows: DataFrame) -> dict[str, Any]:
    """Count the extractions by page kind and confidence, and the short and empty extractions."""
    good = rows.where(F.col("error_code").isNull())
    groups = good.groupBy("page_kind", F.floor(F.col("confidence") * 20).alias("at_least")).agg(
        F.count("*").alias("pages"),
        F.count_if(F.col("markdown_chars") < SHORT).alias("short"),
        F.count_if(F.col("markdown_chars") == 0).alias("wordless"),
    )
    kinds, confidences, n_short, n_wordless = Counter[str](), Counter[int | None](), 0, 0
    for row in groups.collect():
        kinds[row["page_kind"] or "unknown"] += row["pages"]
        confidences[row["at_least"]] += row["pages"]
        n_short, n_wordless = n_short + row["short"], n_wordless + row["wordless"]
    return {
        "kinds": dict(kinds.most_common()), "confidences": confidences, "short_pages": n_short, "wordless_pages": n_wordless,
    }  # fmt: skip


def _page(row: Row, ms: int | None = None) -> PageFacts:
    return PageFacts(**{name: row[name] for name in _PAGE if name != "page_id"}, ms=ms)


def _count_by(rows: DataFrame, column: str) -> dict[str, int]:
    rows_by_value = rows.where(F.col("error_code").isNull()).groupBy(column).count().collect()
    pairs = sorted(((row[0] or "unknown", row["count"]) for row in rows_by_value), key=lambda pair: (-pair[1], pair[0]))
    return dict(pairs)


def _utc(moment: datetime | None) -> datetime | None:
    """Return the time in UTC. Spark returns naive timestamps in the driver's time zone."""
    return moment.astimezone(UTC) if moment else None


def _write(spark: SparkSession, to: str, text: str) -> None:
    try:
        if here := _path_here(to):
            here.parent.mkdir(parents=True, exist_ok=True)
            here.write_text(text, encoding="utf-8")
            return
        file_system, path = _hadoop_file(spark, to)
        stream = file_system.create(path, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
    except (OSError, Py4JError, PySparkException) as error:
        raise InputError(f"the report cannot be written to {to}: {first_line(error)}") from None
