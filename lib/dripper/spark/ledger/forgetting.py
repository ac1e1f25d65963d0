"""Forgetting pages, step by step, over any storage of books.

What is to go is counted first, and noted in the table `forgotten` in one commit; from then on the
rules hold. Then rows are deleted, what the ledger counts is brought in line, and the rules are
noted as done. Each step may be done twice, so that a call which was interrupted goes on with the
next call, or with the next run into the output.
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

    def are_restored(self) -> bool:
        """Tell whether somebody has restored one of the tables to an older version, as far as their
        histories tell."""
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
    _close_counts(books, ledger, counts, check)
    check()
    amend(books, TABLE, among("request", {row["request"] for row in rows}), _mark_done)
    return sum(counts.values())


def check_rules(rule_rows: Sequence[Mapping[str, Any]], known: int, ledger: Ledger, name: str) -> int:
    """Return how many rules there are. Raises DifferenceError where there were more, as rows that
    are gone would let the next reading bring the pages back.

    Args:
        rule_rows: The rows of `forgotten`, which is called `name`, those of withdrawn rules too.
        known: The most rules that a run has seen.
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
    """Delete rows of pages that were forgotten, and are there again.

    In batches whose rows are as counted the ledger counts them again, too, as where both tables
    were restored: there they are noted as begun, which lowers what it counts.

    Args:
        rule_rows: The rows of `forgotten`.
        unequal: Batches whose rows are not as counted.
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
    left: dict[str, dict[tuple[int, str], FileRows]] = {}
    for table in PAGE_TABLES:
        batches = {entry.batch for entry in touched if _table_of(entry) == table}
        left[table] = books.count_files(table, batches) if batches else {}
    rows = [(entry, left[_table_of(entry)].get((entry.batch, entry.file.warc_file), FileRows())) for entry in touched]
    if reports := [(entry, found) for entry, found in rows if found.rows < entry.pages]:
        check()
        ledger.forget(reports, datetime.now(UTC))


def _table_of(entry: LedgerEntry) -> str:
    """Return the table that has the rows which the ledger counts of a file."""
    return "pages" if entry.state in UNFINISHED else "extractions"
