"""The pages of an output in memory; some are to be forgotten."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from dripper.spark.ledger.forgotten import Rule, Rules
from dripper.spark.tables.books import Books, Where


class MemoryPages:
    """See `dripper.spark.ledger.forgetting.Pages`; of all tables there is `extractions`."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self.is_restored = False

    def count(self, rules: Rules) -> dict[tuple[Rule, int], int]:
        rows = self._books.read("extractions", forgotten(rules))
        return dict(Counter((found, row["batch"]) for row in rows if (found := rule_of(rules, row))))

    def delete(self, rules: Rules, check: Callable[[], None]) -> None:
        check()
        self._books.delete("extractions", forgotten(rules))

    def are_restored(self) -> bool:
        return self.is_restored


def rule_of(rules: Rules, row: Mapping[str, Any]) -> Rule | None:
    """Return the rule by which a row is forgotten."""
    return rules.rule_of(row["page_id"], "", None)


def forgotten(rules: Rules) -> Where:
    """Return the condition for rows that are forgotten."""
    return Where(rules.condition(), lambda row: rule_of(rules, row) is not None)
