"""Checks a batch before the ledger marks it as done: each page read must have exactly one row."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, fields
from itertools import islice, product

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

import dripper
from dripper.page.rows import GRADES
from dripper.spark.ledger.ledger import Report
from dripper.spark.tables.batches import Batch
from dripper.spark.tables.fence import find_conflict
from dripper.spark.tables.row_keys import WrongRowsError, check_rows_of, page_keys
from dripper.spark.tables.sql import first_line
from dripper.spark.tables.store import Tables
from dripper.warc import FileReport
from dripper.warc.read.record import merge_reports

logger = logging.getLogger(__name__)

_COUNTED = ("rows", "failed_pages", "fallback_pages", "errors", "methods", "grades")
"""Keys of a file's report with values that are counted from the file's rows."""
_MOST_REDONE = 2
"""Maximum number of times to rewrite a batch if its rows do not match the pages that were read."""
_MOST_OUTCOMES = 256
"""Maximum number of report combinations to try for a file. A file with eight spans, each reported
with two outcomes, has 256 combinations."""


class LostRowsError(Exception):
    """Raised if rows that an earlier stage of a batch wrote are missing.

    `stage` is the stage that must write them again.
    """

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage


def write_until_whole(
    do: Callable[[], object], batch: Batch, is_stopped: Callable[[], bool], confirm: Callable[[], None]
) -> None:
    """Call `do`, which writes `batch`, until the batch's rows match the pages that were read.

    `do` is called again after a WrongRowsError or a conflict with another commit, at most
    _MOST_REDONE times.

    Args:
        confirm: Called before each retry. It raises if another run has taken the lease. The rows of
            that run would not match the pages read here.

    Raises:
        WrongRowsError: If the last attempt fails, too.
    """
    for _ in range(_MOST_REDONE):
        try:
            do()
            return
        except Exception as error:
            conflict = find_conflict(error)
            if not (isinstance(error, WrongRowsError) or conflict):
                raise
            if is_stopped():
                raise
            confirm()
            logger.warning("batch %d is written again: %s", batch.number, conflict or first_line(error))
    do()


def match_reports_to_count(batch: Batch, reports: Sequence[Report], n_rows: int | None) -> list[Report] | None:
    """Like `match_reports_to_rows`, but read no rows. Return None if that is not sufficient.

    Spark takes a task's report and its data files from the same attempt. Therefore the rows match
    the reports if each span was reported once and the totals agree.

    Args:
        n_rows: Number of rows that the batch's commit added, from Delta's log; None if unknown.
    """
    spans = {(report["warc_file"], report["span"][0]) for report in reports}
    if len(spans) != len(reports) or n_rows != sum(report["pages"] for report in reports):
        return None
    counts: dict[str, Report] = {}
    for report in reports:
        file = counts.setdefault(report["warc_file"], deepcopy(NO_ROWS))
        methods: Counter[str] = Counter(file["methods"]) + Counter(report["methods"])
        file |= {
            "rows": file["rows"] + report["pages"],
            "keys": file["keys"] + report["page_keys"],
            "failed_pages": file["failed_pages"] + sum(report["errors"].values()),
            "fallback_pages": sum(n for name, n in methods.items() if name.startswith(FALLBACK)),
            "errors": [*file["errors"], *Counter(report["errors"]).elements()],
            "methods": dict(methods),
            "grades": dict(Counter(file["grades"]) + Counter(report["grades"])),
        }
    return _match_reports(batch, reports, counts)


def match_reports_to_rows(batch: Batch, reports: Iterable[Report], rows: DataFrame) -> list[Report]:
    """Return one report for each file of `batch`, chosen to match the rows that were written.

    In the returned reports, `rows`, `failed_pages` and similar counts are counted from the rows.

    Args:
        reports: The tasks' reports. After the loss of an executor, Spark may run a task twice and
            report its files twice, perhaps with different outcomes. The table has the rows of only
            one attempt.
        rows: The batch's rows.

    Raises:
        WrongRowsError: If no report matches the rows.
    """
    return _match_reports(batch, reports, rows_by_file(rows))


def _match_reports(batch: Batch, reports: Iterable[Report], counts: Mapping[str, Report]) -> list[Report]:
    by_file: dict[str, list[Report]] = {file.warc_file: [] for file in batch.files}
    for report in reports:
        by_file.setdefault(report["warc_file"], []).append(report)
    if foreign := (set(by_file) | set(counts)) - {file.warc_file for file in batch.files}:
        raise WrongRowsError(f"rows of {min(foreign)}, which is not a file of the batch")
    return [
        _choose_report(name, join_file_reports(name, of_file), counts.get(name, NO_ROWS))
        for name, of_file in by_file.items()
    ]


def join_file_reports(name: str, reports: Iterable[Report]) -> list[Report]:
    """Merge the reports of a file's spans, and return the possible reports of the whole file.

    A file has several possible reports if one of its spans was reported with different outcomes.
    Raises WrongRowsError if a span is missing.
    """
    by_span: dict[int, list[Report]] = {}
    for report in reports:
        same = by_span.setdefault(report["span"][0], [])
        if not any(_drop_times(report) == _drop_times(other) for other in same):
            same.append(report)
    spans = [by_span[start] for start in sorted(by_span)]
    at: int | None = 0
    for same in spans:
        if same[0]["span"][0] != at:
            break
        at = same[0]["span"][1]
    if at is not None:
        raise WrongRowsError(f"{name}: nothing was reported of it" + (f" from byte {at} on" if at else ""))
    return [_join_spans(spans_of_file) for spans_of_file in islice(product(*spans), _MOST_OUTCOMES)]


def _join_spans(reports: Sequence[Report]) -> Report:
    names = [field.name for field in fields(FileReport)]
    whole = merge_reports([FileReport(**{name: report[name] for name in names}) for report in reports])
    return asdict(whole) | {
        "page_keys": sum(report["page_keys"] for report in reports),
        "task_ms": sum(report["task_ms"] for report in reports),
        "slowest_page": max(
            (report["slowest_page"] for report in reports if report["slowest_page"]),
            key=lambda page: (page["ms"], page["page_id"]),
            default=None,
        ),
    }


def _drop_times(report: Report) -> Report:
    """Drop the timings. They differ between two reads of a span even if the outcome is the same."""
    return {key: value for key, value in report.items() if key not in ("task_ms", "slowest_page")}


FALLBACK = "fallback:"
"""Prefix of `method` in rows that a fallback labelled."""
NO_ROWS: Report = {
    "rows": 0,
    "keys": 0,
    "failed_pages": 0,
    "fallback_pages": 0,
    "errors": [],
    "methods": {},
    "grades": {},
}
"""The counts of a file without rows."""


def _choose_report(name: str, reports: Sequence[Report], counts: Report) -> Report:
    for report in reports:
        if report["records"] != report["pages"] + sum(report["skipped"].values()):
            raise WrongRowsError(f"{name}: {report['records']} records were seen, and not all are pages or skipped")
        if (report["pages"], report["page_keys"]) == (counts["rows"], counts["keys"]):
            return report | {key: counts[key] for key in _COUNTED}
    raise WrongRowsError(f"{name}: {reports[-1]['pages']} pages were read, and {counts['rows']} rows are not the same")


def rows_by_file(rows: DataFrame) -> dict[str, Report]:
    """Return the counts of each archive file from its rows in `pages` or `extractions`.

    The counts are the rows, the sum of their keys, the failed rows and their error codes, the rows
    of each method and grade, and the rows labelled by a fallback.
    """
    method = F.col("method") if "method" in rows.columns else F.lit(None).cast("string")
    confidence = F.col("confidence") if "confidence" in rows.columns else F.lit(None).cast("double")
    counts = rows.groupBy("warc_file", method.alias("method")).agg(
        F.count("*").alias("rows"),
        page_keys().alias("keys"),
        F.count("error_code").alias("failed_pages"),
        F.collect_list("error_code").alias("errors"),
        *(F.count_if(confidence.between(*bounds)).alias(name) for name, bounds in GRADES.items()),
    )
    files: dict[str, Report] = {}
    for row in counts.collect():
        file, by = files.setdefault(row["warc_file"], deepcopy(NO_ROWS)), row["method"]
        for key in ("rows", "keys", "failed_pages", "errors"):
            file[key] += row[key]
        file["grades"] = dict(Counter(file["grades"]) + Counter({name: row[name] for name in GRADES}))
        if by is not None:
            file["methods"][by] = row["rows"]
            file["fallback_pages"] += row["rows"] * by.startswith(FALLBACK)
    return files


def check_rows(tables: Tables, table: str, batch: Batch, expected: DataFrame) -> int:
    """Check the batch's rows in `table`, and return their number.

    Raises WrongRowsError unless the rows match `expected` one to one.
    """
    return check_rows_of(table, tables.read(table).where(F.col("batch") == batch.number), expected)


def check_pages(reports: Iterable[Report], pages: DataFrame) -> None:
    """Raise LostRowsError unless `pages` has all rows that the reports count for each file.

    Also raise if another version of the program wrote some of the rows. The rows are not compared
    with another table, because two emptied tables would match.

    Args:
        reports: Reports from the ledger, or from the stage that wrote the pages.
    """
    rows = count_by_file(pages)
    if n_others := sum(row["others"] for row in rows):
        raise LostRowsError(
            "preprocess",
            f"another version of dripper than this one, {dripper.__version__}, wrote {n_others} of its rows of the table pages",
        )
    n_rows_by_file = {row["warc_file"]: row["rows"] for row in rows}
    for report in reports:
        name, n_rows = report["warc_file"], n_rows_by_file.get(report["warc_file"], 0)
        if n_rows != report["pages"]:
            raise LostRowsError(
                "preprocess", f"the table pages has {n_rows} of the {report['pages']} pages that were read from {name}"
            )


def count_by_file(pages: DataFrame) -> list[Row]:
    """Return each file's number of rows in `pages` (`rows`).

    `others` is the number of these rows that another version of the program wrote.
    """
    # The `extract` stage splits the pages again. Another version may split them differently.
    is_other = F.col("dripper") != dripper.__version__
    return pages.groupBy("warc_file").agg(F.count("*").alias("rows"), F.count_if(is_other).alias("others")).collect()


def check_between(table: str, stage: str, written: DataFrame, expected: DataFrame) -> None:
    """Raise LostRowsError unless the rows that `stage` wrote (`written`) match `expected`."""
    try:
        check_rows_of(table, written, expected)
    except WrongRowsError as error:
        raise LostRowsError(stage, str(error)) from None
