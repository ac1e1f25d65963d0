"""Forgets pages: deletes their rows from all tables, and keeps runs from writing them again.

This covers tables with pages and tables with data derived from pages. The steps are in
`dripper.spark.ledger.forgetting`.
"""

import re
import uuid
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dripper.errors import InputError, NoPageError
from dripper.spark.ledger.forgetting import PAGE_TABLES, begin, go_on
from dripper.spark.ledger.forgotten import BEGUN, TABLE, Rule, Rules, rows_by_batch
from dripper.spark.ledger.lease import Lease, hold_lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.reconcile import reconcile
from dripper.spark.tables.books import Row
from dripper.spark.tables.fence import SPARK_ERRORS
from dripper.spark.tables.log_store import require_log_store
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.sql import quoted
from dripper.spark.tables.store import Tables
from dripper.spark.wording import SHOWN, list_names, say_count

_BY_PAGE_ID = ("blocks", "labels")
_BY_HOST = "layouts"
_NOTHING_NAMED = "name what to forget (--host, --domain, --url or --page-id): no earlier call is left to continue"
_MOST_LINES = 50
"""Maximum number of rules to report one by one. For more rules, only totals are reported."""
_RETAINED = timedelta(hours=168)
"""Minimum time for which `jobs/maintain.py` keeps old versions."""


def forget(
    spark: SparkSession,
    output: str,
    rules: Collection[Rule],
    reason: str,
    *,
    dry_run: bool = False,
    single_writer: bool = False,
) -> Iterator[str]:
    """Delete the pages that `rules` match, and keep runs from writing them again.

    Yield sentences about the result. Without rules, continue an earlier, unfinished call.

    Args:
        dry_run: Only count the pages, and change nothing.
        single_writer: As for `maintain`.

    Raises:
        InputError: If there is no table or nothing to do.
        BusyError: If a run is active.
        DifferenceError: If the rows of `extractions` do not match the ledger.
        NoPageError: If a rule for a single page matches no page. The error is raised after
            everything is done.
    """
    tables = Tables(spark, output)
    require_log_store(spark, tables, single_writer)
    existing = tables.require(*PAGE_TABLES)
    if rules and not (dry_run or reason.strip()):
        raise InputError("--reason is empty: say why, for people who ask later")
    if dry_run:
        if not rules:
            raise InputError(_NOTHING_NAMED)
        counts = SparkPages(tables).count(Rules(frozenset(rules)))
        yield from _sentences(counts, rules, lambda n: "would be")
        _say_near(tables, counts, rules, [])
        return
    for table in ("runs", "warc_files", *existing.intersection(PAGE_TABLES), TABLE):
        tables.create(table)
    with hold_lease(SparkBooks(spark, tables), job="forget") as lease:
        earlier = yield from _forget(spark, tables, lease, rules, reason)
    _say_near(tables, *earlier)


def _forget(
    spark: SparkSession, tables: Tables, lease: Lease, rules: Collection[Rule], reason: str
) -> Generator[str, None, tuple[Mapping[tuple[Rule, int], int], Collection[Rule], Sequence[Row]]]:
    """Forget the pages. Return the counts, the rules, and the rows that `forgotten` had before."""
    books, pages = SparkBooks(spark, tables), SparkPages(tables)
    ledger, before = Ledger(books, lease.run_id), books.read(TABLE)
    for table in pages.tables():
        # Check this before the rules are recorded. Otherwise, every later run would fail when it
        # tries to finish the deletion.
        tables.check_deletable(table)
    reconcile(spark, tables, pages, ledger, lease, rules)
    if begun := sum(rows_by_batch([row for row in before if row["state"] == BEGUN]).values()):
        yield f"of a call before, which did not come to its end, {say_count(begun, 'page', 'is')} forgotten"
    if not rules:
        if not any(row["state"] == BEGUN for row in before):
            raise InputError(_NOTHING_NAMED)
        yield _horizon(tables)
        return {}, (), ()
    counts = pages.count(Rules(frozenset(rules)))
    lease.check()
    by, now = _user(spark), datetime.now(UTC)
    request = {"request": uuid.uuid4().hex, "reason": reason, "forgotten_by": by, "forgotten_at": now}
    begin(books, counts, rules, request)
    go_on(books, pages, ledger, lease.check, books.read(TABLE))
    yield from _sentences(counts, rules, lambda n: "is" if n == 1 else "are")
    yield _horizon(tables)
    return counts, rules, before


class SparkPages:
    """Implements `dripper.spark.ledger.forgetting.Pages` with Spark."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def tables(self) -> list[str]:
        """Return the existing tables from which rows are deleted, in order."""
        names = (*_BY_PAGE_ID, _BY_HOST, "pages", "published", "extractions")
        return [table for table in names if self._tables.exists(table)]

    def count(self, rules: Rules) -> dict[tuple[Rule, int], int]:
        """Return how many pages each rule matches; see `Pages`."""
        pages = _pages(self._tables, rules.condition())
        if pages is None:
            return {}

        def name_rules(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for rows in batches:
                found = [
                    rules.rule_of(row["page_id"], row["url"] or "", row["host"]) or _NO_RULE for row in rows.to_pylist()
                ]
                columns = [[each.kind for each in found], [each.pattern for each in found], rows["batch"]]
                yield pa.RecordBatch.from_arrays([pa.array(each) for each in columns], ["kind", "pattern", "batch"])

        # Match the rules in the workers. Otherwise, the driver would have to collect a row per
        # page.
        named = pages.mapInArrow(name_rules, "kind string, pattern string, batch long")
        counted = named.groupBy("kind", "pattern", "batch").count().collect()
        return {(Rule(row["kind"], row["pattern"]), row["batch"]): row["count"] for row in counted}

    def delete(self, rules: Rules, check: Callable[[], None]) -> None:
        """Delete the rows from all tables; see `Pages`."""
        tables, existing, condition = self._tables, self.tables(), rules.condition()
        sources = [table for table in PAGE_TABLES if table in existing]
        ids = ", ".join(quoted(each.pattern) for each in sorted(rules.rules) if each.kind == "page_id")
        # Rows about a host are derived from several of its pages. They are deleted even if only one
        # page is forgotten, and derived again from the remaining pages.
        single = Rules(frozenset(each for each in rules.rules if each.kind in ("page_id", "url")))
        for table in existing:
            if table in _BY_PAGE_ID:
                for source in sources:
                    check()
                    tables.delete_matching(table, source, "page_id", condition)
            elif table == _BY_HOST:
                for source in sources if single else ():
                    check()
                    tables.delete_matching(table, source, "batch, host", f"host IS NOT NULL AND ({single.condition()})")
            check()
            if table == _BY_HOST:
                tables.delete(table, rules.host_condition())
            elif table not in _BY_PAGE_ID:
                tables.delete(table, condition)
            elif ids:
                tables.delete(table, f"page_id IN ({ids})")
            tables.purge(table)

    def are_restored(self) -> bool:
        """Return whether a table was restored; see `Pages`."""
        return any(self._tables.is_restored(table) for table in self.tables())


_NO_RULE = Rule("", "")


def _pages(tables: Tables, condition: str) -> DataFrame | None:
    """Return the distinct page_id, url, host and batch of the pages that satisfy a condition."""
    pages: DataFrame | None = None
    for table in PAGE_TABLES:
        if tables.exists(table):
            rows = tables.read(table).where(condition).select("page_id", "url", "host", "batch")
            pages = rows if pages is None else pages.unionByName(rows)
    return pages.dropDuplicates(["page_id", "batch"]) if pages is not None else None


def _say_near(
    tables: Tables, counts: Mapping[tuple[Rule, int], int], rules: Collection[Rule], before: Sequence[Row]
) -> None:
    """Raise NoPageError if a rule for a single page matches no page and never did.

    The error message lists similar URLs.
    """
    found = {rule for rule, _ in counts} | {Rule(row["kind"], row["pattern"]) for row in before if row["rows"]}
    missed = sorted(rule for rule in rules if rule.kind in ("url", "page_id") and rule not in found)
    if not missed:
        return
    near = _find_near(tables, [rule.pattern for rule in missed if rule.kind == "url"])
    sentences = []
    for rule in missed[:SHOWN]:
        urls = near.get(likeness(rule.pattern), [])
        like = f"; like it are {list_names(urls)}, which have to be named as they are" if urls else ""
        sentences.append(f"--{rule.kind.replace('_', '-')} {rule.pattern} names no page{like}")
    more = f"; and {len(missed) - SHOWN} more" if len(missed) > SHOWN else ""
    raise NoPageError(f"{'; '.join(sentences)}{more}")


_UNLIKE = (r"^[a-z][a-z0-9+.-]*:/*", r"^www\.", r"#.*$", r":(80|443)(?=[/?]|$)", r"/+$")
"""The parts that `likeness` removes from a URL: scheme, www, fragment, port, trailing slash. The
patterns are valid in both Python and Java."""


def likeness(url: str) -> str:
    """Return the normalized form that similar URLs share.

    >>> likeness("https://WWW.example.org:443/A/#top")
    'example.org/a'
    """
    text = url.lower()
    for pattern in _UNLIKE:
        text = re.sub(pattern, "", text)
    return text


def _find_near(tables: Tables, urls: Sequence[str]) -> dict[str, list[str]]:
    """Return a few similar page URLs for each of `urls`. The keys are the normalized `urls`."""
    pages = _pages(tables, "url IS NOT NULL") if urls else None
    if pages is None:
        return {}
    like = F.lower("url")
    for pattern in _UNLIKE:
        like = F.regexp_replace(like, pattern, "")
    rows = pages.select("url", like.alias("like")).where(F.col("like").isin(sorted(set(map(likeness, urls)))))
    some = F.slice(F.sort_array(F.collect_set("url")), 1, SHOWN + 1)
    return {row["like"]: row["urls"] for row in rows.groupBy("like").agg(some.alias("urls")).collect()}


def _user(spark: SparkSession) -> str:
    with suppress(*SPARK_ERRORS):
        row = spark.sql("SELECT current_user()").head()
        return str(row[0]) if row else ""
    return ""


def _sentences(
    counts: Mapping[tuple[Rule, int], int], rules: Collection[Rule], verb: Callable[[int], str]
) -> Sequence[str]:
    if len(rules) > _MOST_LINES:
        n_pages, naming = sum(counts.values()), say_count(len({rule for rule, _ in counts}), "rule")
        of = say_count(len({batch for _, batch in counts}), "batch")
        forgotten = f"{len(rules)} rules: {say_count(n_pages, 'page')} in {of} {verb(n_pages)} forgotten"
        return [f"{forgotten}, by {naming}; the table {TABLE} has how many by which"]
    sentences = []
    for each in sorted(rules):
        batches = [n for (rule, _), n in counts.items() if rule == each]
        pages, of = say_count(sum(batches), "page"), say_count(len(batches), "batch")
        sentences.append(f"{each.kind} {each.pattern}: {pages} in {of} {verb(sum(batches))} forgotten")
    return sentences


def _horizon(tables: Tables) -> str:
    until = datetime.now(UTC) + _RETAINED
    copies = ""
    if tables.exists("published"):
        has_feed = tables.properties("published").get("delta.enableChangeDataFeed") == "true"
        copies = (
            "; copies of published that follow its change feed get the deletions from there"
            if has_feed
            else "; the change feed of published is off, so delete these rows from its copies yourself"
        )
    return (
        f"older versions of the tables hold the rows still: from {until:%Y-%m-%d %H:%M} UTC on, jobs/maintain.py --output "
        f"{tables.output} --retain-hours {_RETAINED // timedelta(hours=1)} clears them{copies}"
    )
