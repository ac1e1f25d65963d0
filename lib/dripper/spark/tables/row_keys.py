"""Compares rows by the keys of their pages: equal counts and equal sums mean the same pages."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_KEY_DIGITS = 10
"""Hexadecimal digits of a page id that are summed: 40 bits, so that the sum over the pages of a
file, at most some 100,000, stays below 64 bits."""


class WrongRowsError(Exception):
    """A batch wrote other rows than it read; it is redone."""


def page_key(page_id: str) -> int:
    """Return the number that is summed over the pages of a file: equal counts and equal sums mean
    the same pages.

    >>> page_key("000000000f" + "0" * 22)
    15
    """
    return int(page_id[:_KEY_DIGITS], 16)


def page_keys() -> Column:
    """Return the sum of `page_key` over the column `page_id`."""
    digits = F.substring("page_id", 1, _KEY_DIGITS)
    return F.coalesce(F.sum(F.conv(digits, 16, 10).cast("long")), F.lit(0))


def check_rows_of(table: str, written: DataFrame, expected: DataFrame) -> int:
    """Raise WrongRowsError unless `written`, the rows of `table`, has each page of `expected`
    exactly once. Return the number of rows."""
    have, want = (frame.agg(F.count("*"), page_keys()).head() for frame in (written, expected))
    assert have is not None
    assert want is not None
    if tuple(have) != tuple(want):
        raise WrongRowsError(f"{want[0]} pages went into the table {table}, and its {have[0]} rows are not the same")
    return int(have[0])
