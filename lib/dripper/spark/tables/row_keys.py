"""Compares sets of rows by the keys of their pages. If two sets have the same number of rows and
the same sum of keys, they are assumed to have the same pages."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_KEY_DIGITS = 10
"""Number of hexadecimal digits of a page ID that form its key. With 40 bits, the sum over a file's
pages (at most about 100,000) fits in 64 bits."""


class WrongRowsError(Exception):
    """Raised if a batch's rows differ from the pages that it read. The batch is redone."""


def page_key(page_id: str) -> int:
    """Return the key of a page: an integer from the first digits of its ID.

    >>> page_key("000000000f" + "0" * 22)
    15
    """
    return int(page_id[:_KEY_DIGITS], 16)


def page_keys() -> Column:
    """Return the sum of `page_key` over the `page_id` column."""
    digits = F.substring("page_id", 1, _KEY_DIGITS)
    return F.coalesce(F.sum(F.conv(digits, 16, 10).cast("long")), F.lit(0))


def check_rows_of(table: str, written: DataFrame, expected: DataFrame) -> int:
    """Check that `written` has the same pages as `expected`. Return the number of rows.

    Raises WrongRowsError unless `written` has each page of `expected` exactly once. The error
    message has the name of the table.
    """
    have, want = (frame.agg(F.count("*"), page_keys()).head() for frame in (written, expected))
    assert have is not None
    assert want is not None
    if tuple(have) != tuple(want):
        raise WrongRowsError(f"{want[0]} pages went into the table {table}, and its {have[0]} rows are not the same")
    return int(have[0])
