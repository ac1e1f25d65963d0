"""Formats tables for model cards as Markdown. Needs neither JAX nor matplotlib."""

from collections import Counter
from collections.abc import Sequence

from dripper_lab.datasets import DATA_SETS

Key = tuple[str, str]
"""A page's data set and id."""


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table with column names.

    >>> print(table(("kind", "pages"), [("forum", 3)]))
    | kind | pages |
    | --- | --- |
    | forum | 3 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def data_sets_table(learned: Sequence[Key], held_out: Sequence[Key]) -> str:
    """Return a table of data sets: licence, number of training pages, and number of held-out
    pages."""
    counts, held_counts = (Counter(data_set for data_set, _ in keys) for keys in (learned, held_out))
    rows = [(name, _licence(name), counts[name], held_counts[name]) for name in {**counts, **held_counts}]
    return table(("data set", "licence", "pages learned from", "held out"), rows)


def _licence(data_set: str) -> str:
    return DATA_SETS[data_set].licence if data_set in DATA_SETS else "?"
