"""Checks that a batch is complete before the ledger marks it done: every page that was read has
exactly one row."""

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
"""Counts that a file's report takes from its rows."""
_MOST_REDONE = 2
"""Maximum number of times that a batch is written again if its rows differ from the pages read."""
_MOST_OUTCOMES = 256
"""Maximum number of combinations of span reports tried for a file: enough for eight spans with two
different outcomes each."""


class LostRowsError(Exception):
    """Rows that an earlier stage of a batch wrote are missing. `stage` is that stage, which must
    write them again."""

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage


def write_until_whole(
    do: Callable[[], object], batch: Batch, is_stopped: Callable[[], bool], confirm: Callable[[], None]
) -> None:
    """Call `do`, which writes `batch`. Call it again if the rows written differ from the pages
    read, or if another commit came first.

    Args:
        confirm: Called before each retry. It raises if another run has taken the lease, because the
            rows of that run are not the pages read here.

    Raises:
        WrongRowsError: If the last try also fails.
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
    """Like `match_reports_to_rows`, but uses only the tasks' reports and a row count. Return None
    if the rows must be read.

    Args:
        n_rows: Number of rows that the batch's commit added, according to Delta's log; None if the
            log does not say. Spark takes the reports and the data files of a task from the same
            attempt. So the rows match the reports if each span was reported once and the totals are
            equal.
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
    """Return, for each file of `batch`, a report that agrees with the rows that the batch wrote.

    The counts in the returned reports (`rows`, `failed_pages`, `fallback_pages` and so on) come
    from these rows.

    Args:
        reports: The tasks' reports. Spark may run a task twice after the loss of an executor. Then
            a file is reported twice, perhaps with different outcomes, and the table has the rows of
            one of the two attempts.
        rows: The rows of the batch.

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
    """Merge the reports of a file's spans, and return the possible reports of the whole file. There
    is more than one if a span was reported with different outcomes.

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
    """Drop the times, which differ between two reads of a span even if the outcome is the same."""
    return {key: value for key, value in report.items() if key not in ("task_ms", "slowest_page")}


FALLBACK = "fallback:"
"""Prefix of the column `method` if a fallback was used."""
NO_ROWS: Report = {
    "rows": 0,
    "keys": 0,
    "failed_pages": 0,
    "fallback_pages": 0,
    "errors": [],
    "methods": {},
    "grades": {},
}
"""The report that `rows_by_file` gives for a file without rows."""


def _choose_report(name: str, reports: Sequence[Report], counts: Report) -> Report:
    for report in reports:
        if report["records"] != report["pages"] + sum(report["skipped"].values()):
            raise WrongRowsError(f"{name}: {report['records']} records were seen, and not all are pages or skipped")
        if (report["pages"], report["page_keys"]) == (counts["rows"], counts["keys"]):
            return report | {key: counts[key] for key in _COUNTED}
    raise WrongRowsError(f"{name}: {reports[-1]['pages']} pages were read, and {counts['rows']} rows are not the same")


def rows_by_file(rows: DataFrame) -> dict[str, Report]:
    """Return counts for each archive file in rows of `pages` or `extractions`: `rows`, the sum of
    their keys, error rows and their codes, rows by method, and rows for which a fallback was
    used."""
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
    """Return the number of the batch's rows in `table`. Raise WrongRowsError unless they match
    `expected` one to one."""
    return check_rows_of(table, tables.read(table).where(F.col("batch") == batch.number), expected)


def check_pages(reports: Iterable[Report], pages: DataFrame) -> None:
    """Raise LostRowsError unless `pages` has as many rows of each file as the ledger counted, and
    this version of the program wrote all of them.

    A comparison with another table would miss the loss if both tables were emptied.

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
    """Return for each file the number of its `rows` in `pages`, and how many of them (`others`)
    were written by another version of the program."""
    # The stage `extract` splits pages again, and another version may split them into other blocks.
    is_other = F.col("dripper") != dripper.__version__
    return pages.groupBy("warc_file").agg(F.count("*").alias("rows"), F.count_if(is_other).alias("others")).collect()


def check_between(table: str, stage: str, written: DataFrame, expected: DataFrame) -> None:
    """Raise LostRowsError unless the rows that `stage` wrote into `table` (`written`) match the
    pages in `expected`."""
    try:
        check_rows_of(table, written, expected)
    except WrongRowsError as error:
        raise LostRowsError(stage, str(error)) from None
