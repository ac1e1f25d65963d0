"""Forgetting pages: rows leave every table that holds pages or what was made of them, and no run
writes them again.

What is to go is counted first, and noted in the table `forgotten` in one commit; from then on the
rules hold. Then rows are deleted, table by table, what the ledger counts is brought in line, and
the rules are noted as done. Each step may be done twice, so that a call which was interrupted goes
on with the next call, or with the next run into the output.
"""

import logging
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from dripper.errors import InputError
from dripper.spark.ledger.forgotten import BEGUN, DONE, TABLE, Rule, Rules, rows_by_batch, rows_of, rules_of
from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import UNFINISHED, LedgerEntry
from dripper.spark.ledger.reconcile import reconcile
from dripper.spark.tables.batches import within
from dripper.spark.tables.fence import SPARK_ERRORS
from dripper.spark.tables.log_store import require_log_store
from dripper.spark.tables.schemas import FORGOTTEN, nullable
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.sql import quoted
from dripper.spark.tables.store import Tables

logger = logging.getLogger(__name__)

_OF_PAGES = ("pages", "extractions")
"""Tables by which is known what is to go. Their own rows go after those of the others."""
_BY_PAGE_ID = ("blocks", "labels")
_BY_SITE = ("site_blocks", "layouts")
_NOTHING_NAMED = "name what to forget (--host, --domain, --url or --page-id): no earlier call is left to go on with"
_RETAINED = timedelta(hours=168)
"""How long `jobs/maintain.py` keeps old versions at least."""


def forget(
    spark: SparkSession,
    output: str,
    rules: Collection[Rule],
    reason: str,
    *,
    dry_run: bool = False,
    single_writer: bool = False,
) -> Iterator[str]:
    """Delete the pages that `rules` name from all tables below `output`, and keep runs from writing
    them again; yield what was done, in sentences. Without rules: go on with what was begun.

    Args:
        dry_run: Count, and change nothing.
        single_writer: As for `maintain`.

    Raises:
        InputError: If there is no table, or nothing to do.
        BusyError: If a run is at work.
        DifferenceError: If the rows of `extractions` are not those that the ledger counts.
    """
    tables = Tables(spark, output)
    require_log_store(spark, tables, single_writer)
    there = [table for table in _OF_PAGES if tables.version(table) is not None]
    if not there or tables.version("warc_files") is None:
        raise InputError(f"--output {output}: there is no table extractions or pages to forget anything of")
    if rules and not (dry_run or reason.strip()):
        raise InputError("--reason is empty: say why, for those who ask later")
    if dry_run:
        if not rules:
            raise InputError(_NOTHING_NAMED)
        counted = _count_pages(tables, Rules(frozenset(rules)))
        yield from _sentences(counted, rules, "would be")
        return
    for table in ("runs", "warc_files", *there, TABLE):
        tables.create(table)
    held = Lease(SparkBooks(spark, tables))
    held.take(job="forget")
    ending: dict[str, Any] = {"state": "interrupted", "exit_code": 3}
    try:
        yield from _forget(spark, tables, held, rules, reason)
        if tables.fence and tables.fence.is_used:
            held.confirm()
        ending = {"state": "ended", "exit_code": 0}
    finally:
        held.end(**ending)


def _forget(spark: SparkSession, tables: Tables, held: Lease, rules: Collection[Rule], reason: str) -> Iterator[str]:
    ledger = Ledger(SparkBooks(spark, tables), held.run_id)
    reconcile(spark, tables, ledger, held.confirm)
    earlier = go_on(tables, ledger, held, rows_of(tables))
    if earlier:
        yield f"{earlier} pages of a call before, which did not come to its end, are forgotten"
    if not rules:
        if not earlier:
            raise InputError(_NOTHING_NAMED)
        yield _horizon(tables)
        return
    counted = _count_pages(tables, Rules(frozenset(rules)))
    held.check()
    tables.append(TABLE, _begin_rows(spark, counted, rules, reason))
    go_on(tables, ledger, held, rows_of(tables))
    yield from _sentences(counted, rules, "are")
    yield _horizon(tables)


def _count_pages(tables: Tables, rules: Rules) -> dict[tuple[Rule, int], int]:
    """Return how many pages each rule names, by batch; a page counts once, for the first kind of
    rule."""
    pages = _pages(tables, rules.condition())
    if pages is None:
        return {}
    kinds = {each.kind for each in rules.rules}
    counts: Counter[tuple[Rule, int]] = Counter()
    # Of pages that are named as such there are few; the others are counted by their hosts.
    columns = ["batch", "host", *(name for name in ("page_id", "url") if name in kinds)]
    for row in pages.groupBy(*columns).count().collect():
        values = row.asDict()
        found = rules.rule_of(values.get("page_id") or "", values.get("url") or "", row["host"])
        assert found is not None
        counts[found, row["batch"]] += row["count"]
    return dict(counts)


def _pages(tables: Tables, condition: str) -> DataFrame | None:
    """Return page_id, url, host and batch of the pages for which a condition holds, each once."""
    found: DataFrame | None = None
    for table in _OF_PAGES:
        if tables.version(table) is not None:
            rows = tables.read(table).where(condition).select("page_id", "url", "host", "batch")
            found = rows if found is None else found.unionByName(rows)
    return found.dropDuplicates(["page_id", "batch"]) if found is not None else None


def _begin_rows(
    spark: SparkSession, counted: Mapping[tuple[Rule, int], int], rules: Collection[Rule], reason: str
) -> DataFrame:
    """Return the rows of `forgotten` for new rules: one for each batch that has pages of it, and
    one for a rule that names no page yet."""
    request, now, by = uuid.uuid4().hex, datetime.now(UTC), _user(spark)
    of_request = {"request": request, "reason": reason, "forgotten_by": by, "forgotten_at": now, "state": BEGUN}
    places: list[tuple[Rule, int | None, int]] = [(each, batch, n) for (each, batch), n in sorted(counted.items())]
    places += [(each, None, 0) for each in sorted(set(rules) - {each for each, _ in counted})]
    rows = [
        of_request | {"kind": each.kind, "pattern": each.pattern, "batch": batch, "rows": n}
        for each, batch, n in places
    ]
    schema = to_arrow_schema(nullable(FORGOTTEN.fields))
    table = pa.Table.from_pylist(rows, schema=schema)
    return spark.createDataFrame(table, nullable(FORGOTTEN.fields)).coalesce(1)


def _user(spark: SparkSession) -> str:
    with suppress(*SPARK_ERRORS):
        row = spark.sql("SELECT current_user()").head()
        return str(row[0]) if row else ""
    return ""


def go_on(tables: Tables, ledger: Ledger, held: Lease, known: Sequence[dict[str, Any]]) -> int:
    """Finish what was begun to be forgotten, and return how many pages that was. Needs the lease,
    and tables that were reconciled.

    Args:
        known: The rows of `forgotten`.
    """
    rows = [row for row in known if row["state"] == BEGUN]
    if not rows:
        return 0
    rules = rules_of(rows)
    counts = rows_by_batch(rows)
    logger.info("forgetting %d pages in %d batches", sum(counts.values()), len(counts))
    _delete(tables, rules, held)
    _close_counts(tables, ledger, counts, held)
    requests = ", ".join(sorted({quoted(row["request"]) for row in rows}))
    held.check()
    name = tables.sql_name(TABLE)
    tables.change(TABLE, f"UPDATE {name} SET state = {quoted(DONE)} WHERE request IN ({requests})")
    return sum(counts.values())


def _delete(tables: Tables, rules: Rules, held: Lease) -> None:
    """Delete the rows of all tables, those last by which the others are found."""
    there = {t for t in (*_OF_PAGES, *_BY_PAGE_ID, *_BY_SITE, "published") if tables.version(t) is not None}
    condition = rules.condition()
    sources = [table for table in _OF_PAGES if table in there]
    for table in _BY_PAGE_ID:
        for source in sources if table in there else ():
            held.check()
            tables.delete_matching(table, source, "page_id", condition)
        if table in there and (ids := [each.pattern for each in rules.rules if each.kind == "page_id"]):
            tables.delete(table, f"page_id IN ({', '.join(map(quoted, sorted(ids)))})")
    sites = _sites(tables, rules) if there & set(_BY_SITE) else []
    for table in _BY_SITE:
        if table in there:
            held.check()
            of_sites = [f"(batch = {batch} AND host = {quoted(host)})" for batch, host in sites]
            tables.delete(table, " OR ".join([f"({rules.host_condition()})", *of_sites]))
    for table in ("pages", "published", "extractions"):
        if table in there:
            held.check()
            tables.delete(table, condition)


def _sites(tables: Tables, rules: Rules) -> list[tuple[int, str]]:
    """Return batch and host of single pages that are forgotten: what is known of a host is of
    several pages at once, and is made anew of those that stay."""
    single = Rules(frozenset(each for each in rules.rules if each.kind in ("page_id", "url")))
    pages = _pages(tables, single.condition()) if single else None
    if pages is None:
        return []
    rows = pages.where("host IS NOT NULL").select("batch", "host").distinct().collect()
    return sorted((row["batch"], row["host"]) for row in rows)


def _close_counts(tables: Tables, ledger: Ledger, counts: Mapping[int, int], held: Lease) -> None:
    """Let the ledger count the pages that went as skipped."""
    entries = ledger.entries()
    # Rows of selections that a whole reading, which is on its way, replaces may be gone by it.
    replacing = {
        entry.file.warc_file for entry in entries if entry.state in UNFINISHED and entry.file.selection is None
    }
    mine = [
        entry
        for entry in entries
        if entry.batch in counts
        and entry.pages
        and entry.state != UNFINISHED[0]
        and not (entry.file.selection is not None and entry.file.warc_file in replacing)
    ]
    left: dict[str, dict[tuple[int, str], tuple[int, int]]] = {}
    for table in _OF_PAGES:
        batches = {entry.batch for entry in mine if _table_of(entry) == table}
        left[table] = _rows_left(tables, table, batches) if batches else {}
    reports = []
    for entry in mine:
        n_pages, n_failed = left[_table_of(entry)].get((entry.batch, entry.file.warc_file), (0, 0))
        if n_pages < entry.pages:
            reports.append((entry, n_pages, n_failed))
    if reports:
        held.check()
        ledger.forget(reports)


def _table_of(entry: LedgerEntry) -> str:
    """Return the table that has the rows which the ledger counts of a file."""
    return "pages" if entry.state in UNFINISHED else "extractions"


def _rows_left(tables: Tables, table: str, batches: Collection[int]) -> dict[tuple[int, str], tuple[int, int]]:
    rows = tables.read(table).where(within(batches)).groupBy("batch", "warc_file")
    counted = rows.agg(F.count("*").alias("rows"), F.count("error_code").alias("failed")).collect()
    return {(row["batch"], row["warc_file"]): (row["rows"], row["failed"]) for row in counted}


def _sentences(counted: Mapping[tuple[Rule, int], int], rules: Collection[Rule], verb: str) -> Sequence[str]:
    told = []
    for each in sorted(rules):
        batches = [n for (found, _), n in counted.items() if found == each]
        told.append(f"{each.kind} {each.pattern}: {sum(batches)} pages in {len(batches)} batches {verb} forgotten")
    return told


def _horizon(tables: Tables) -> str:
    until = datetime.now(UTC) + _RETAINED
    return (
        f"older versions of the tables hold the rows still: from {until:%Y-%m-%d %H:%M} UTC on, jobs/maintain.py --output "
        f"{tables.output} --retain-hours {_RETAINED // timedelta(hours=1)} clears them; copies of published that follow its "
        "change feed get the deletions from there"
    )


def rules_in_force(tables: Tables, ledger: Ledger, held: Lease) -> Rules:
    """Return the rules that a run has to keep, after what was begun to be forgotten is finished."""
    rows = rows_of(tables)
    if pages := go_on(tables, ledger, held, rows):
        logger.warning("%d pages are forgotten, which a call of jobs/forget.py had begun", pages)
    return rules_of(rows)
