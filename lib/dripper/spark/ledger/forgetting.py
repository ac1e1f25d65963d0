"""Forgetting pages, step by step, over any storage of books.

What is to go is counted first, and noted in the table `forgotten` in one commit; from then on the
rules hold. Then rows are deleted, what the ledger counts is brought in line, and the rules are
noted as done. Each step may be done twice, so that a call which was interrupted goes on with the
next call, or with the next run into the output.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from dripper.spark.ledger.forgotten import BEGUN, DONE, TABLE, Rule, Rules, rows_by_batch, rules_of
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import UNFINISHED, LedgerEntry
from dripper.spark.tables.books import Books, Row, amend, among
from dripper.spark.wording import say_count

logger = logging.getLogger(__name__)

PAGE_TABLES = ("pages", "extractions")
"""Tables by which is known what is to go. Their own rows go after those of the others."""


class Pages(Protocol):
    """The tables that hold pages, or what was made of them."""

    def count(self, rules: Rules) -> dict[tuple[Rule, int], int]:
        """Return how many pages each rule names, by batch; a page counts once, for the first kind
        of rule."""
        ...

    def delete(self, rules: Rules, check: Callable[[], None]) -> None:
        """Delete the rows of all tables, those last by which the others are found.

        Args:
            check: Called before each commit; raises where the lease has gone to another.
        """
        ...

    def count_left(self, table: str, batches: Collection[int]) -> dict[tuple[int, str], tuple[int, int]]:
        """Return, by batch and file, the rows that one of PAGE_TABLES has, and the error rows among
        them."""
        ...


def begin(
    books: Books, counts: Mapping[tuple[Rule, int], int], rules: Collection[Rule], request: Mapping[str, Any]
) -> None:
    """Note rules as begun: a row for each batch that has pages of one, and one for a rule that
    names no page yet.

    Args:
        counts: As `Pages.count` returns it.
        request: What all these rows have in common: who asks, when and why.
    """
    places: list[tuple[Rule, int | None, int]] = [(each, batch, n) for (each, batch), n in sorted(counts.items())]
    places += [(each, None, 0) for each in sorted(set(rules) - {each for each, _ in counts})]
    rows = [
        {**request, "state": BEGUN, "kind": each.kind, "pattern": each.pattern, "batch": batch, "rows": n}
        for each, batch, n in places
    ]
    books.append(TABLE, rows)


def go_on(
    books: Books, pages: Pages, ledger: Ledger, check: Callable[[], None], rule_rows: Sequence[Mapping[str, Any]]
) -> int:
    """Finish what was begun to be forgotten, and return how many pages that was. Needs the lease,
    and tables that were reconciled.

    Args:
        check: Called before each commit; raises where the lease has gone to another.
        rule_rows: The rows of `forgotten`.
    """
    rows = [row for row in rule_rows if row["state"] == BEGUN]
    if not rows:
        return 0
    counts = rows_by_batch(rows)
    logger.info("forgetting %s in %s", say_count(sum(counts.values()), "page"), say_count(len(counts), "batch"))
    pages.delete(rules_of(rows), check)
    _close_counts(pages, ledger, counts, check)
    check()
    amend(books, TABLE, among("request", {row["request"] for row in rows}), _mark_done)
    return sum(counts.values())


def rules_in_force(books: Books, pages: Pages, ledger: Ledger, check: Callable[[], None]) -> Rules:
    """Return the rules that a run has to keep, after what was begun to be forgotten is finished."""
    rows = books.read(TABLE)
    if n_pages := go_on(books, pages, ledger, check, rows):
        logger.warning("%d pages are forgotten, which a call of jobs/forget.py had begun", n_pages)
    return rules_of(rows)


def _mark_done(row: Row) -> Row:
    return row | {"state": DONE}


def _close_counts(pages: Pages, ledger: Ledger, counts: Mapping[int, int], check: Callable[[], None]) -> None:
    """Let the ledger count the pages that went as skipped."""
    entries = ledger.entries()
    # Rows of selections that a whole reading, which is on its way, replaces may be gone by it.
    replacing = {
        entry.file.warc_file for entry in entries if entry.state in UNFINISHED and entry.file.selection is None
    }
    touched = [
        entry
        for entry in entries
        if entry.batch in counts
        and entry.pages
        and entry.state != UNFINISHED[0]
        and not (entry.file.selection is not None and entry.file.warc_file in replacing)
    ]
    remaining: dict[str, dict[tuple[int, str], tuple[int, int]]] = {}
    for table in PAGE_TABLES:
        batches = {entry.batch for entry in touched if _table_of(entry) == table}
        remaining[table] = pages.count_left(table, batches) if batches else {}
    reports = []
    for entry in touched:
        n_pages, n_failed = remaining[_table_of(entry)].get((entry.batch, entry.file.warc_file), (0, 0))
        if n_pages < entry.pages:
            reports.append((entry, n_pages, n_failed))
    if reports:
        check()
        ledger.forget(reports)


def _table_of(entry: LedgerEntry) -> str:
    """Return the table that has the rows which the ledger counts of a file."""
    return "pages" if entry.state in UNFINISHED else "extractions"
