"""Forgetting pages: rows leave every table that holds pages or what was made of them, and no run
writes them again. The steps are those of `dripper.spark.ledger.forgetting`.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dripper.errors import InputError
from dripper.spark.ledger.forgetting import PAGE_TABLES, begin, go_on
from dripper.spark.ledger.forgotten import TABLE, Rule, Rules
from dripper.spark.ledger.lease import Lease, hold_lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.reconcile import reconcile
from dripper.spark.tables.batches import within
from dripper.spark.tables.fence import SPARK_ERRORS
from dripper.spark.tables.log_store import require_log_store
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.sql import quoted
from dripper.spark.tables.store import Tables
from dripper.spark.wording import say_count

_BY_PAGE_ID = ("blocks", "labels")
_BY_SITE = ("site_blocks", "layouts")
_NOTHING_NAMED = "name what to forget (--host, --domain, --url or --page-id): no earlier call is left to continue"
_RETAINED = timedelta(hours=168)
"""Time for which `jobs/maintain.py` keeps old versions at least."""


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
    page_tables = [table for table in PAGE_TABLES if tables.version(table) is not None]
    if not page_tables or tables.version("warc_files") is None:
        raise InputError(f"--output {output}: there is no table extractions or pages to forget anything of")
    if rules and not (dry_run or reason.strip()):
        raise InputError("--reason is empty: say why, for people who ask later")
    if dry_run:
        if not rules:
            raise InputError(_NOTHING_NAMED)
        counts = SparkPages(tables).count(Rules(frozenset(rules)))
        yield from _sentences(counts, rules, lambda n: "would be")
        return
    for table in ("runs", "warc_files", *page_tables, TABLE):
        tables.create(table)
    with hold_lease(SparkBooks(spark, tables), job="forget") as lease:
        yield from _forget(spark, tables, lease, rules, reason)


def _forget(spark: SparkSession, tables: Tables, lease: Lease, rules: Collection[Rule], reason: str) -> Iterator[str]:
    books, pages = SparkBooks(spark, tables), SparkPages(tables)
    ledger = Ledger(books, lease.run_id)
    reconcile(spark, tables, ledger, lease.confirm)
    if earlier := go_on(books, pages, ledger, lease.check, books.read(TABLE)):
        yield f"of a call before, which did not come to its end, {say_count(earlier, 'page', 'is')} forgotten"
    if not rules:
        if not earlier:
            raise InputError(_NOTHING_NAMED)
        yield _horizon(tables)
        return
    counts = pages.count(Rules(frozenset(rules)))
    lease.check()
    by, now = _user(spark), datetime.now(UTC)
    request = {"request": uuid.uuid4().hex, "reason": reason, "forgotten_by": by, "forgotten_at": now}
    begin(books, counts, rules, request)
    go_on(books, pages, ledger, lease.check, books.read(TABLE))
    yield from _sentences(counts, rules, lambda n: "is" if n == 1 else "are")
    yield _horizon(tables)


class SparkPages:
    """The pages of an output on Spark; see `dripper.spark.ledger.forgetting.Pages`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def count(self, rules: Rules) -> dict[tuple[Rule, int], int]:
        """Return how many pages each rule names; see `Pages`."""
        pages = _pages(self._tables, rules.condition())
        if pages is None:
            return {}
        kinds = {each.kind for each in rules.rules}
        counts: Counter[tuple[Rule, int]] = Counter()
        # Of pages that are named as such there are few; the others are counted by their hosts.
        columns = ["batch", "host", *(name for name in ("page_id", "url") if name in kinds)]
        for row in pages.groupBy(*columns).count().collect():
            values = row.asDict()
            rule = rules.rule_of(values.get("page_id") or "", values.get("url") or "", row["host"])
            assert rule is not None
            counts[rule, row["batch"]] += row["count"]
        return dict(counts)

    def delete(self, rules: Rules, check: Callable[[], None]) -> None:
        """Delete the rows of all tables; see `Pages`."""
        tables = self._tables
        existing = {t for t in (*PAGE_TABLES, *_BY_PAGE_ID, *_BY_SITE, "published") if tables.version(t) is not None}
        condition = rules.condition()
        sources = [table for table in PAGE_TABLES if table in existing]
        for table in _BY_PAGE_ID:
            for source in sources if table in existing else ():
                check()
                tables.delete_matching(table, source, "page_id", condition)
            if table in existing and (ids := [each.pattern for each in rules.rules if each.kind == "page_id"]):
                tables.delete(table, f"page_id IN ({', '.join(map(quoted, sorted(ids)))})")
        sites = _sites(tables, rules) if existing & set(_BY_SITE) else []
        for table in _BY_SITE:
            if table in existing:
                check()
                of_sites = [f"(batch = {batch} AND host = {quoted(host)})" for batch, host in sites]
                tables.delete(table, " OR ".join([f"({rules.host_condition()})", *of_sites]))
        for table in ("pages", "published", "extractions"):
            if table in existing:
                check()
                tables.delete(table, condition)

    def count_left(self, table: str, batches: Collection[int]) -> dict[tuple[int, str], tuple[int, int]]:
        """Return the rows that are left of each file; see `Pages`."""
        rows = self._tables.read(table).where(within(batches)).groupBy("batch", "warc_file")
        rows_by_file = rows.agg(F.count("*").alias("rows"), F.count("error_code").alias("failed")).collect()
        return {(row["batch"], row["warc_file"]): (row["rows"], row["failed"]) for row in rows_by_file}


def _pages(tables: Tables, condition: str) -> DataFrame | None:
    """Return page_id, url, host and batch of the pages for which a condition holds, each once."""
    pages: DataFrame | None = None
    for table in PAGE_TABLES:
        if tables.version(table) is not None:
            rows = tables.read(table).where(condition).select("page_id", "url", "host", "batch")
            pages = rows if pages is None else pages.unionByName(rows)
    return pages.dropDuplicates(["page_id", "batch"]) if pages is not None else None


def _sites(tables: Tables, rules: Rules) -> list[tuple[int, str]]:
    """Return batch and host of single pages that are forgotten: what is known of a host is of
    several pages at once, and is made anew of those that stay."""
    single = Rules(frozenset(each for each in rules.rules if each.kind in ("page_id", "url")))
    pages = _pages(tables, single.condition()) if single else None
    if pages is None:
        return []
    rows = pages.where("host IS NOT NULL").select("batch", "host").distinct().collect()
    return sorted((row["batch"], row["host"]) for row in rows)


def _user(spark: SparkSession) -> str:
    with suppress(*SPARK_ERRORS):
        row = spark.sql("SELECT current_user()").head()
        return str(row[0]) if row else ""
    return ""


def _sentences(
    counts: Mapping[tuple[Rule, int], int], rules: Collection[Rule], verb: Callable[[int], str]
) -> Sequence[str]:
    sentences = []
    for each in sorted(rules):
        batches = [n for (rule, _), n in counts.items() if rule == each]
        pages, of = say_count(sum(batches), "page"), say_count(len(batches), "batch")
        sentences.append(f"{each.kind} {each.pattern}: {pages} in {of} {verb(sum(batches))} forgotten")
    return sentences


def _horizon(tables: Tables) -> str:
    until = datetime.now(UTC) + _RETAINED
    return (
        f"older versions of the tables hold the rows still: from {until:%Y-%m-%d %H:%M} UTC on, jobs/maintain.py --output "
        f"{tables.output} --retain-hours {_RETAINED // timedelta(hours=1)} clears them; copies of published that follow its "
        "change feed get the deletions from there"
    )
