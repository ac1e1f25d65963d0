"""Forgets pages in steps that can be repeated. The storage can be any implementation of `Books`.

First, the matching pages are counted, and a single commit adds the rules to the `forgotten` table.
From then on, the rules apply. Next, the rows are deleted, the ledger's counts are corrected, and
the rules are marked as done. If a call is interrupted, the next call or the next run into the
output finishes its work.
"""

import logging
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from dripper.errors import DifferenceError
from dripper.spark.ledger.forgotten import BEGUN, DONE, TABLE, Rule, Rules, rows_by_batch, rules_of
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import UNFINISHED, LedgerEntry
from dripper.spark.tables.books import Books, Row, amend, among
from dripper.spark.tables.counts import FileRows
from dripper.spark.wording import say_count

logger = logging.getLogger(__name__)

PAGE_TABLES = ("pages", "extractions")
"""The tables in which the matching pages are looked up, to delete their rows from the other tables.
Rows of these two tables are deleted last."""


class Pages(Protocol):
    """The tables with pages or with data derived from pages."""

    def count(self, rules: Rules) -> dict[tuple[Rule, int], int]:
        """Return the number of pages that each rule matches in each batch.

        A page counts only once, for the first kind of rule that matches it.
        """
        ...

    def delete(self, rules: Rules, check: Callable[[], None]) -> None:
        """Delete the matching rows from all tables, and from PAGE_TABLES last.

        Args:
            check: Called before each commit. Raises if another run has taken the lease.
        """
        ...

    def are_restored(self) -> bool:
        """Return whether the tables' histories show that one was restored to an older version."""
        ...


def begin(
    books: Books, counts: Mapping[tuple[Rule, int], int], rules: Collection[Rule], request: Mapping[str, Any]
) -> None:
    """Record the rules as begun.

    Add one row for each rule in each batch with matching pages. A rule that matches no page yet
    gets a single row.

    Args:
        counts: The result of `Pages.count`.
        request: Values that all these rows share: the user, the time and the reason.
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
    """Delete the pages that the begun rules match, and mark the rules as done. Return the number of
    pages.

    The caller must hold the lease, and the tables must be reconciled.

    Args:
        check: Called before each commit. Raises if another run has taken the lease.
        rule_rows: The rows of the `forgotten` table.
    """
    rows = [row for row in rule_rows if row["state"] == BEGUN]
    if not rows:
        return 0
    counts = rows_by_batch(rows)
    logger.info("forgetting %s in %s", say_count(sum(counts.values()), "page"), say_count(len(counts), "batch"))
    pages.delete(rules_of(rows), check)
    _close_counts(books, ledger, counts, check)
    check()
    amend(books, TABLE, among("request", {row["request"] for row in rows}), _mark_done)
    return sum(counts.values())


def check_rules(rule_rows: Sequence[Mapping[str, Any]], known: int, ledger: Ledger, name: str) -> int:
    """Check that no rule has disappeared. Return the number of rules.

    Raises DifferenceError if rules are missing, because the next reading would bring back the pages
    that they match.

    Args:
        rule_rows: The rows of the `forgotten` table, including withdrawn rules.
        known: The largest number of rules that any run has seen.
        name: The table's name, for error messages.
    """
    n_rules = len({(row["kind"], row["pattern"]) for row in rule_rows})
    n_pages = sum(entry.forgotten for entry in ledger.entries())
    if n_rules >= known and (n_rules or not n_pages):
        return n_rules
    lost = f"{n_rules} of {say_count(known, 'rule')}" if known else "no rule"
    raise DifferenceError(
        f"{name} was dropped, restored or emptied: it has {lost}, by which {say_count(n_pages, 'page')} of the ledger are "
        "forgotten. Nothing was done, as these pages would come back. Restore the table, or give jobs/forget.py all of its "
        "rules again, in one call; a rule that is not wanted any more stays in it, with the state withdrawn"
    )


def drop_returned(
    books: Books, pages: Pages, check: Callable[[], None], rule_rows: Sequence[Row], unequal: Collection[int]
) -> None:
    """Delete the rows of forgotten pages that are in the tables again.

    If a batch's rows match the ledger, for example because both tables were restored, the ledger
    counts the returned pages again. The rules are therefore recorded as begun for such a batch, so
    that the ledger's counts will be corrected.

    Args:
        rule_rows: The rows of the `forgotten` table.
        unequal: Batches with rows that differ from the ledger's counts.
    """
    begun = rules_of(row for row in rule_rows if row["state"] == BEGUN).rules
    rules = Rules(rules_of(rule_rows).rules - begun)
    counts = pages.count(rules)
    if counts:
        n_pages = say_count(sum(counts.values()), "page", "is")
        logger.warning("%s there again, though forgotten, and deleted", n_pages)
    if again := {place: n for place, n in counts.items() if place[1] not in unequal}:
        request = {"request": uuid.uuid4().hex, "reason": _CAME_BACK, "forgotten_at": datetime.now(UTC)}
        check()
        begin(books, again, [], request)
    pages.delete(rules, check)


_CAME_BACK = "rows that had been forgotten were there again"


def _mark_done(row: Row) -> Row:
    return row | {"state": DONE}


def _close_counts(books: Books, ledger: Ledger, counts: Mapping[int, int], check: Callable[[], None]) -> None:
    """Count the deleted pages as skipped in the ledger."""
    entries = ledger.entries()
    # If the whole file is being read, that reading may already have replaced rows of selections.
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
    left: dict[str, dict[tuple[int, str], FileRows]] = {}
    for table in PAGE_TABLES:
        batches = {entry.batch for entry in touched if _table_of(entry) == table}
        left[table] = books.count_files(table, batches) if batches else {}
    rows = [(entry, left[_table_of(entry)].get((entry.batch, entry.file.warc_file), FileRows())) for entry in touched]
    if reports := [(entry, found) for entry, found in rows if found.rows < entry.pages]:
        check()
        ledger.forget(reports, datetime.now(UTC))


def _table_of(entry: LedgerEntry) -> str:
    """Return the table with the rows that the ledger counts for a file."""
    return "pages" if entry.state in UNFINISHED else "extractions"
